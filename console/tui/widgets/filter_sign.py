"""`FilterSign`: says above the key line which words narrow a list and how many rows they hide, or why they cannot."""

from textual.content import Content
from textual.widgets import Static

from console.insight import number_format
from console.tui.data.filter_in_force import FilterInForce
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED
from console.tui.widgets.titles import tell


class FilterSign(Static):
    """Hidden while nothing narrows the list; above the find bar it says what cannot be read of what is typed there."""

    DEFAULT_CSS = """
    FilterSign {
        dock: bottom; display: none; height: auto; max-height: 4; padding: 0 1; background: $panel; margin-bottom: 2;
        &.-mistake { margin-bottom: 3; }
    }
    """

    def show(self, in_force: FilterInForce | None, mistake: str = "") -> None:
        """Say what is in force, or what is wrong; None and an empty text: nothing is."""
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
