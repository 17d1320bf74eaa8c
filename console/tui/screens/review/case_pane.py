"""`CasePane`: one case: what is known of it, one of its views, and the conversation beside the difference."""

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from console.tui.render import diff
from console.tui.sanitize import one_line
from console.tui.screens.review.case_header import (
    annotation_lines,
    detail_lines,
    hint_lines,
    notice_lines,
    reason_line,
    spent,
    tabs,
    two_lines,
)
from console.tui.screens.review.shown_case import ShownCase
from console.tui.screens.review.views import conversation_blocks, view_with
from console.tui.suite_views.suite_view import CaseView, DrawContext
from console.tui.widgets.titles import PaneTitle, same, tell
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"
DIFFERENCE = "diff"
"""Id of the view that the conversation stands beside."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much room the terminal has."""

    width: int = 80
    is_wide: bool = False
    """Whether panes have boxes with titles, and stand beside each other."""
    is_tall: bool = False


class CaseText(Transcript):
    """The text of a view; says when it has another width, for which it must be laid out again."""

    class WidthChanged(Message):
        """The text has another width."""

    _width_before = 0

    def on_resize(self, event: events.Resize) -> None:
        """Say so if the width is another one."""
        width = self.scrollable_content_region.width
        if width != self._width_before:
            self._width_before = width
            self.post_message(self.WidthChanged())


