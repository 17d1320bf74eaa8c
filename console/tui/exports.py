"""Export of runs and text to files in the current folder."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import digits
from typing import Any

from textual.app import App
from textual.content import Content

from console.core.fault import UsageError
from console.exchange.exports.formats import ExportFormat, all_exports, own_exports
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.actions import Action, export_action
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services

_ANNOUNCED_EVERY_S = 2.0
"""Seconds between progress messages of a long export."""


class Exports:
    """Exports the run that is shown or under the cursor; provides one action method per export format."""

    def __init__(self, app: App[Any], services: Services) -> None:
        self._app = app
        self._services = services
        self._formats = _by_method(own_exports())

    def find_offered(self, where: str, taken: set[str], add: Callable[[Sequence[Action]], None]) -> None:
        """Look in a thread for export formats of other packages, and call `add` with their menu entries.

        A format whose letter is already `taken` gets the first free letter of its name, or a digit.
        """

        def look() -> None:
            try:
                offered = {name: each for name, each in all_exports().items() if name not in own_exports()}
            except Exception as error:  # third-party code may offer anything
                self._services.from_thread(self._services.refuse, _package_error("export formats", error))
                return
            if offered:
                self._formats |= _by_method(offered)
                self._services.from_thread(add, _entries(offered, where, taken))

        self._app.run_worker(look, thread=True, group="offered exports", exclusive=True)

    def _export(self, chosen: ExportFormat) -> None:
        screen = self._app.screen
        run = screen.shown_run or screen.run_under_cursor if isinstance(screen, BaseScreen) else None
        if run is None:
            self._services.notify(Content("There is no run to export here."))
        else:
            self.export_run(run, chosen)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return the action method of an export format: one of `own_exports`, or one that `find_offered` found."""
        if name not in self.__dict__.get("_formats", {}):
            raise AttributeError(name)
        return partial(self._export, self._formats[name])

    def export_run(self, run: RunFolder, chosen: ExportFormat) -> None:
        """Write a run to a file in the current folder and report its path; quitting waits until it is written."""
        self._app.run_worker(lambda: self._write_run(run, chosen), thread=True, group="export")

    def _write_run(self, run: RunFolder, chosen: ExportFormat) -> None:
        from console.exchange.exports.files import write_file

        services = self._services
        try:
            if chosen.extension:
                path, more = Path(f"{run.name}{chosen.extension}"), []
                write_file(path, chosen.content(chosen.read(run, services.paths.data)[0]))
            else:
                [path, *more] = chosen.write_folder(run, data=services.paths.data, progress=self._progress())
        except (UsageError, OSError) as error:
            services.from_thread(services.refuse, error)
            return
        except Exception as error:
            if chosen.name in own_exports():
                raise
            services.from_thread(services.refuse, _package_error(f"export format {chosen.name}", error))
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


def _by_method(formats: Mapping[str, ExportFormat]) -> dict[str, ExportFormat]:
    return {f"action_{export_action('', name, '', '').method}": each for name, each in formats.items()}


def _entries(offered: Mapping[str, ExportFormat], where: str, taken: set[str]) -> list[Action]:
    """Return the menu entries of formats of other packages, each with a key of its own."""
    entries: list[Action] = []
    used = set(taken)
    for name, each in offered.items():
        key = next((key for key in (each.letter, *name, *digits) if key.isalnum() and key not in used), "")
        if key:
            used.add(key)
            entries.append(export_action(key, name, one_line(each.title, 60).plain, where))
    return entries


def _package_error(what: str, error: Exception) -> UsageError:
    """Return the error to show when the code of another package fails."""
    return UsageError(f"the {what} of an installed package failed: {type(error).__name__}: {error}")


def written_message(path: Path, more: int = 0) -> Content:
    """Return a message that a file, and this many others, were written."""
    also = f" and {more} more" if more else ""
    return Content.assemble("Written to ", one_line(str(path.resolve()), 200, "bold"), also)
