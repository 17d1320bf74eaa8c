"""`Draft`: what was filled into the form for a new run and not started, to be offered again."""

from collections.abc import Mapping, Set
from typing import NamedTuple


class Draft(NamedTuple):
    """The choices of a form, by the names that the form has for them."""

    models: tuple[str, ...] = ()
    suites: Mapping[str, Set[str]] = {}
    """Ticked categories by chosen suite; an empty set means all."""
    texts: Mapping[str, str] = {}
    """What was changed from a default, by field."""
