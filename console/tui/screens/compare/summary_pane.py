"""`SummaryPane`: the numbers of Compare: both runs, their difference, counts, and where there is room a table."""

from textual.content import Content
from textual.widgets import Static

from console.insight.comparison import RunComparison
from console.tui.render import comparison_summary as summary
from console.tui.sanitize import one_line

MUTED = "$muted"
NUMBER_LINES = 6
"""Numbers below the difference where there is room."""


class SummaryPane(Static):
    """Two lines of numbers and the counts, or a box with everything that has a number on both sides."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__(id="numbers")

    def show_comparison(self, comparison: RunComparison, *, wide: bool, screen_width: int) -> None:
        """Show the numbers; `screen_width` counts until the pane is laid out."""
        width = max((self.content_size.width or screen_width) - 1, 40)
        if wide:
            a, b = comparison.a, comparison.b
            self.border_title = Content.assemble(
                " A ", one_line(f"{a.model} {a.name}", 58), "   against   B ", one_line(f"{b.model} {b.name}", 58), " "
            )
            self.border_subtitle = Content.styled("b swap   p other run", MUTED)
            text = [summary.difference(comparison), *summary.number_lines(comparison, width, NUMBER_LINES)]
        else:
            text = [*summary.head_lines(comparison, width), *summary.outcome_square_lines(comparison)]
        self.update(Content("\n").join(text))
