"""The headline score of a run, reported in place of the pass rate.

A suite declares it (`Suite.headline`) and a run's manifest stores it; older manifests, which lack it, use the
built-in one.
"""

from collections.abc import Container

_BEFORE_KEPT = ("aidanbench_score",)
"""Headline scores of manifests that do not name one."""


def headline_of(scores: Container[str], *kept: str) -> str:
    """Return the name of the headline score; empty: the pass rate.

    Args:
        scores: names of the available scores.
        kept: names from manifests or summaries; may be empty.
    """
    return next((name for name in (*kept, *_BEFORE_KEPT) if name and name in scores), "")
