"""Waiting times and their causes as text."""

import time
from collections.abc import Sequence
from typing import Protocol


def wait_words(seconds: float) -> str:
    """Return a wait such as `12 s`; anything below a second is `<1 s`."""
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"


def slowed_by(rate_limits: int) -> str:
    """Return ` · slowed by 1,204 × 429`, to follow other words; empty if nothing was refused."""
    return f" · slowed by {rate_limits:,} × 429" if rate_limits else ""


class SubmittedBatch(Protocol):
    """The fields of a batch needed for its description."""

    @property
    def total(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def submitted_at(self) -> float: ...


def batch_words(batches: Sequence[SubmittedBatch]) -> str:
    """Return `batch of 1,200 submitted Thu 14:02 · 340 done`, or the same for several; empty if there are none."""
    if not batches:
        return ""
    calls, done = sum(batch.total for batch in batches), sum(batch.done for batch in batches)
    words = f"batch of {calls:,}" if len(batches) == 1 else f"{len(batches):,} batches of {calls:,}"
    submitted = [batch.submitted_at for batch in batches if batch.submitted_at]
    if not submitted:
        return words
    began = time.strftime("%a %H:%M", time.localtime(min(submitted)))
    return f"{words} submitted {began} · {done:,} done"
