"""Parameters of which `make test` takes a few, and `make test-all` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_quick(rows: Iterable[Any], count: int = 1) -> list[Any]:
    """Return parameters of a test, each a value or a tuple of values; all but the first ones are slow."""
    values = [row if isinstance(row, tuple) else (row,) for row in rows]
    return [pytest.param(*row, marks=[pytest.mark.slow] * (place >= count)) for place, row in enumerate(values)]


def first_size(sizes: Iterable[Any]) -> list[Any]:
    """Return sizes of the terminal, or their names; all but the first are slow, as `test_states` holds each screen."""
    return first_quick((size,) for size in sizes)
