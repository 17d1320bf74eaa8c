"""How much is made up in tests that search for the unforeseen: the same every time, and more in `make soak`."""

import os

from hypothesis import Phase, settings

BUDGET = int(os.environ.get("EVAL_CONSOLE_FUZZ", "1"))
"""How many times as much as in `make test`."""


def made_up(examples: int) -> settings:
    """Return the settings of a test with so many examples, drawn from a fixed seed."""
    return settings(
        derandomize=True,
        database=None,
        max_examples=examples * BUDGET,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
    )
