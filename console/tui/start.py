"""Starting the app from the command line, and ending it on signals."""

import asyncio
import contextlib
import gc
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Generator
from types import FrameType

from console.config.paths import WorkspacePaths, state_dir
from console.core.fault import UsageError

CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE_S = 3.0
"""Seconds an orderly exit may take, including the last frame."""


def _watch_terminal(descriptor: int) -> None:
    """Wait until the terminal is closed, then send SIGHUP to this process.

    The system sends it only to a terminal's first process, which may not forward it: under a bare `make run` the app
    would survive and read end-of-file forever.
    """
    poller = select.poll()
    poller.register(descriptor, 0)  # hang-ups are reported even without requested events
    if any(event & (select.POLLHUP | select.POLLERR) for _, event in poller.poll()):
        os.kill(os.getpid(), signal.SIGHUP)


@contextlib.contextmanager
def leaving_on_signals(leave_with: Callable[[int], None]) -> Generator[None]:
    """Exit the app on SIGTERM and SIGHUP, and kill the process if that takes too long.

    The app blocks until its terminal accepts its output; a closed or frozen terminal never does, and the app would
    linger as an orphan. Engines are separate processes. Unlike asyncio's handlers, these run in the main thread even
    while it blocks on the terminal.

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
        except RuntimeError:  # the app has not started yet, or has ended
            raise SystemExit(code) from None

    before = {number: signal.signal(number, leave) for number in CODES}
    threading.Thread(target=_watch_terminal, args=(sys.stdin.fileno(),), name="terminal", daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


HEADLESS = (
    "Headless: `eval-console run -m MODEL -s SUITE`, `watch`, `runs`, `show latest`, `failures latest`; "
    "`eval-console --help` lists all verbs."
)


def run_app(
    paths: WorkspacePaths,
    *,
    screen: str = "review",
    run: str = "",
    case: str = "",
    theme: str = "",
    ascii: bool = False,
    mouse: bool = True,
) -> int:
    """Run the app until the user leaves it and return the exit code.

    Args:
        paths: where models, data and runs are.
        screen: screen to open the run in, live or review.
        run: run to open; empty to open Home.
        case: case of the run to put the cursor on.
        theme: one of our themes; empty for the last one used, if the terminal can show it.
        ascii: draw in ASCII even if the terminal supports Unicode.
        mouse: whether the app uses the mouse.

    Returns:
        0, or 143 and 129 after SIGTERM and SIGHUP.

    Raises:
        UsageError: stdin or stdout is not a terminal, or the theme is unknown.
        Exception: the error that ended the app; the terminal is restored.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from console.tui.serve import is_served  # needed in a browser only

        if not is_served():
            raise UsageError("the app needs a terminal for both input and output", hint=HEADLESS)
    gc.disable()  # the first collection would delay the first frame; the app enables it afterwards
    from console.tui.app import ConsoleApp
    from console.tui.data.ui_state import UiState
    from console.tui.symbols import SYMBOLS
    from console.tui.themes import NAMES, choose_theme

    if theme and theme not in NAMES:
        raise UsageError(f"no theme is named {theme!r}", hint=f"One of: {', '.join(NAMES)}.")
    if ascii or "utf" not in (sys.stdout.encoding or "").lower():
        SYMBOLS.use_ascii()
    ui_state = UiState(state_dir() / "app.json")
    theme = theme or choose_theme(os.environ, ui_state.text("theme"))
    app = ConsoleApp(paths, theme=theme, ui_state=ui_state, keeps_index=True)
    if run:
        app.navigator.start_with(screen, run, case)
    with leaving_on_signals(app.exit):
        code = app.run(mouse=mouse)
    if app.crash is not None:
        raise app.crash
    return code if isinstance(code, int) else 0
