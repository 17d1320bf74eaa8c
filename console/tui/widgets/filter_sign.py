"""`FilterSign`: one line above the key line that says which words narrow a list, and how many rows they hide."""

from textual.content import Content
from textual.widgets import Static

from console.insight import number_format
from console.tui.data.filter_in_force import FilterInForce
from console.tui.sanitize import one_line
from console.tui.widgets.titles import tell


class FilterSign(Static):
    """Hidden while nothing narrows the list."""

    DEFAULT_CSS = """
    FilterSign { dock: bottom; display: none; height: 1; padding: 0 1; background: $panel; margin-bottom: 2; }
    """

    def show(self, in_force: FilterInForce | None) -> None:
        """Say what is in force; None: nothing is."""
        self.display = in_force is not None
        if in_force is not None:
            words, shown, total = in_force
            hidden = f"{number_format.count(shown)} of {number_format.count(total)}, "
            hidden += f"{number_format.count(total - shown)} hidden"
            tell(self, Content.assemble(("filter  ", "$muted"), one_line(words, 30, "bold"), f"  {hidden}",
                                        ("  F shows all", "$muted")))  # fmt: skip
