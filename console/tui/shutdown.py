"""`leaving_on_signals`: ends the app on a signal, also when the terminal takes nothing any more.

An app waits for its terminal to take what was written. A terminal that was closed, or that stands still, may never do
so; then the app must not stay behind as a process that nobody sees. Runs are not concerned: engines live elsewhere.
"""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType

CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE_S = 3.0
"""How long leaving in order may take, the terminal's last frame included."""


@contextlib.contextmanager
def leaving_on_signals(leave_with: Callable[[int], None]) -> Generator[None]:
    """Let signals end the app in order, and the process without order when that takes too long.

    The handlers run in the main thread even while it waits for the terminal, which those of asyncio do not.

    Args:
        leave_with: called in the app's loop with the exit code.
    """

    def leave(number: int, _: FrameType | None) -> None:
        code = CODES[signal.Signals(number)]
        last_resort = threading.Timer(PATIENCE_S, os._exit, (code,))
        last_resort.daemon = True
        last_resort.start()
        try:
            asyncio.get_running_loop().call_soon_threadsafe(leave_with, code)
        except RuntimeError:  # the app is not up yet, or down already
            raise SystemExit(code) from None

    before = {number: signal.signal(number, leave) for number in CODES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
