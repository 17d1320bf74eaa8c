"""The panes of Compare: numbers, list of pairs, and the case with expected, A and B side by side."""

from collections.abc import Callable, Mapping, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from console.core.outcome import Outcome
from console.insight.case_in_run import CaseInBoth
from console.insight.comparison import CasePair, RolloutPair, RunComparison
from console.insight.comparison_report import change_words, passed_words, repeat_reasons
from console.insight.number_format import signed
from console.insight.prompt_change import ChangedLine, prompt_changes
from console.insight.rollout import Rollout
from console.insight.sort_orders import BY_ID, BY_REPEATS, Sorting
from console.tui.render import comparison as summary
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.render.columns import WHY, Column, marked_columns, with_names
from console.tui.render.side_by_side import AnsweredCase, side_by_side_lines
from console.tui.sanitize import literal, one_line
from console.tui.screens.compare.controller import SIDE_BY_SIDE, Change, CompareController, change_key
from console.tui.suite_views.conversation_blocks import block_key, conversation_blocks
from console.tui.symbols import MUTED, OUTCOME_STYLES, SYMBOLS, muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import BORDER_CELLS, ListTitle, PaneTitle
from console.tui.widgets.transcript import Transcript

NUMBER_LINES = 6
"""Maximum number of rows of numbers below the difference."""


class SummaryPane(Static):
    """Headline numbers and counts in two lines, or in a box with every number that both sides have."""

    def __init__(self) -> None:
        super().__init__(id="numbers")

    def show_comparison(self, comparison: RunComparison, *, wide: bool, screen_width: int) -> None:
        """Show the numbers; `screen_width` is used until the pane is laid out."""
        width = max((self.content_size.width or screen_width) - 1, 40)
        if wide:
            room = (width - 24) // 2
            names = (one_line(f"{side.model}  {side.title}", 200) for side in (comparison.a, comparison.b))
            a, b = (lines.fit_name(name, min(name.cell_length, room)) for name in names)
            self.border_title = Content.assemble(" A ", a, "   against   B ", b, " ")
            self.border_subtitle = muted("b swap   p other run")
            text = [summary.difference(comparison), *summary.number_lines(comparison, width, NUMBER_LINES)]
        else:
            text = [*summary.head_lines(comparison, width), *summary.outcome_square_lines(comparison)]
        self.update(Content("\n").join(text))


PLOT_WIDTH = 9
"""Width in cells of the dot plot in a row."""
COLUMNS = (Column("case", 20, 2, is_name=True), Column("A", 3), Column("B", 3), WHY)
SCORE_COLUMNS = (*COLUMNS[:3], Column("why", PLOT_WIDTH + 5, 99, worth=PLOT_WIDTH + 5))
"""Columns for scored runs: plot and difference stand before the reason."""
REPEAT_COLUMNS = (
    Column("case", 20, 2, is_name=True), Column("A", 3), Column("B", 3), Column("Δ", 2, right=True),
    WHY,
)  # fmt: skip
"""Columns for runs with repeats: each case shows its number of passing repeats."""


def _marked(columns: Sequence[Column], sorting: Sorting | None) -> tuple[Column, ...]:
    """Return the columns with the order in the heading of the sorted one, which is added if it is missing."""
    if sorting is None:
        return tuple(columns)
    if sorting.column in (BY_ID, BY_REPEATS):
        return marked_columns(columns, "case" if sorting.column == BY_ID else "Δ", sorting.label[-1])
    *others, why = columns
    return (*others, Column(f"Δ {sorting.label}", 2 + len(sorting.label), right=True), why)


