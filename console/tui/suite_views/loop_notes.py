"""Notes of a loop that fit on one line: what an answer resembles, and whether it was accepted."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from textual.content import Content

from console.insight import number_format
from console.insight.passage import Passage
from console.insight.reasons import reason_words
from console.tui.sanitize import one_line
from console.tui.suite_views.suite_view import NoteBlock
from console.tui.widgets.block import Block

MUTED = "$muted"


def _one_line_note(words: Callable[[Mapping[str, Any]], Content], *, with_gap: bool = True) -> NoteBlock:
    def draw(passage: Passage, key: str, gap: bool) -> Block:
        return Block(key, words(cast(dict[str, Any], passage.data)), gap=gap and with_gap)

    return draw


def _nearest(data: Mapping[str, Any]) -> Content:
    similarity, turn = data.get("similarity"), data.get("turn")
    alike = f", {number_format.number(similarity)} alike" if isinstance(similarity, int | float) else ""
    words = f"nearest earlier answer: turn {(turn if isinstance(turn, int) else 0) + 1}{alike}  "
    return Content.assemble((words, MUTED), one_line(str(data.get("answer", "")), 300, f"italic {MUTED}"))


def _accepted(data: Mapping[str, Any]) -> Content:
    return Content.styled("accepted, goes on", "$pass")


def _rejected(data: Mapping[str, Any]) -> Content:
    return Content.assemble(("rejected: ", "$fail"), one_line(reason_words(str(data.get("reason", ""))), 200))


LOOP_NOTES: Mapping[str, NoteBlock] = MappingProxyType(
    {
        "nearest": _one_line_note(_nearest, with_gap=False),
        "accepted": _one_line_note(_accepted),
        "rejected": _one_line_note(_rejected),
    }
)
