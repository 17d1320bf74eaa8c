"""`SearchIndexing`: keeps the search index up to date, in a process of its own at the lowest priority."""

import asyncio
import subprocess
import sys
import time
from functools import partial

from console.core.fault import reason_of
from console.tui.data.workspace import Workspace

PAUSE_S = 15.0
"""Minimum seconds between two background updates, since a live run changes all the time."""
LONGEST_PAUSE_S = 300.0
REST = 20
"""Minimum pause as a multiple of the last update's duration, which grows with the number of runs."""


class SearchIndexing:
    """Starts updates of the index of the workspace's runs, one at a time; they end with the app."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._process: subprocess.Popen[str] | None = None
        self._is_wanted = False
        self._began_at, self._pause_s = -PAUSE_S, PAUSE_S
        self._later: asyncio.TimerHandle | None = None
        """The update that is due after the pause."""
        self.mistake = ""
        """Why the last update failed. May be untrusted text."""

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def update(self) -> None:
        """Index new data now, or once the current update has ended; `index` is published then."""
        self._is_wanted = True
        if self._process is None:
            self._start()

    def note_changes(self) -> None:
        """Schedule an update for some time after the last one."""
        if self._later is None and not self.mistake:
            pause = self._began_at + self._pause_s - time.monotonic()
            self._later = asyncio.get_running_loop().call_later(max(pause, 0.0), self._update_later)

    def _update_later(self) -> None:
        self._later = None
        self.update()

    def _start(self) -> None:
        root = self._workspace.runs_root
        self._is_wanted = False
        if root is None or not root.is_dir():
            return
        self._began_at = time.monotonic()
        command = [sys.executable, "-m", "console", "index", "--runs", str(root), "--quiet"]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program and arguments, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            self._end(reason_of(error))
            return
        self._workspace.in_thread(partial(self._wait, self._process))

    def _wait(self, process: "subprocess.Popen[str]") -> None:
        _, errors = process.communicate()
        mistake = errors.strip().removeprefix("eval-console: ") if process.returncode == _REFUSED else ""
        self._workspace.hand_over(self._end, mistake)

    def _end(self, mistake: str) -> None:
        self._process, self.mistake = None, mistake
        took_s = time.monotonic() - self._began_at
        self._pause_s = min(max(PAUSE_S, REST * took_s), LONGEST_PAUSE_S)
        self._workspace.changed.publish("index")
        if self._is_wanted:
            self._start()


_REFUSED = 2
"""Exit code of a command that reports why it failed."""
