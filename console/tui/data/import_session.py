"""`ImportSession`: makes runs of log files in a thread, and says how far it is. Knows no widgets."""

import shlex
import threading
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.imports.formats import ImportItem, ImportSettings, find_items
from console.exchange.imports.importing import ImportReport


class _Stopped(Exception):
    """The reader stopped the import; what is done of the file is kept, and taken up another time."""


class ImportSession:
    """One import of some files and folders."""

    def __init__(self, runs_root: Path, data: Path | None) -> None:
        """Import nothing yet; runs go to `runs_root`."""
        self._settings = ImportSettings(runs_root, data, progress=lambda path: self._count)
        self._stop = threading.Event()
        self.thread: threading.Thread | None = None
        """Where it goes on; None before it has begun."""
        self.items: list[ImportItem] = []
        """What is imported, in order."""
        self.current: ImportItem | None = None
        """What is being imported now; None: nothing."""
        self.done = 0
        self.planned: int | None = None
        """Samples that are done of what is being imported, and how many it has as far as it says."""
        self.reports: list[ImportReport] = []
        self.mistakes: list[str] = []
        """What could not be imported, and why. Foreign text."""

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.thread is not None and self.thread.is_alive()

    def start(self, text: str) -> None:
        """Begin to import the paths that a text names, as a shell would read them: those with spaces in quotes.

        Raises:
            UsageError: nothing is there, or nothing that is recognised.
        """
        try:
            paths = [Path(word).expanduser() for word in shlex.split(text)]
        except ValueError as error:
            raise UsageError(f"cannot be read: {error}", hint="Put a path with spaces in quotes.") from None
        if not paths:
            raise UsageError("no path is named")
        self.items = [item for path in paths for item in find_items(path)]
        self.thread = threading.Thread(target=self._import, name="import", daemon=True)
        self.thread.start()

    def stop(self) -> None:
        """Stop soon; what is done of the current file is taken up when it is imported again."""
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
