"""The case side of Review: what is known of the current case, and its views."""

from dataclasses import replace

from textual import events, on
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from console.core.case import Key
from console.core.fault import UsageError
from console.insight.failures import GroupBy
from console.store.runs import RunFolder
from console.tui.render import diff, lines
from console.tui.render.code_blocks import CODE
from console.tui.render.diff import Layout
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.case_base import CaseScreen
from console.tui.screens.review.case_header import (
    annotation_lines,
    hint_face,
    more_lines,
    notice_lines,
    reason_line,
    spent,
    tabs,
)
from console.tui.screens.review.ground_truth import tool_blocks, truth_blocks
from console.tui.screens.review.views import (
    Subject,
    View,
    attempt_blocks,
    diff_blocks,
    expected_text,
    raw_blocks,
    score_blocks,
    talk_blocks,
    view_name,
    views_of,
)
from console.tui.services import Services
from console.tui.suite_views.loop_summary import run_blocks
from console.tui.suite_views.turn_summary import sum_blocks
from console.tui.widgets.block import Block
from console.tui.widgets.pane_title import PaneTitle, same, tell
from console.tui.widgets.transcript import Transcript

MUTED = "$muted"
PREFETCH_AFTER_S = 0.05


class CaseText(Transcript):
    """The text of a view, laid out for its width by the screen, which therefore must know when that changes."""

    class WidthChanged(Message):
        """The text has another width."""

    _known_width = 0

    def on_resize(self, event: events.Resize) -> None:
        """Tell the screen."""
        width = self.scrollable_content_region.width
        if width != self._known_width:
            self._known_width = width
            self.post_message(self.WidthChanged())