class ChangeList(RowList):
    """One row for each case, or repeat of an unfolded case; the cursor stays on its row when the list changes."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, id="changes", classes="pane", names=True, empty=Content("reading both runs …"))
        self.title_line = ListTitle(self)
        self._changes: Mapping[str, Change] = {}
        self._reasons: Mapping[str, str] = {}
        """Reasons by row key."""
        self._has_repeats = False
        self._headline = ""
        self._sorted_by: Callable[[Change], str] = lambda change: ""
        self._highest_score = 0.0

    def show_changes(self, controller: CompareController) -> None:
        """List the cases and repeats of a comparison, or why there are none."""
        changes, comparison = controller.changes, controller.comparison
        assert comparison is not None
        self._changes, self._headline, self._sorted_by = changes, comparison.headline, controller.sorted_by
        self._has_repeats = comparison.counts.rollouts > comparison.counts.cases
        columns = SCORE_COLUMNS if self._headline else REPEAT_COLUMNS if self._has_repeats else COLUMNS
        longest = max((len(self._case_name(key, change).plain) for key, change in changes.items()), default=0)
        cases = [change for change in changes.values() if isinstance(change, CasePair)]
        self._reasons = {change_key(case): change_words(case)[1] for case in cases}
        for case in cases:
            if len(case.repeats) > 1:
                self._reasons |= dict(zip(map(change_key, case.repeats), repeat_reasons(case), strict=True))
        self.set_columns(_marked(with_names(columns, longest), controller.sorting))
        scores = (rollout.scores.get(self._headline, 0.0) for pair in comparison.pairs for rollout in (pair.a, pair.b))
        self._highest_score = max(scores, default=0.0)
        keys = "→ repeats   f filter" if self._has_repeats else "f filter"
        self.title_line.show(controller.scope.capitalize(), str(len(cases)), keys)
        self.show(list(changes), draw=self._cells, empty=Content(controller.empty_words))

    def refuse(self, why: str) -> None:
        """Show why the runs cannot be shown. Untrusted text."""
        self.show([], empty=literal(why, 400, "$broken"))

    def _cells(self, key: str) -> tuple[Content, ...]:
        change = self._changes[key]
        why = one_line(self._reasons[key], 200, MUTED)
        if (means := self._scores(change)) is not None:
            why = Content.assemble(summary.dots(*means, self._highest_score, PLOT_WIDTH), " ", why)
        shown = self._sorted_by(change)
        last = (Content.styled(shown, "bold"), why) if shown else (why,)
        if means is not None:
            scores = (Content.styled(f"{mean:g}"[:3].rjust(3), "bold") for mean in means)
            return (self._case_name(key, change), *scores, *last)
        marks = self._outcome_mark(change.a), self._outcome_mark(change.b)
        if not self._has_repeats or self._headline:
            return (self._case_name(key, change), *marks, *last)
        by = Content.empty()
        if isinstance(change, CasePair) and len(change.repeats) > 1 and change.counted:
            in_a, in_b = passed_words(change)
            marks = Content.styled(in_a, "bold"), Content.styled(in_b, "bold")
            style = "bold $pass" if change.change > 0 else "bold $fail" if change.change else MUTED
            by = Content.styled(signed(change.change, "{:.0f}".format), style)
        return (self._case_name(key, change), *marks, by, *last)

    def _scores(self, change: Change) -> tuple[float, float] | None:
        """Return the scores of A and B, or their means over the repeats, or None if passing is compared."""
        if not change.is_scored:
            return None
        if isinstance(change, CasePair):
            return change.mean_scores(self._headline)
        return change.a.scores[self._headline], change.b.scores[self._headline]

    def _case_name(self, key: str, change: Change) -> Content:
        """Return the question of a scored case, or the id of any other; for a repeat its number."""
        if isinstance(change, RolloutPair):
            return Content(f"    repeat {change.slot[1] + 1}")
        name = one_line((self._headline and change.a.title) or change.name, lines.LONGEST_ID)
        if not self._has_repeats:
            return name
        is_unfolded = change_key(change.repeats[0]) in self._changes and len(change.repeats) > 1
        sign = " " if len(change.repeats) == 1 else SYMBOLS.opened if is_unfolded else SYMBOLS.folded
        return Content.assemble((f"{sign} ", MUTED), name)

    def _outcome_mark(self, rollout: Rollout) -> Content:
        outcome = rollout.outcome
        if outcome is None:
            return muted(SYMBOLS.not_run)
        style = OUTCOME_STYLES[outcome]
        return Content.styled(SYMBOLS.of(outcome), f"bold {style}" if outcome is Outcome.FAILED else style)


class CasePane(Vertical):
    """A title, one transcript and, if there is room, both conversations below it."""

    def __init__(self) -> None:
        super().__init__(id="case-side")
        self._caption = PaneTitle("", id="case-caption")
        self._case = Transcript(id="case", classes="pane")
        self._conversations = (
            Transcript(id="conversation-a", classes="pane"),
            Transcript(id="conversation-b", classes="pane"),
        )
        self._case_title: Callable[[int], Content] = lambda room: Content.empty()
        """Returns the title of the case, given its cells."""
        self._models = "", ""
        self._is_beside = False
        """True if the conversations stand alone."""

    def compose(self) -> ComposeResult:
        yield self._caption
        yield self._case
        with Horizontal(id="conversations"):
            yield from self._conversations

    @property
    def width(self) -> int:
        """Width of the text in cells; 0 until it is laid out."""
        return self._case.room if self._case.scrollable_content_region.width else 0

    def clear(self) -> None:
        self._caption.tell(Content.empty())
        for transcript in (self._case, *self._conversations):
            transcript.show([])
            transcript.border_title = transcript.border_subtitle = None

    def show_fault(self, why: str) -> None:
        """Show why the case cannot be shown. Untrusted text."""
        self._case.show([Block("fault", literal(why, 600, "$broken"))])

    def show_title(self, title: Callable[[int], Content], position: Content, view: str) -> None:
        """Show the case's title (given the cells it has), its position in the list and the view."""
        self._case_title = title
        room = (self._case.outer_size.width or self.screen.size.width) - BORDER_CELLS
        self._case.border_title, self._case.border_subtitle = title(room), muted(view)
        shown_view = Content.empty() if view == SIDE_BY_SIDE else muted(f"  {view}")
        beside = shown_view.cell_length + position.cell_length
        self._caption.tell(title(room - beside).append(shown_view), position)

    def show_blocks(self, blocks: Sequence[Block], *, at: str = "") -> None:
        """Show blocks, from the one with the key `at` if given."""
        self._case.show(blocks)
        if any(block.key == at for block in blocks):
            self._case.scroll_to_block(at)

    def show_conversations(self, case: CaseInBoth, models: tuple[str, str], *, is_beside: bool) -> None:
        """Show both conversations; if they stand alone, from their first difference. Hidden if there is no room."""
        shared, self._models, self._is_beside = case.shared, models, is_beside
        for transcript, side in zip(self._conversations, (case.a, case.b), strict=True):
            transcript.show(conversation_blocks(side.conversation, shared=shared))
            if is_beside and transcript.blocks:
                transcript.scroll_to_block(block_key(case.before_difference))
        self._title_conversations()

    @on(Transcript.WidthChanged)
    def _title_conversations(self) -> None:
        """Title each conversation with its run and, unless it stands above, the case."""
        names_case = self._is_beside or self._case.has_class("zoom-hidden")
        for transcript, letter, model in zip(self._conversations, "AB", self._models, strict=True):
            title = Content.assemble(f"{letter} ", one_line(model, 40))
            room = (transcript.outer_size.width or self.screen.size.width // 2) - BORDER_CELLS
            if names_case and (case := self._case_title(room - title.cell_length - 2)):
                title = title.append("  ").append(case)
            transcript.border_title = title if transcript.blocks else None


def comparison_blocks(case: CaseInBoth, why_no_suite: str, width: int) -> list[Block]:
    """Return expected, A and B side by side, followed by faults."""
    blocks = prompt_blocks(case)
    answered = [
        AnsweredCase(Content.styled(letter, f"bold {MUTED}"), side) for letter, side in (("A", case.a), ("B", case.b))
    ]
    blocks.append(Block("side-by-side", body=tuple(side_by_side_lines(answered, width)), indent=0))
    for letter, fault in (("A", case.a.fault), ("B", case.b.fault)):
        if fault:
            blocks.append(Block(f"fault-{letter}", one_line(f"{letter}: {fault}", 400, "$undecided")))
    if why_no_suite:
        blocks.append(Block("why", one_line(why_no_suite, 400, "$undecided")))
    return blocks


MOST_PROMPT_LINES = 12
"""Maximum number of changed prompt lines shown before the answers."""


def prompt_blocks(case: CaseInBoth) -> list[Block]:
    """Return the line differences between the prompts of A and B, if any."""
    changes = prompt_changes(case.a.conversation, case.b.conversation)
    if not changes:
        return []
    shown = [_prompt_line(change) for change in changes[:MOST_PROMPT_LINES]]
    if len(changes) > MOST_PROMPT_LINES:
        shown.append(muted(f"… and {len(changes) - MOST_PROMPT_LINES} more lines"))
    title = Content.assemble(("the prompt differs", "bold $undecided"), ("   − A   + B", MUTED))
    return [Block("prompt", title, body=tuple(shown))]


def _prompt_line(change: ChangedLine) -> Content:
    sign, style = ("−", "$expected") if change.sign == "-" else ("+", "$actual")
    return Content.assemble(
        (f"{sign} ", f"bold {style}"),
        one_line(f"{change.role}: {change.before}", 200, MUTED),
        one_line(change.text, 2000, style),
        one_line(change.after, 200, MUTED),
    )
