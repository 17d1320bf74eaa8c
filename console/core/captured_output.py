"""What foreign code prints, kept apart from what this program writes: a suite may call `print` at any time.

Collecting holds for one flow of calls (a task, a thread that was given its context), not for the process.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_MOST = 20_000
"""Characters that are kept of one collection; what is printed after them is dropped."""


class CapturedOutput:
    """What was printed so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = _MOST

    def add(self, text: str) -> None:
        """Take a printed text, or as much of it as there is room for."""
        if self._left > 0 and text:
            self._parts.append(text[: self._left])
            self._left -= len(text)
            if self._left <= 0:
                self._parts.append("\n… more was printed and not kept")

    @property
    def text(self) -> str:
        """All of it, without the last line's end. Foreign text."""
        return "".join(self._parts).rstrip("\n")


_collected: ContextVar[CapturedOutput | None] = ContextVar("captured_output", default=None)


@contextmanager
def capture_output() -> Generator[CapturedOutput]:
    """Collect what is printed inside, also what calls further in collect."""
    outer, printed = _collected.get(), CapturedOutput()
    token = _collected.set(printed if outer is None else outer)
    try:
        yield printed if outer is None else outer
    finally:
        _collected.reset(token)


def capture(text: str) -> bool:
    """Keep a text that was printed; False when nobody collects here, so that it is this program's own."""
    printed = _collected.get()
    if printed is None:
        return False
    printed.add(text)
    return True
