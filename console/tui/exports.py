"""`Exports`: writes runs and texts to files of the current folder, in any of the forms that can be exported."""

from pathlib import Path
from typing import Any

from textual.app import App
from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.sanitize import literal, one_line
from console.tui.screens.base import BaseScreen
from console.tui.services import Services


class Exports:
    """Writes the run that is shown, or under the cursor, to a file."""

    def __init__(self, app: App[Any], services: Services) -> None:
        """Export what the app shows."""
        self._app = app
        self._services = services

    def _export(self, form: str) -> None:
        screen = self._app.screen
        run = screen.shown_run or screen.run_under_cursor if isinstance(screen, BaseScreen) else None
        if run is None:
            self._services.notify(Content("There is no run to export here."))
        else:
            self.export_run(run, form)

    def action_export_csv(self) -> None:
        self._export("csv")

    def action_export_json(self) -> None:
        self._export("json")

    def action_export_markdown(self) -> None:
        self._export("markdown")

    def action_export_html(self) -> None:
        """Write the run as one page."""
        self._export("html")

    def action_export_junit(self) -> None:
        self._export("junit")

    def action_export_eval(self) -> None:
        """Write the run as an Inspect log."""
        self._export("eval")

    def action_export_verifiers(self) -> None:
        """Write the run as a verifiers folder."""
        self._export("verifiers")

    def export_run(self, run: RunFolder, form: str) -> None:
        """Write a run in a form to a file of the current folder, and say where; quitting waits for it."""
        self._app.run_worker(lambda: self._write_run(run, form), thread=True, group="export")

    def _write_run(self, run: RunFolder, form: str) -> None:
        from console.exchange.export_formats import export_file, export_format
        from console.exchange.verifiers import export_run as export_verifiers

        services = self._services
        try:
            if form == "verifiers":
                path = export_verifiers(run, Path("outputs"))
            else:
                path = Path(f"{run.name}{export_format(form).extension}")
                export_file(run, export_format(form), path, services.paths.data)
        except (UsageError, OSError) as error:
            services.from_thread(services.notify, literal(str(error), 400), severity="error")
            return
        services.from_thread(services.notify, written_message(path))

    def export_text(self, text: str, path: Path) -> None:
        """Write a text to a file of the current folder, and say where."""
        from console.exchange.export_formats import write_file

        try:
            write_file(path, text.encode())
        except UsageError as error:
            self._services.notify(literal(str(error), 400), severity="error")
        else:
            self._services.notify(written_message(path))


def written_message(path: Path) -> Content:
    """Return the message that a file was written."""
    return Content.assemble("Written to ", one_line(str(path.resolve()), 200, "bold"))
