"""The title of a pane that shows one rollout of a case."""

import msgspec
from textual.content import Content

from console.core.case import Key
from console.tui.render import lines
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED


def case_title(key: Key, room: int, *, has_repeats: bool, is_repeat: bool) -> Content:
    """Return the id of a case, cut to fit `room` cells, followed by the shown repeat if there are several.

    Args:
        key: the rollout that is shown.
        room: width in cells.
        has_repeats: true if the case was played more than once.
        is_repeat: true if the reader chose this repeat; false if it stands for its case.
    """
    repeat = Content.empty()
    if has_repeats or key.rollout:
        words = f"repeat {key.rollout + 1}"
        repeat = Content.styled(f" · {words}", "bold") if is_repeat else Content.styled(f"  {words}", MUTED)
    name = one_line(str(msgspec.structs.replace(key, rollout=0)), lines.LONGEST_ID, "bold")
    return lines.fit_name(name, min(name.cell_length, max(room - repeat.cell_length, 0))).append(repeat)