class Showing(CaseScreen):
    """Keeps `#head`, `#detail` and `#talk` in step with the current case."""

    def __init__(self, services: Services, run: RunFolder, case: str = "") -> None:
        """Show nothing yet."""
        super().__init__(services, run, case)
        self._titles: dict[Widget, tuple[Content, Content]] = {}

    _view = View.DIFF
    _style = diff.Style()
    _finding = ""
    _subject_now: Subject | None = None
    _shown: tuple[Key, View] | None = None
    """The case and view in sight; drawn again, the reader's place is kept."""

    @property
    def detail(self) -> Transcript:
        """The text of the current view."""
        return self.query_one("#detail", Transcript)

    # The case --------------------------------------------------------------------------------------------------------

    def show_case(self) -> None:
        """Draw head and view of the current case."""
        try:
            subject = self._subject_now = self.subject()
        except UsageError as error:
            self.services.notify(literal(str(error)), severity="error")
            return
        if subject is None:
            self._show_nothing()
            return
        self._draw_case_head(subject)
        self._show_view(subject)
        self.draw_figures()
        self.set_timer(PREFETCH_AFTER_S, self.prefetch)

    def _show_nothing(self) -> None:
        self.query_one("#case-caption", PaneTitle).tell(Content.empty())
        tell(self.query_one("#head", Static), Content.empty())
        self.detail.show([])
        self.query_one("#talk", Transcript).show([])

    def _draw_case_head(self, subject: Subject) -> None:
        rollout, head = subject.rollout, self.query_one("#head", Static)
        views = [view_name(view, loops=self.loops) for view in views_of(rollout, loops=self.loops, sums=self.sums)]
        named, cost = tabs(views, view_name(self._view, loops=self.loops)), self._spent(subject)
        name = one_line(str(rollout.key), 60, "bold")
        room = max(self.size.width - named.cell_length - cost.cell_length - 10, 12)
        short = one_line(str(rollout.key), room, "bold")
        self.query_one("#case-caption", PaneTitle).tell(short.append("  ").append(named), cost)
        width = max((head.content_size.width or self.size.width) - 1, 20)
        shown = _two_lines(reason_line(rollout, subject.comparison, 2 * width).rstrip(), width)
        shown += notice_lines(rollout, self.feed.manifest.model, width) if self.feed is not None else []
        annotations = annotation_lines(self.annotation, width)
        if self.has_class("-wide"):
            group = self.triage.group_of(rollout.slot)
            alike = group.count if group is not None and self.triage.by is GroupBy.REASON else 0
            shown += more_lines(rollout, subject.conversation.verdict, subject.comparison, alike, width)
            self._entitle(head, name, cost)
            keys = f"d {diff.fitting(self._style.layout, self._width()).value}   w wrap   x fold"
            hint = Content.styled(keys if self._view is View.DIFF else "v next view", MUTED)
            self._entitle(self.detail, named, hint)
            self._entitle(self.query_one("#talk", Transcript), Content("Talk"), Content.empty())
        if not self.has_class("-wide") and subject.comparison and subject.comparison.hint:
            name, style = hint_face(subject.conversation.verdict)
            line = Content.assemble((f"   {name:<12}", MUTED), one_line(subject.comparison.hint, 300, style))
            shown += _two_lines(line, width)
        shown += annotations
        tell(head, Content("\n").join(shown))

    def _entitle(self, pane: Widget, title: Content, subtitle: Content) -> None:
        """Set the titles of a pane's box, unless they are the same: a box is drawn with its whole pane."""
        known = self._titles.get(pane)
        if known is not None and same(known[0], title) and same(known[1], subtitle):
            return
        self._titles[pane] = title, subtitle
        pane.border_title = title or None
        pane.border_subtitle = subtitle or None

    def _spent(self, subject: Subject) -> Content:
        return spent(subject.rollout, simulated=self.feed is not None and self.feed.manifest.simulated)

    def _width(self) -> int:
        return max(self.detail.scrollable_content_region.width or self.size.width - 2, 20)

    def _show_view(self, subject: Subject) -> None:
        self.set_class(self.loops, "-loops")
        shown = subject.rollout.key, self._view
        apart = self.has_class("-wide") and self.has_class("-tall") and not self.loops
        blocks = self._blocks(self._view, subject, with_talk=not apart)
        self.detail.show(blocks, keep_place=shown == self._shown)
        self._shown = shown
        if apart and self._view is View.DIFF:
            self.query_one("#talk", Transcript).show(talk_blocks(subject))
        words = self._finding or next(iter(self.triage.narrow.words), "")
        if not self.detail.find(words) and words:
            self._say_where(words, subject)

    def _blocks(self, view: View, subject: Subject, *, with_talk: bool) -> list[Block]:
        match view:
            case View.DIFF:
                return diff_blocks(subject, self._width(), self._style, with_talk=with_talk)
            case View.TALK:
                return talk_blocks(subject)
            case View.TRUTH:
                return truth_blocks(subject.conversation, subject.comparison, expected_text(subject.comparison))
            case View.TOOLS:
                return tool_blocks(subject.conversation)
            case View.SCORES:
                return score_blocks(subject)
            case View.RAW:
                return raw_blocks(subject)
            case View.ATTEMPTS:
                return attempt_blocks(subject)
            case View.RUN:
                draw = sum_blocks if self.sums else run_blocks
                return draw(self.report(), list(self.listed_rollouts()), self._width())

    def _holding(self, words: str, subject: Subject) -> View | None:
        """Return the first other view of the case that holds a text."""
        wanted = words.casefold()
        for view in views_of(subject.rollout, loops=self.loops, sums=self.sums):
            blocks = [] if view is self._view else self._blocks(view, subject, with_talk=True)
            if any(wanted in line.plain.casefold() for block in blocks for line in block.logical):
                return view
        return None

    def _say_where(self, words: str, subject: Subject) -> None:
        view = self._holding(words, subject)
        if view is not None:
            where = Content.styled(f"found in {view_name(view, loops=self.loops)}, v goes there", "$live")
            self._entitle(self.detail, self._titles.get(self.detail, (Content.empty(),))[0], where)
            self.query_one("#case-caption", PaneTitle).tell(one_line(str(subject.rollout.key), 40, "bold"), where)

    @on(CaseText.WidthChanged)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        if self.feed is not None and self.is_mounted:
            self.relist()
            self.show_case()

    # Views -----------------------------------------------------------------------------------------------------------

    def action_view_next(self) -> None:
        """Show the next view."""
        self._turn_view(1)

    def action_view_prev(self) -> None:
        """Show the previous view."""
        self._turn_view(-1)

    def action_view_talk(self) -> None:
        """Show the conversation, or the difference again."""
        self._toggle_view(View.TALK)

    def action_view_truth(self) -> None:
        """Show the ground truth, or the difference again."""
        self._toggle_view(View.TRUTH)

    def action_view_tools(self) -> None:
        """Show the tool schemas, or the difference again."""
        self._toggle_view(View.TOOLS)

    def action_view_raw(self) -> None:
        """Show requests and replies, or the difference again."""
        self._toggle_view(View.RAW)

    def _toggle_view(self, view: View) -> None:
        rollout = self.rollout
        if rollout is not None and view in views_of(rollout, loops=self.loops, sums=self.sums):
            self._turn_to(View.DIFF if self._view is view else view)

    def _turn_to(self, view: View) -> None:
        self._view = view
        self.set_class(view is View.DIFF, "-diff")
        self.show_case()

    def _turn_view(self, by: int) -> None:
        rollout = self.rollout
        if rollout is None:
            return
        views = views_of(rollout, loops=self.loops, sums=self.sums)
        place = views.index(self._view) if self._view in views else 0
        self._turn_to(views[(place + by) % len(views)])

    def _restyle(self, **changes: object) -> None:
        self._style = replace(self._style, **changes)  # pyright: ignore[reportArgumentType]
        self.show_case()

    def action_view_layout(self) -> None:
        """Change between side by side, stacked and changed lines."""
        layouts = list(Layout)
        shown = diff.fitting(self._style.layout, self._width())
        self._restyle(layout=layouts[(layouts.index(shown) + 1) % len(layouts)])

    def action_view_wrap(self) -> None:
        """Wrap long values, or cut them."""
        self._restyle(wrap=not self._style.wrap)

    def action_fold(self) -> None:
        """Fold what agrees, or the block at the top of the text."""
        subject, top = self._subject_now, self.detail.block_at_top()
        by_block = top is not None and (top.folded or top.key.startswith(CODE))
        if self._view is View.DIFF and subject is not None and not by_block and (subject.comparison or subject.is_loop):
            self._restyle(fold_same=not self._style.fold_same)
        elif (block := self.detail.block_at_top()) is not None:
            self.detail.toggle_fold(block.key)

    def action_turn_next(self) -> None:
        """Go to the next turn of the comparison."""
        self._step_turn(1)

    def action_turn_prev(self) -> None:
        """Go to the previous turn of the comparison."""
        self._step_turn(-1)

    def _step_turn(self, by: int) -> None:
        turns = [block.key for block in self.detail.blocks if block.key.startswith("turn ")]
        top = self.detail.block_at_top()
        if turns and top is not None:
            place = turns.index(top.key) if top.key in turns else -1 if by > 0 else len(turns)
            key = turns[max(0, min(place + by, len(turns) - 1))]
            if any(block.key == key and block.folded for block in self.detail.blocks):
                self.detail.toggle_fold(key)
            self.detail.scroll_to_block(key)

    # Finding ---------------------------------------------------------------------------------------------------------

    @property
    def is_finding(self) -> bool:
        """Whether places found in the text are being stepped through."""
        return bool(self._finding)

    def find_in_text(self, text: str, *, done: bool = False) -> None:
        """Mark a text in the view; an empty one ends finding. When `done`, go to the view of the case that holds it."""
        self._finding = text
        self._say_hits(1, self.detail.find(text))
        subject = self._subject_now
        if text and done and subject is not None and not self.detail.find(text):
            view = self._holding(text, subject)
            if view is not None:
                self._turn_to(view)
                self._say_hits(1, self.detail.find(text))

    def step_found(self, by: int) -> bool:
        """Go to another place found; say whether there is a search at all."""
        if not self._finding:
            return False
        self._say_hits(*self.detail.find_step(by))
        return True

    def _say_hits(self, place: int, count: int) -> None:
        words = f"{place} of {count}" if count else "not found"
        title = self._titles.get(self.detail, (Content.empty(), Content.empty()))[0]
        self._entitle(self.detail, title, Content.styled(words if self._finding else "", MUTED))
        self.refresh_keys()


def _two_lines(said: Content, width: int) -> list[Content]:
    """Return a sentence on one line or two; a longer one is whole in the verdict at the end of the text."""
    first, *more = lines.wrap(said.plain, width)
    return [said[: first[1]], *(lines.fit(Content("   ").append(said[start:]), width) for start, _ in more[:1])]
