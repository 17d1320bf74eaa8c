"""The headlines of a run: scores reported in place of the pass rate, or next to it.

A suite declares them (`Suite.headline`) and a run's manifest stores them; older manifests, which lack them, use the
built-in one.
"""

from collections.abc import Container, Sequence

LACKS_CATEGORIES = " categories"
"""End of the note on an official number that lacks categories, such as `2 of 21 categories`."""
PASSED = "passed"
"""Name of the pass rate among headlines, and the metric of runs without a headline score."""
_BEFORE_KEPT = ("aidanbench_score",)
"""Headline scores of manifests that do not name one."""


def headlines_of(declared: str | Sequence[str]) -> tuple[str, ...]:
    """Return the headlines that a suite declares, the deciding one first; an empty name is the pass rate."""
    names = (declared,) if isinstance(declared, str) else tuple(declared) or ("",)
    return tuple("" if name == PASSED else name for name in names)


def headline_of(scores: Container[str], *kept: str) -> str:
    """Return the name of the headline score; empty for the pass rate.

    Args:
        scores: names of the available scores.
        kept: names from manifests or summaries; may be empty.
    """
    return next((name for name in (*kept, *_BEFORE_KEPT) if name and name in scores), "")
