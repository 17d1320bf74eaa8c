"""Export of runs and text to files in the current folder."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App
from textual.content import Content

from console.core.fault import UsageError
from console.exchange.exports.formats import own_exports
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services

_FORMATS = {f"action_export_{name.replace('-', '_')}": name for name in own_exports()}
_ANNOUNCED_EVERY_S = 2.0
"""Seconds between progress messages of a long export."""


class Exports:
    """Exports the run shown or under the cursor; provides one action method per export format."""

    def __init__(self, app: App[Any], services: Services) -> None:
        self._app = app
        self._services = services

    def _export(self, format_name: str) -> None:
        screen = self._app.screen
        run = screen.shown_run or screen.run_under_cursor if isinstance(screen, BaseScreen) else None
        if run is None:
            self._services.notify(Content("There is no run to export here."))
        else:
            self.export_run(run, format_name)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return the action method of an export format; the action table has an entry for each of `own_exports`."""
        if name not in _FORMATS:
            raise AttributeError(name)
        return partial(self._export, _FORMATS[name])

    def export_run(self, run: RunFolder, format_name: str) -> None:
        """Write a run to a file in the current folder and report its path; quitting waits until it is written."""
        self._app.run_worker(lambda: self._write_run(run, format_name), thread=True, group="export")

    def _write_run(self, run: RunFolder, format_name: str) -> None:
        from console.exchange.exports.files import write_file

        services, export = self._services, own_exports()[format_name]
        try:
            if export.extension:
                path, more = Path(f"{run.name}{export.extension}"), []
                write_file(path, export.content(export.read(run, services.paths.data)[0]))
            else:
                [path, *more] = export.write_folder(run, data=services.paths.data, progress=self._progress())
        except (UsageError, OSError) as error:
            services.from_thread(services.refuse, error)
            return
        services.from_thread(services.notify, written_message(path, len(more)))

    def _progress(self) -> Callable[[int, int], None]:
        """Return a progress callback that reports every few seconds how many pages are written."""
        announced_at = time.monotonic()

        def announce(done: int, planned: int) -> None:
            nonlocal announced_at
            if time.monotonic() - announced_at > _ANNOUNCED_EVERY_S:
                announced_at = time.monotonic()
                words = Content(f"Writing pages: {number_format.count(done)} of {number_format.count(planned)}")
                self._services.from_thread(self._services.notify, words)

        return announce

    def export_text(self, text: str, path: Path) -> None:
        from console.exchange.exports.files import write_file

        try:
            write_file(path, text.encode())
        except UsageError as error:
            self._services.refuse(error)
        else:
            self._services.notify(written_message(path))


def written_message(path: Path, more: int = 0) -> Content:
    """Return the message that a file, and so many more, were written."""
    also = f" and {more} more" if more else ""
    return Content.assemble("Written to ", one_line(str(path.resolve()), 200, "bold"), also)
