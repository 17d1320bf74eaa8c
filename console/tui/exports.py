"""`Exports`: writes runs and texts to files of the current folder, in any of the forms that can be exported."""

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

_FORMS = {f"action_export_{name.replace('-', '_')}": name for name in own_exports()}
_ANNOUNCED_EVERY_S = 2.0
"""How often a long export says how far it is."""


class Exports:
    """Writes the run that is shown, or under the cursor, to a file."""

    def __init__(self, app: App[Any], services: Services) -> None:
        self._app = app
        self._services = services

    def _export(self, form: str) -> None:
        screen = self._app.screen
        run = screen.shown_run or screen.run_under_cursor if isinstance(screen, BaseScreen) else None
        if run is None:
            self._services.notify(Content("There is no run to export here."))
        else:
            self.export_run(run, form)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return what exports in one form; each of `own_exports` has an action in the table of keys."""
        if name not in _FORMS:
            raise AttributeError(name)
        return partial(self._export, _FORMS[name])

    def export_run(self, run: RunFolder, form: str) -> None:
        """Write a run in a form to a file of the current folder, and say where; quitting waits for it."""
        self._app.run_worker(lambda: self._write_run(run, form), thread=True, group="export")

    def _write_run(self, run: RunFolder, form: str) -> None:
        from console.exchange.exports.files import write_file

        services, export = self._services, own_exports()[form]
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
        """Return what announces now and then how many pages are written."""
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
    """Return the message that a file was written, and how many more."""
    also = f" and {more} more" if more else ""
    return Content.assemble("Written to ", one_line(str(path.resolve()), 200, "bold"), also)
