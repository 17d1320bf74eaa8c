"""Waiting times and their causes in words."""


def wait_words(seconds: float) -> str:
    """Return a wait such as `12 s`; anything below a second is `<1 s`."""
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"


def slowed_by(rate_limits: int) -> str:
    """Return ` · slowed by 1,204 × 429`, to follow other words; empty if nothing was refused."""
    return f" · slowed by {rate_limits:,} × 429" if rate_limits else ""
