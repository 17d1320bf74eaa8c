"""`CasePane`: one case with its verdict, one of its views, and in large terminals its conversation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from console.core.annotation import Annotation
from console.core.comparison import Comparison
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.insight import number_format
from console.insight.reasons import sentence
from console.insight.rollout import SETUP, Rollout
from console.insight.warnings import rollout_warnings
from console.tui.render import diff, lines
from console.tui.render.lines import LONGEST_ID, fit_name
from console.tui.sanitize import one_line, plain_line
from console.tui.screens.review.views import TOKENS, ShownCase, view_with
from console.tui.suite_views.conversation_blocks import conversation_blocks
from console.tui.suite_views.suite_view import CaseView, DrawContext, HintLabel, ReviewedCase
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, muted, outcome_sign
from console.tui.widgets.titles import BORDER_CELLS, PaneTitle, case_title, same, tell
from console.tui.widgets.transcript import Transcript

TAGS = {
    "m": ("model", "model at fault"),
    "g": ("grader", "grader at fault"),
    "d": ("data", "data wrong"),
    "p": ("prompt", "prompt or format"),
    "f": ("flaky", "flaky"),
    "?": ("unsure", "unsure"),
    "0": ("", "remove the tag"),
}
"""Value in notes.jsonl and description of each tag, by letter."""
LETTERS = {value: letter for letter, (value, _) in TAGS.items() if value}


_LEAST_TITLE, _AROUND_TITLE = 12, 10
"""Minimum width of a case's name on the title line, and cells around the name, the tabs and the cost."""


def tabs(views: Sequence[str], current: str, room: int) -> Content:
    """Return the names of the views, the current one in brackets; a click shows the view, `…` stands for others.

    Args:
        views: all names.
        current: the current view's name.
        room: width within which the current one must end; other names are dropped if needed.
    """
    names = [
        (Content.styled(f"[{name}]", "bold") if name == current else muted(name)).stylize(
            Style.from_meta({"@click": f"screen.show_view({place})"})
        )
        for place, name in enumerate(views)
    ]
    gap = Content("  ")
    place = views.index(current) if current in views else 0  # a view may be gone while its tab is still shown
    first = next((n for n in range(place) if gap.join(names[n : place + 1]).cell_length <= room), place)
    return gap.join(names[first:])


def spent(rollout: Rollout, *, simulated: bool = False, room: int = 80) -> Content:
    """Return attempt, duration and cost of a rollout; a partly simulated run shows the real part of the cost.

    If there are several attempts and `room` is too small, the word `simulated` is omitted, then all but the attempt.
    """
    made_up = simulated and rollout.cost_usd == 0
    cost = (
        "simulated" if made_up else number_format.money(rollout.cost_usd) if rollout.cost_usd is not None else "cost ?"
    )
    attempt = f"attempt {rollout.key.attempt} of {len(rollout.attempts)}" if len(rollout.attempts) > 1 else ""
    duration = number_format.duration(rollout.seconds)
    whole = f"{duration}  {cost}"
    if not attempt:
        return muted(whole)
    words = [f"{attempt}  {rest}" for rest in (whole, duration if made_up else cost)]
    return muted(next((text for text in words if len(text) <= room), attempt))


def reason_line(rollout: Rollout, comparison: Comparison | None, width: int, *, is_told: bool = False) -> Content:
    """Return outcome symbol, reason and the grader's message on one line.

    With `is_told`, the message is omitted because the view already shows it.
    """
    if rollout.outcome is None:
        return muted(" not finished")
    if rollout.is_setup:
        prepared = Content.styled(f" {SYMBOLS.setup} {SETUP} (not graded)   ", f"bold {MUTED}")
        return lines.fit(prepared.append(one_line(rollout.message, 400, MUTED)), width)
    style = OUTCOME_STYLES[rollout.outcome]
    words = comparison.sentence if comparison and comparison.sentence else ""
    words = words or sentence(rollout.reason, rollout.subject, rollout.outcome)
    line = Content.assemble(
        (f" {SYMBOLS.of(rollout.outcome)} ", f"bold {style}"), one_line(words, 160, f"bold {style}")
    )
    is_summed_up = comparison is not None and bool(comparison.sentence)
    is_said = is_told or (is_summed_up and rollout.outcome in (Outcome.PASSED, Outcome.UNDECIDED))
    particulars = rollout.message.rpartition(": ")[2]
    message = "" if is_said or particulars in words else rollout.message
    if rollout.subject and words.endswith(rollout.subject):
        message = message.removeprefix(f"{rollout.subject}: ")
    return lines.fit(line.append("   ").append(one_line(message, 400)), width) if message else lines.fit(line, width)


