"""`CompareDoor`: how the app opens Compare and the leaderboard, and writes exports; a part of the app's class."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.safe import literal, one_line
from console.tui.typeahead import TypeAhead

if TYPE_CHECKING:
    from console.tui.shelf import Shelf
    from console.tui.stock import Places, RunLine


class CompareDoor(TypeAhead):
    """Opens places that look at several runs; see the module."""

    shelf: "Shelf"
    places: "Places"
    compared: tuple[Path, Path] | None = None
    """Folders of the two runs that Compare shows."""
    _has_board = False

    def say(self, text: Content, *, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Show a toast; the app does."""
        raise RuntimeError(text.plain + severity)

    def open_compare(self, a: RunFolder, b: RunFolder) -> None:
        """Compare two runs."""
        from console.tui.screens.compare import CompareScreen

        wanted = a.path, b.path
        if self.compared == wanted:
            self.switch_mode(_mode(wanted))
            return
        before, self.compared = self.compared, wanted
        cast(Any, self).add_mode(_mode(wanted), lambda: CompareScreen(a, b))
        self.switch_mode(_mode(wanted))
        if before is not None:
            self.remove_mode(_mode(before))

    def action_go_compare(self) -> None:
        """Go back to the runs that are compared, or compare the newest two of one suite."""
        if self.compared is not None:
            self.switch_mode(_mode(self.compared))
            return
        found = newest_two(self.shelf.runs or [])
        if found is None:
            self.say(Content("There are no two runs of one suite yet. m on Home marks runs to compare."))
        else:
            self.open_compare(found[1].folder, found[0].folder)

    def action_go_board(self) -> None:
        """Show the leaderboard."""
        if not self._has_board:
            self._has_board = True
            from console.tui.screens.leaderboard import LeaderboardScreen

            cast(Any, self).add_mode("board", LeaderboardScreen)
        self.switch_mode("board")

    # Exports ---------------------------------------------------------------------------------------------------------

    def _export(self, form: str) -> None:
        from console.tui.live.run_place import RunPlace
        from console.tui.screens.home import HomeScreen

        screen, run = self.screen, None
        if isinstance(screen, RunPlace):
            run = screen.run_folder
        elif isinstance(screen, HomeScreen):
            run = screen.run_under_cursor
        if run is None:
            self.say(Content("There is no run to export here."))
        else:
            self.export_run(run, form)

    def action_export_csv(self) -> None:
        """Write the run as CSV."""
        self._export("csv")

    def action_export_json(self) -> None:
        """Write the run as JSON."""
        self._export("json")

    def action_export_markdown(self) -> None:
        """Write the run as Markdown."""
        self._export("markdown")

    def action_export_html(self) -> None:
        """Write the run as one page."""
        self._export("html")

    def action_export_junit(self) -> None:
        """Write the run as JUnit."""
        self._export("junit")

    def action_export_eval(self) -> None:
        """Write the run as an Inspect log."""
        self._export("eval")

    @work(thread=True, group="export")
    def export_run(self, run: RunFolder, form: str) -> None:
        """Write a run in a form to a file of the current folder, and say where."""
        from console.exchange.forms import export_file, form_of

        path = Path(f"{run.name}{form_of(form).extension}")
        try:
            export_file(run, form_of(form), path, self.places.data)
        except (UsageError, OSError) as error:
            self.call_from_thread(self.say, literal(str(error), 400), severity="error")
            return
        self.call_from_thread(self.say, written(path))

    def export_text(self, text: str, path: Path) -> None:
        """Write a text to a file of the current folder, and say where."""
        from console.exchange.forms import write_file

        try:
            write_file(path, text.encode())
        except UsageError as error:
            self.say(literal(str(error), 400), severity="error")
        else:
            self.say(written(path))


def written(path: Path) -> Content:
    """Return what is said of a written file."""
    return Content.assemble("Written to ", one_line(str(path.resolve()), 200, "bold"))


def _mode(paths: tuple[Path, Path]) -> str:
    return f"compare {paths[0]} {paths[1]}"


def newest_two(runs: "list[RunLine]") -> "tuple[RunLine, RunLine] | None":
    """Return the newest two runs of one suite that share a category, newest first; runs are newest first."""
    for place, line in enumerate(runs):
        if line.summary is None or not line.tally.graded:
            continue
        for other in runs[place + 1 :]:
            if other.summary is None or not other.tally.graded or other.summary.suite != line.summary.suite:
                continue
            if set(other.summary.categories) & set(line.summary.categories):
                return line, other
    return None
