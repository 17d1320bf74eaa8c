"""Waiting times in words."""


def wait_words(seconds: float) -> str:
    """Return a wait such as `12 s`; anything below a second is `<1 s`."""
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"