class CasePane(Vertical):
    """Draws a `ShownCase`, and finds texts in it. Has the class `-diff` while it shows the difference."""

    DEFAULT_CSS = """
    CasePane {
        #head { height: auto; max-height: 4; }
        #detail { height: 1fr; }
        #talk, #talk-caption { display: none; }
    }
    """

    def __init__(self) -> None:
        """Show no case."""
        super().__init__(id="case-side", classes="-diff")
        self.text = CaseText(id="detail", classes="pane", empty=Content("Nothing is listed."))
        self.search_text = ""
        """What is looked for in the text; empty when nothing is."""
        self._title = PaneTitle("", id="case-caption")
        self._head = Static(id="head", classes="pane")
        self._conversation = Transcript(id="talk", classes="pane")
        self._box_titles: dict[Widget, tuple[Content, Content]] = {}
        self._shown: ShownCase | None = None
        self._room = Room()

    def compose(self) -> ComposeResult:
        """Lay out head, view and conversation."""
        yield self._title
        yield self._head
        yield self.text
        yield self._conversation

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def text_width(self) -> int:
        """Cells that a view has."""
        return max(self.text.scrollable_content_region.width or self._room.width - 2, 20)

    def show(self, shown: ShownCase | None, room: Room) -> None:
        """Draw a case, at the same place of the text if the same view of it was shown before."""
        before, self._shown, self._room = self._shown, shown, room
        if shown is None:
            self._show_nothing()
            return
        self.set_class(shown.view.id == DIFFERENCE, "-diff")
        self.set_class(not shown.suite_view.has_conversation_pane, "-alone")
        self._draw_head(shown)
        self._draw_view(shown, keep_place=before is not None and _is_same_view(before, shown))

    def _show_nothing(self) -> None:
        self._title.tell(Content.empty())
        tell(self._head, Content.empty())
        self.text.show([])
        self._conversation.show([])

    def _draw_head(self, shown: ShownCase) -> None:
        case, rollout, room = shown.case, shown.case.rollout, self._room
        names = tabs([view.name for view in shown.views], shown.view.name)
        cost = spent(rollout, simulated=shown.simulated)
        spare = max(room.width - names.cell_length - cost.cell_length - 10, 12)
        self._title.tell(one_line(str(rollout.key), spare, "bold").append("  ").append(names), cost)
        width = max((self._head.content_size.width or room.width) - 1, 20)
        lines = two_lines(reason_line(rollout, case.comparison, 2 * width).rstrip(), width)
        lines += notice_lines(rollout, shown.model, width)
        hint_label = shown.suite_view.hint_label(case.conversation.verdict)
        if room.is_wide:
            lines += detail_lines(case, hint_label, shown.alike, width)
            layout = diff.fitting(shown.style.layout, self.text_width).value
            keys = f"d {layout}   w wrap   x fold" if shown.view.id == DIFFERENCE else "v next view"
            self._set_box_title(self._head, one_line(str(rollout.key), 60, "bold"), cost)
            self._set_box_title(self.text, names, Content.styled(keys, MUTED))
            self._set_box_title(self._conversation, Content("Talk"), Content.empty())
        else:
            lines += hint_lines(case, hint_label, width)
        lines += annotation_lines(shown.annotation, width)
        tell(self._head, Content("\n").join(lines))

    def _draw_view(self, shown: ShownCase, *, keep_place: bool) -> None:
        context = self._draw_context(shown)
        self.text.show(shown.view.draw(shown.case, context), keep_place=keep_place)
        if not context.with_conversation and shown.view.id == DIFFERENCE:
            self._conversation.show(conversation_blocks(shown.case))
        words = self.search_text or shown.words
        if not self.text.find(words) and words:
            self._name_view_with(words, shown)

    def _draw_context(self, shown: ShownCase) -> DrawContext:
        is_apart = self._room.is_wide and self._room.is_tall and shown.suite_view.has_conversation_pane
        return shown.context(self.text_width, with_conversation=not is_apart)

    def _set_box_title(self, pane: Widget, title: Content, subtitle: Content) -> None:
        """Set the titles of a pane's box, unless they are the same: a box is drawn with its whole pane."""
        before = self._box_titles.get(pane)
        if before is not None and same(before[0], title) and same(before[1], subtitle):
            return
        self._box_titles[pane] = title, subtitle
        pane.border_title = title or None
        pane.border_subtitle = subtitle or None

    def _set_subtitle(self, subtitle: Content) -> None:
        title, _ = self._box_titles.get(self.text, (Content.empty(), Content.empty()))
        self._set_box_title(self.text, title, subtitle)

    # Finding ---------------------------------------------------------------------------------------------------------

    def find(self, text: str) -> int:
        """Mark a text in the view and return how often it is there; an empty one ends finding."""
        self.search_text = text
        count = self.text.find(text)
        self._show_hits(1, count)
        return count

    def find_step(self, by: int) -> bool:
        """Go to another place found; say whether anything is looked for at all."""
        if not self.search_text:
            return False
        self._show_hits(*self.text.find_step(by))
        return True

    def other_view_with(self, text: str) -> CaseView | None:
        """Return the first other view of the case that holds a text."""
        shown = self._shown
        if shown is None:
            return None
        others = [view for view in shown.views if view.id != shown.view.id]
        return view_with(text, shown.case, others, shown.context(self.text_width, with_conversation=True))

    def _name_view_with(self, words: str, shown: ShownCase) -> None:
        """Say which other view holds what the view in sight does not."""
        view = self.other_view_with(words)
        if view is not None:
            where = Content.styled(f"found in {view.name}, v goes there", "$live")
            self._set_subtitle(where)
            self._title.tell(one_line(str(shown.case.rollout.key), 40, "bold"), where)

    def _show_hits(self, place: int, count: int) -> None:
        words = f"{place} of {count}" if count else "not found"
        self._set_subtitle(Content.styled(words if self.search_text else "", MUTED))

    # Blocks ----------------------------------------------------------------------------------------------------------

    def folds_same(self) -> bool:
        """Whether folding now means what agrees, and not the block at the top of the text."""
        shown, top = self._shown, self.text.block_at_top()
        is_own_fold = top is not None and (top.folded or top.folds_alone)
        return shown is not None and not is_own_fold and shown.view.folds_same(shown.case)

    def toggle_block(self) -> None:
        """Fold or unfold the block at the top of the text."""
        top = self.text.block_at_top()
        if top is not None:
            self.text.toggle_fold(top.key)

    def step_turn(self, by: int) -> None:
        """Go so many turns of the difference on; a folded one unfolds."""
        turns = [block.key for block in self.text.blocks if block.key.startswith("turn ")]
        top = self.text.block_at_top()
        if not turns or top is None:
            return
        place = turns.index(top.key) if top.key in turns else -1 if by > 0 else len(turns)
        key = turns[max(0, min(place + by, len(turns) - 1))]
        if any(block.key == key and block.folded for block in self.text.blocks):
            self.text.toggle_fold(key)
        self.text.scroll_to_block(key)


def _is_same_view(before: ShownCase, shown: ShownCase) -> bool:
    return before.case.rollout.key == shown.case.rollout.key and before.view.id == shown.view.id