def detail_lines(case: ReviewedCase, hint_label: HintLabel, alike: int, width: int) -> list[Content]:
    """Return details: official error type or our code, size of the group, hint, known fault, official verdict."""
    rollout, verdict, comparison = case.rollout, case.conversation.verdict, case.comparison
    details: list[Content] = []
    rule = comparison.rule if comparison else ""
    if rollout.reason or rule:
        code = rule.removesuffix(rollout.message).rstrip("; ") or rule  # the message is in the line above
        details.append(_named("official" if rule else "code", code or rollout.reason, width))
    if alike > 1:
        others = f"{alike - 1} other" + ("s" if alike > 2 else "")
        details.append(_named("same reason", f"{others} in this list", width))
    if comparison and comparison.hint:
        details.append(_named(hint_label.name, comparison.hint, width, hint_label.style))
    if comparison and comparison.note:
        details.append(_named("known fault", comparison.note, width, "$undecided"))
    if verdict is not None and verdict.official:
        details.append(_named("officially", verdict.official, width))
    return details


def hint_lines(case: ReviewedCase, label: HintLabel, width: int) -> list[Content]:
    """Return the hint on one or two lines."""
    if case.comparison is None or not case.comparison.hint:
        return []
    line = Content.assemble((f"   {label.name:<12}", MUTED), one_line(case.comparison.hint, 300, label.style))
    return two_lines(line, width)


def notice_lines(rollout: Rollout, model: ModelFacts, width: int) -> list[Content]:
    """Return warnings, such as a truncated answer or a reply from another model."""
    return [_named(name, text, width, "$undecided") for name, text in rollout_warnings(rollout, model)]


def annotation_lines(annotation: Annotation, width: int) -> list[Content]:
    """Return the dispute, comment and label of a case."""
    notes: list[Content] = []
    if annotation.dispute:
        when = datetime.fromtimestamp(annotation.disputed_at, UTC).astimezone().strftime("%d %b %H:%M")
        by = f"   {annotation.disputed_by or 'unknown'}, {when}"
        line = _named("disputed", annotation.dispute, max(width - len(by), 30), "$undecided")
        notes.append(line.append(one_line(by, 60, MUTED)))
    if annotation.comment:
        notes.append(_named("comment", annotation.comment, width))
    if annotation.label:
        label = annotation.label
        notes.append(_named("label", f"{label.name} ({label.by}): {label.why}", width))
    return notes


def annotation_letter(annotation: Annotation) -> Content:
    """Return one letter for the list: `D` disputed, the tag's letter, `c` comment, `r` reviewed."""
    if annotation.dispute:
        return Content.styled("D", "bold $undecided")
    tag = LETTERS.get(annotation.tag) or plain_line(annotation.tag)[:1] or ("c" if annotation.comment else "")
    return Content.styled(tag, "bold $live") if tag else muted("r" if annotation.reviewed else "")


def two_lines(sentence: Content, width: int) -> list[Content]:
    """Return a sentence on one or two lines, truncated if it is longer."""
    first, *more = lines.wrap(sentence.plain, width)
    rest = [lines.fit(Content("   ").append(sentence[start:]), width) for start, _ in more[:1]]
    return [sentence[: first[1]], *rest]


