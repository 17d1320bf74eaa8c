"""`FilterSign`: a line above the key line with a list's active filter and the number of hidden rows."""

from textual.content import Content
from textual.widgets import Static

from console.insight import number_format
from console.tui.data.filter_in_force import FilterInForce
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED
from console.tui.widgets.titles import tell


class FilterSign(Static):
    """Shows the active filter, or an error in the filter typed into the find bar; hidden if there is neither."""

    DEFAULT_CSS = """
    FilterSign {
        dock: bottom; display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; margin-bottom: 2;
        &.-mistake { margin-bottom: 3; }
    }
    """

    def show(self, in_force: FilterInForce | None, mistake: str = "") -> None:
        """Show the active filter or an error in it; hide if there is neither."""
        self.display = in_force is not None or bool(mistake)
        self.set_class(bool(mistake), "-mistake")
        if mistake:
            tell(self, one_line(mistake, 600, "$broken"))
        elif in_force is not None:
            words, shown, total = in_force
            hidden = f"{number_format.count(shown)} of {number_format.count(total)}, "
            hidden += f"{number_format.count(total - shown)} hidden"
            tell(self, Content.assemble(("filter  ", MUTED), one_line(words, 30, "bold"), f"  {hidden}",
                                        ("  F shows all", MUTED)))  # fmt: skip
