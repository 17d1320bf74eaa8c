"""`CompareNavigation`: how the app opens Compare and the leaderboard, and writes exports; a part of the app's class."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.sanitize import literal, one_line
from console.tui.typeahead import TypeAhead

if TYPE_CHECKING:
    from console.tui.data.catalog_items import RunLine, WorkspacePaths
    from console.tui.data.workspace import Workspace


class CompareNavigation(TypeAhead):
    """Opens places that look at several runs; see the module."""

    workspace: "Workspace"
    places: "WorkspacePaths"
    compared: tuple[Path, Path] | None = None
    """Folders of the two runs that Compare shows."""
    marked: "tuple[RunFolder, str] | None" = None
    """The run that was marked for Compare, and the case it was marked at."""
    _compare_mode = _grid_mode = ""
    _has_board = _has_trends = False

    def say(self, text: Content, *, severity: Literal["information", "warning", "error"] = "information") -> None:
        """Show a toast; the app does."""
        raise RuntimeError(text.plain + severity)

    def mark_for_compare(self, run: RunFolder, case: str = "") -> None:
        """Mark a run as A; the second run that is marked is compared with it."""
        if self.marked is None:
            self.marked = run, case
            self.say(Content("Marked as A; m on another run compares it with this one."))
            return
        (first, at), self.marked = self.marked, None
        if first.path == run.path:
            self.say(Content("No longer marked for compare."))
        else:
            self.open_compare(first, run, case or at)

    def open_compare(self, a: RunFolder, b: RunFolder, case: str = "") -> None:
        """Compare two runs, with the cursor on a case if one is named."""
        from console.tui.screens.compare.screen import CompareScreen

        wanted, mode = (a.path, b.path), f"compare {a.path} {b.path} {case}"
        before = self._compare_mode
        if self.compared == wanted and (not case or mode == before):
            self.switch_mode(before)
            return
        self.compared, self._compare_mode = wanted, mode
        cast(Any, self).add_mode(mode, lambda: CompareScreen(a, b, case))
        self.switch_mode(mode)
        if before:
            self.remove_mode(before)

    def open_grid(self, runs: "list[RunFolder]") -> None:
        """Lay more than two runs side by side."""
        from console.tui.screens.grid.screen import GridScreen

        mode = " ".join(["grid", *(str(run.path) for run in runs)])
        before, self._grid_mode = self._grid_mode, mode
        if before != mode:
            cast(Any, self).add_mode(mode, lambda: GridScreen(runs))
        self.switch_mode(mode)
        if before not in ("", mode):
            self.remove_mode(before)

    def action_go_trends(self) -> None:
        """Follow each model on each suite over its runs."""
        from console.tui.screens.trends.screen import TrendsScreen

        if not self._has_trends:
            self._has_trends = True
            cast(Any, self).add_mode("trends", TrendsScreen)
        self.switch_mode("trends")

    def action_go_compare(self) -> None:
        """Go back to the runs that are compared, or compare the newest two of one suite."""
        if self.compared is not None:
            self.switch_mode(self._compare_mode)
            return
        found = newest_two(self.workspace.runs or [])
        if found is None:
            self.say(Content("There are no two runs of one suite yet. m on Home marks runs to compare."))
        else:
            self.open_compare(found[1].folder, found[0].folder)

    def action_go_board(self) -> None:
        """Show the leaderboard."""
        if not self._has_board:
            self._has_board = True
            from console.tui.screens.leaderboard.screen import LeaderboardScreen

            cast(Any, self).add_mode("board", LeaderboardScreen)
        self.switch_mode("board")

    # Exports ---------------------------------------------------------------------------------------------------------

    def _export(self, form: str) -> None:
        from console.tui.screens.home.screen import HomeScreen
        from console.tui.screens.run_screen import RunScreen

        screen, run = self.screen, None
        if isinstance(screen, RunScreen):
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

    def action_export_verifiers(self) -> None:
        """Write the run as a verifiers folder."""
        self._export("verifiers")

    @work(thread=True, group="export")
    def export_run(self, run: RunFolder, form: str) -> None:
        """Write a run in a form to a file of the current folder, and say where."""
        from console.exchange.forms import export_file, form_of
        from console.exchange.verifiers import export_run as export_verifiers

        try:
            if form == "verifiers":
                if "aidanbench_score" not in run.summary().scores:
                    raise UsageError("holds no AidanBench loop", where=run.name, hint="Choose another form.")
                path = export_verifiers(run, Path("outputs"))
            else:
                path = Path(f"{run.name}{form_of(form).extension}")
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