def _named(name: str, text: str, width: int, style: str = "") -> Content:
    return lines.fit(muted(f"   {name:<12}").append(one_line(text, 1000, style)), width)


DIFFERENCE = "diff"
"""Id of the view that may have the conversation next to it."""


@dataclass(frozen=True, slots=True)
class Room:
    """Size of the terminal."""

    width: int = 80
    is_wide: bool = False
    """True if panes are side by side in boxes with titles."""
    is_tall: bool = False


class CasePane(Vertical):
    """Draws a `ShownCase` and searches its text. Has the class `-diff` while it shows the difference."""

    DEFAULT_CSS = """
    CasePane {
        #head { height: auto; max-height: 4; }
        #detail { height: 1fr; }
        #talk, #talk-caption { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="case-side", classes="-diff")
        self.text = Transcript(id="detail", classes="pane", empty=Content("Nothing is listed."))
        self.search_text = ""
        """Text searched for; empty if none."""
        self._title = PaneTitle("", id="case-caption")
        self._head = Static(id="head", classes="pane")
        self._conversation = Transcript(id="talk", classes="pane")
        self._box_titles: dict[Widget, tuple[Content, Content]] = {}
        self._shown: ShownCase | None = None
        self._text_above = ""
        """Text about the outcome above the view; empty while the view is shown alone."""
        self._token: int | None = None
        """Token under the cursor of the Tokens view; None until it was moved."""
        self._room = Room()
        self.history: Callable[[int], Content] = lambda width: Content.empty()
        """Draws the history of the case in the given number of cells."""

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._head
        yield self.text
        yield self._conversation

    # Drawing ---------------------------------------------------------------------------------------------------------

    @property
    def text_width(self) -> int:
        """Width of a view in cells."""
        is_laid_out = self.text.scrollable_content_region.width > 0
        return max(self.text.room if is_laid_out else self._room.width - 2, 20)

    def show(self, shown: ShownCase | None, room: Room) -> None:
        """Draw a case; the scroll position is kept if the same view of it was shown before."""
        before, self._shown, self._room = self._shown, shown, room
        if shown is None:
            self._show_nothing()
            return
        is_same = before is not None and _is_same_view(before, shown)
        self._token = self._token if is_same else None
        self.set_class(shown.view.id == DIFFERENCE, "-diff")
        self.set_class(not shown.suite_view.has_conversation_pane, "-alone")
        self._draw_head(shown)
        self._draw_view(shown, keep_place=is_same)

    def _show_nothing(self) -> None:
        self._title.tell(Content.empty())
        tell(self._head, Content.empty())
        self.text.show([])
        self._conversation.show([])
        for pane in (self._head, self.text, self._conversation):
            self._set_box_title(pane, Content.empty(), Content.empty())

    def draw_head(self) -> None:
        """Draw the lines above the view again."""
        if self._shown is not None:
            self._draw_head(self._shown)

    def on_resize(self) -> None:
        """Draw the case for its new room: one that is shown alone has its outcome in the title."""
        self.call_after_refresh(self._draw_in_new_room)

    def _draw_in_new_room(self) -> None:
        if self._shown is not None and self.is_attached:
            self._draw_head(self._shown)
            self._draw_view(self._shown, keep_place=True)

    def _draw_head(self, shown: ShownCase) -> None:
        case, rollout, room = shown.case, shown.case.rollout, self._room
        view_names = [view.name for view in shown.views]
        all_tabs = tabs(view_names, shown.view.name, room.width).cell_length
        most = room.width if room.is_wide else room.width - all_tabs - _LEAST_TITLE - _AROUND_TITLE
        cost = spent(rollout, simulated=shown.simulated, room=most)
        names = tabs(view_names, shown.view.name, room.width - cost.cell_length - _LEAST_TITLE - _AROUND_TITLE)
        spare = max(room.width - names.cell_length - cost.cell_length - _AROUND_TITLE, _LEAST_TITLE)
        is_alone = self.screen.has_class("-zoomed")
        title = self._named(shown, spare, with_outcome=is_alone)
        self._title.tell(title.append("  ").append(names), cost)
        width = max((self._head.content_size.width or room.width) - 1, 20)
        is_told = not room.is_wide and shown.view.id == DIFFERENCE and bool(case.comparison and case.comparison.pairs)
        reason = reason_line(rollout, case.comparison, 2 * width, is_told=is_told)
        self._text_above = "" if room.is_wide or is_alone else reason.plain
        lines = two_lines(reason.rstrip(), width)
        lines += notice_lines(rollout, shown.model, width)
        hint_label = shown.suite_view.hint_label(case.conversation.verdict)
        if room.is_wide:
            lines += detail_lines(case, hint_label, shown.alike, width)
            layout = diff.fitting(shown.style.layout, self.text_width).value
            keys = f"d {layout}   w wrap   x fold" if shown.view.id == DIFFERENCE else "v next view"
            key = self._named(shown, width - 4)
            history = self.history(max(width - key.cell_length - 6, 0))
            self._set_box_title(self._head, Content("   ").join([key, history]) if history else key, cost)
            talk = Content("Talk")
            if is_alone:
                about = reason.rstrip()[1:]
                room_alone = self.size.width - BORDER_CELLS
                names, talk = (
                    Content("  ").join([key, each, about]).truncate(room_alone, ellipsis=True) for each in (names, talk)
                )
            self._set_box_title(self.text, names, muted(keys))
            self._set_box_title(self._conversation, talk, Content.empty())
        else:
            lines += hint_lines(case, hint_label, width)
            lines += [history] if (history := Content("   ").append(self.history(width - 3)).rstrip()) else []
        lines += annotation_lines(shown.annotation, width)
        tell(self._head, Content("\n").join(lines))

    def _draw_view(self, shown: ShownCase, *, keep_place: bool) -> None:
        context = self._draw_context(shown)
        folds_same = shown.view.folds_same(shown.case)
        self.text.fold_key = "all" if folds_same else "first"
        blocks = shown.view.draw(shown.without_notes_in(self._text_above), context)
        for block in blocks:
            block.folded = block.folded and not (folds_same and shown.style.equal is diff.Equal.SHOWN)
        self.text.show(blocks, keep_place=keep_place)
        if not context.with_conversation and shown.view.id == DIFFERENCE:
            is_told = bool(shown.case.comparison and shown.case.comparison.pairs)
            self._conversation.show(conversation_blocks(shown.case.conversation, with_verdict=not is_told))
        words = self.search_text or shown.words
        if not self.text.find(words) and words:
            self._name_view_with(words, shown)

    def _draw_context(self, shown: ShownCase) -> DrawContext:
        is_apart = self._room.is_wide and self._room.is_tall and shown.suite_view.has_conversation_pane
        return shown.context(
            self.text_width, with_conversation=not is_apart, with_verdict=not self._text_above, token=self._token
        )

    @staticmethod
    def _named(shown: ShownCase, room: int, *, with_outcome: bool = False) -> Content:
        """Return the name of a case, after the sign of its outcome if requested, and of the shown repeat."""
        rollout = shown.case.rollout
        sign = Content.empty()
        if with_outcome and rollout.outcome is not None:
            sign = outcome_sign(rollout.outcome).append(" ")
            room -= sign.cell_length
        key, has_repeats = rollout.key, shown.has_repeats
        if len(rollout.attempts) > 1:
            key = msgspec.structs.replace(key, attempt=1)  # `spent` has the attempt
        title = case_title(key, LONGEST_ID, has_repeats=has_repeats, is_repeat=shown.is_repeat)
        if title.cell_length <= room:
            return sign.append(title)
        first = msgspec.structs.replace(key, case=f"{key.case} r1") if has_repeats and not key.rollout else key
        name = one_line(str(first), LONGEST_ID, "bold")
        return sign.append(fit_name(name, min(room, name.cell_length)))

    def _set_box_title(self, pane: Widget, title: Content, subtitle: Content) -> None:
        """Set the titles of a pane's box if they have changed, since that redraws the whole pane."""
        before = self._box_titles.get(pane)
        if before is not None and same(before[0], title) and same(before[1], subtitle):
            return
        self._box_titles[pane] = title, subtitle
        pane.border_title = title or None
        pane.border_subtitle = subtitle or None

    def _set_subtitle(self, subtitle: Content) -> None:
        title, _ = self._box_titles.get(self.text, (Content.empty(), Content.empty()))
        self._set_box_title(self.text, title, subtitle)

    # Search -----------------------------------------------------------------------------------------------------------

    def find(self, text: str) -> int:
        """Highlight a text and return the number of matches; an empty text ends the search."""
        self.search_text = text
        count = self.text.find(text)
        self._show_hits(1, count)
        return count

    def find_step(self, by: int) -> bool:
        """Move to another match; return False if there is no search."""
        if not self.search_text:
            return False
        self._show_hits(*self.text.find_step(by))
        return True

    def other_view_with(self, text: str) -> CaseView | None:
        shown = self._shown
        if shown is None:
            return None
        others = [view for view in shown.views if view.id != shown.view.id]
        return view_with(text, shown.case, others, shown.context(self.text_width, with_conversation=True))

    def _name_view_with(self, words: str, shown: ShownCase) -> None:
        """Show which other view contains the text searched for."""
        view = self.other_view_with(words)
        if view is not None:
            where = Content.styled(f"found in {view.name}, v goes there", "$live")
            self._set_subtitle(where)
            room = max(self._room.width - where.cell_length - 6, 12)
            self._title.tell(self._named(shown, room), where)

    def _show_hits(self, place: int, count: int) -> None:
        words = f"{place} of {count}" if count else "not found"
        self._set_subtitle(muted(words if self.search_text else ""))

    # Blocks ----------------------------------------------------------------------------------------------------------

    def folds_same(self) -> bool:
        """Return whether folding applies to all equal parts rather than to one block."""
        shown, top = self._shown, self.text.block_at_top()
        is_own_fold = top is not None and top.folds_alone
        return shown is not None and not is_own_fold and shown.view.folds_same(shown.case)

    @property
    def hides_equal(self) -> bool:
        """True if a block is folded or omits equal parts."""
        return any(block.folded or block.hides for block in self.text.blocks)

    def toggle_block(self) -> None:
        """Open the first folded block in view, or fold the one at the top of the text."""
        target = self.text.fold_target()
        if target is not None:
            self.text.toggle_fold(target.key)

    def step_turn(self, by: int) -> None:
        """Move by N turns in the diff, unfolding a folded one, or by N tokens in the Tokens view."""
        if self._shown is not None and self._shown.view.id == TOKENS:
            self._step_token(by, self._shown)
            return
        turns = [block.key for block in self.text.blocks if block.key.startswith("turn ")]
        top = self.text.block_at_top()
        if not turns or top is None:
            return
        place = turns.index(top.key) if top.key in turns else -1 if by > 0 else len(turns)
        key = turns[max(0, min(place + by, len(turns) - 1))]
        if any(block.key == key and block.folded for block in self.text.blocks):
            self.text.toggle_fold(key)
        self.text.scroll_to_block(key)

    def _step_token(self, by: int, shown: ShownCase) -> None:
        from console.tui.screens.review.tokens import (  # lazy, as tokens are rare
            CURSOR,
            cursor_of,
            is_in_view,
            tokens_of,
        )

        if tokens := tokens_of(shown.case.conversation):
            self._token = cursor_of(tokens, cursor_of(tokens, self._token) + by)
            self._draw_view(shown, keep_place=True)
            if not is_in_view(self.text, CURSOR):
                self.text.scroll_to_block(CURSOR)


def _is_same_view(before: ShownCase, shown: ShownCase) -> bool:
    return before.case.rollout.key == shown.case.rollout.key and before.view.id == shown.view.id
