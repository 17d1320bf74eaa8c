"""Which score stands for a run in place of passing, such as the accepted answers of a creativity loop.

A suite says it (`Suite.headline`), and the manifest of a run keeps it. Manifests of before it was kept are read by the
score that our own format has.
"""

from collections.abc import Container

_BEFORE_KEPT = ("aidanbench_score",)
"""Scores that stand for runs whose manifest does not say."""


def headline_of(scores: Container[str], *kept: str) -> str:
    """Return the score that stands for something in place of passing; empty: passing does.

    Args:
        scores: names of the scores it has.
        kept: what manifests or summaries say; empty where they say nothing.
    """
    return next((name for name in (*kept, *_BEFORE_KEPT) if name and name in scores), "")
