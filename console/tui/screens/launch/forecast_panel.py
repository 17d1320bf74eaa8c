"""`ForecastPanel` and `FieldHelp`: what is known before it starts, and what the setting under the cursor means."""

from textual.content import Content
from textual.widgets import Static

from console.tui.render.forecast_lines import Preflight, preflight_lines
from console.tui.sanitize import one_line
from console.tui.screens.launch.fields import Field


class ForecastPanel(Static):
    """Size, price and checks of what is filled in, or what stands in the way; with its own title in little room."""

    def __init__(self) -> None:
        super().__init__(id="forecast")
        self.border_title = Content("Before it starts")

    def set_preflight(self, preflight: Preflight, field: Field | None, *, screen_width: int, wide: bool) -> None:
        """Show what is known.

        Args:
            preflight: what is known.
            field: the field that is gone through now, whose whole meaning is the title while there is no box.
            screen_width: cells of the screen, for as long as the panel itself has no size yet.
            wide: whether there is a box of its own.
        """
        shown = preflight_lines(preflight, width=(self.size.width or screen_width) - 2, wide=wide)
        title = _title(preflight, field, screen_width - 2)
        self.update(Content("\n").join([*([] if wide else [title]), *shown]))


def _title(preflight: Preflight, field: Field | None, width: int) -> Content:
    if field is None:
        return Content.styled("TRIED FOR REAL" if preflight.sample_runs else "BEFORE IT STARTS", "bold")
    words = Content.assemble((field.label, "bold"), "  ", one_line(field.meaning, 200, "$muted"))
    default = one_line(f"  default {field.default}" if field.default else "", 30, "$muted")
    return words.append(default) if words.cell_length + default.cell_length <= width else words


class FieldHelp(Static):
    """What a field means, what it is unless changed, and what `run` calls it; in the wide layout only."""

    def __init__(self) -> None:
        super().__init__(id="about-field")
        self.border_title = Content("This setting")

    def describe(self, field: Field) -> None:
        """Describe a field."""
        default = Content.assemble(("default  ", "$muted"), one_line(field.default or "empty", 60))
        names = ", ".join(choice or "empty" for choice in field.choices)
        choices = Content.assemble(("one of   ", "$muted"), one_line(names, 200))
        flag = Content.assemble(("shell    ", "$muted"), one_line(field.flag, 60))
        meaning = Content.assemble((field.label, "bold"), "  ", one_line(field.meaning, 300))
        self.update(Content("\n").join([meaning, default, *([choices] if field.choices else []), flag]))
