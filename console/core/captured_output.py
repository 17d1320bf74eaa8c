"""Captures what suite code prints, so that it never mixes with the program's own output.

Capturing applies to the current context (a task, or a thread that runs in it), not to the process.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_MOST = 20_000
"""Characters kept per capture; further output is dropped."""


class CapturedOutput:
    """Output captured so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = _MOST

    def add(self, text: str) -> None:
        """Append printed text, up to the remaining room."""
        if self._left > 0 and text:
            self._parts.append(text[: self._left])
            self._left -= len(text)
            if self._left <= 0:
                self._parts.append("\n… more was printed and not kept")

    @property
    def text(self) -> str:
        """All captured text without trailing newlines. Untrusted text."""
        return "".join(self._parts).rstrip("\n")


_collected: ContextVar[CapturedOutput | None] = ContextVar("captured_output", default=None)


@contextmanager
def capture_output() -> Generator[CapturedOutput]:
    """Capture what is printed inside the block, including that of nested captures."""
    outer, printed = _collected.get(), CapturedOutput()
    token = _collected.set(printed if outer is None else outer)
    try:
        yield printed if outer is None else outer
    finally:
        _collected.reset(token)


def capture(text: str) -> bool:
    """Store printed text; return False if no capture is active, so that the text is the program's own."""
    printed = _collected.get()
    if printed is None:
        return False
    printed.add(text)
    return True
