"""`ProblemList`: waits, retries and errors of a run, latest first."""

from textual.content import Content

from console.insight import number_format
from console.insight.overview import Overview
from console.tui.render.rollout_rows import PROBLEMS, problem_cells
from console.tui.widgets.pane_title import PaneTitle
from console.tui.widgets.row_list import RowList


class ProblemList(RowList):
    """One row for each trouble; their numbers since the beginning of the run are the keys."""

    def __init__(self) -> None:
        """Start without problems."""
        super().__init__(
            PROBLEMS,
            id="problems",
            classes="pane",
            quiet=True,
            newest_first=True,
            empty=Content("No waits, retries or errors."),
        )
        self.pane_title = PaneTitle("problems", id="problems-caption")

    def show_problems(self, overview: Overview) -> None:
        """List what is kept of the problems of a run."""
        problems = list(overview.problems)
        first = overview.problem_count - len(problems)
        keys = [str(number) for number in reversed(range(first, overview.problem_count))]
        self.show(keys, draw=lambda key: problem_cells(problems[int(key) - first]))

    def draw_title(self, overview: Overview) -> None:
        """Say how many problems there were in all."""
        self.pane_title.tell(
            Content.assemble("Problems", (f"  {number_format.count(overview.problem_count)}", "$muted")),
            Content.styled("i hides", "$muted"),
        )
