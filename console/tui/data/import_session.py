"""`ImportSession`: imports log files as runs, in a thread, with progress."""

import shlex
import threading
from pathlib import Path

from console.config.paths import expanded
from console.core.fault import UsageError
from console.exchange.imports.formats import ImportItem, ImportSettings, find_items
from console.exchange.imports.importing import ImportReport


class _Stopped(Exception):
    """The user stopped the import; a later import of the file resumes it."""


class ImportSession:
    """One import of files and folders."""

    def __init__(self, runs_root: Path, data: Path | None) -> None:
        """Prepare an import into `runs_root`; `start` begins it."""
        self._settings = ImportSettings(runs_root, data, progress=lambda path: self._count)
        self._stop = threading.Event()
        self.thread: threading.Thread | None = None
        """The importing thread; None before `start`."""
        self.items: list[ImportItem] = []
        """The items to import, in order."""
        self.current: ImportItem | None = None
        """The item being imported, if any."""
        self.done = 0
        """Samples imported of the current item."""
        self.planned: int | None = None
        """Samples in the current item, if known."""
        self.reports: list[ImportReport] = []
        self.mistakes: list[str] = []
        """Errors of items that could not be imported. Untrusted text."""

    @property
    def is_running(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    def start(self, text: str) -> None:
        """Start importing the paths in a string with shell quoting.

        Raises:
            UsageError: no path was given, or one does not exist or is in no known format.
        """
        try:
            paths = [expanded(word) for word in shlex.split(text)]
        except ValueError as error:
            raise UsageError(f"cannot be read: {error}", hint="Put a path with spaces in quotes.") from None
        if not paths:
            raise UsageError("no path was given")
        self.items = [item for path in paths for item in find_items(path)]
        self.thread = threading.Thread(target=self._import, name="import", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Request a stop; importing the current file again resumes it."""
        self._stop.set()

    def _import(self) -> None:
        for item in self.items:
            self.current, self.done, self.planned = item, 0, None
            try:
                self.reports.extend(item.form.load(item.path, self._settings))
            except _Stopped:
                break
            except UsageError as error:
                self.mistakes.append(f"{item.path.name}: {error.message}")
            if self._stop.is_set():
                break
        self.current = None

    def _count(self, done: int, planned: int | None) -> None:
        self.done, self.planned = done, planned
        if self._stop.is_set():
            raise _Stopped
