"""How long something is waited for, in words."""


def wait_words(seconds: float) -> str:
    """Return a wait such as `12 s`; less than a second is no `0 s`."""
    return f"{seconds:.0f} s" if seconds >= 1 else "<1 s"
