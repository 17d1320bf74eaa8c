"""Compare: two runs case by case, lost cases first, with expected, A and B side by side.

Reads both runs in a thread on opening, on request and while they grow; the cursor stays on its case.
"""

from collections.abc import Mapping, Sequence
from functools import partial, partialmethod
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.core.case import Slot
from console.core.fault import UsageError, reason_of
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.filter_in_force import FilterInForce
from console.tui.render import comparison as summary
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.sanitize import one_line
from console.tui.screens.base import BaseScreen
from console.tui.screens.compare.actions import ChangeFilters, ComparisonCopies, OtherRuns
from console.tui.screens.compare.controller import NUMBERS, SIDE_BY_SIDE, TALK_A, CompareController, RunPair
from console.tui.screens.compare.panes import CasePane, ChangeList, SummaryPane, comparison_blocks
from console.tui.screens.sorting import SortActions
from console.tui.services import Services
from console.tui.suite_views.conversation_blocks import block_key, conversation_blocks
from console.tui.symbols import muted
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule, case_title
from console.tui.widgets.top_line import subject_of
from console.tui.widgets.transcript import Transcript

LIST_SHARE = 0.42
"""Width of the list next to the case, as a share of the screen's width."""
_BESIDE_TITLE = 9
"""Cells around heading, title and status in the top line."""
_NAME_WHILE_READING = 27
"""Maximum width in cells of each run's name in the top line until both runs are read."""


class CompareScreen(BaseScreen):
    """Two runs: their numbers, the list of pairs, and the current case."""

    where: ClassVar[str] = "compare"
    heading: ClassVar[str] = "Compare"
    AUTO_FOCUS: ClassVar[str | None] = "#changes"
    DEFAULT_CSS = """
    CompareScreen {
        #numbers { height: 5; }
        #pairs { height: 1fr; layout: vertical; }
        #list-side { height: 7fr; } #case-side { height: 8fr; }
        #changes, #case { height: 1fr; } #lost, #conversations { display: none; }
        RowList, Transcript { scrollbar-gutter: stable; }
        &.-single { #numbers { height: 2; } #list-side { height: 2; } #case-side { height: 1fr; } }
        &.-wide {
            PaneTitle { display: none; }
            #numbers { height: 10; border: round $line; padding: 0 1; border-title-color: $foreground; }
            #pairs { layout: horizontal; }
            #list-side { width: 45fr; min-width: 34; height: 1fr; }
            #case-side { width: 55fr; min-width: 70; height: 1fr; }
            &.-tall #lost { display: block; height: auto; max-height: 9; padding: 0 2; &.-empty { display: none; } }
            &.-tall #conversations { display: block; height: 1fr; }
            &.-beside { #conversations { display: block; height: 1fr; } #case { display: none; } }
            &.-single { #numbers { height: 8; } #list-side { height: 1fr; } }
            #conversations Transcript { width: 1fr; height: 1fr; }
        }
    }
    """

    def __init__(self, services: Services, a: RunFolder, b: RunFolder, slot: Slot | None = None) -> None:
        """Initialize the screen, with the cursor on `slot` if given; runs are read after mounting."""
        super().__init__(services)
        self.controller = CompareController(
            a, b, slot, in_loop=services.workspace.hand_over, case_arrived=self._show_case
        )
        self.summary = SummaryPane()
        self.lost_reasons = Static(id="lost")
        self.changes = ChangeList()
        self.case = CasePane()
        self._shown_live = False, False
        """For A and B, true if it is shown as live."""
        self._responders = (
            ChangeFilters(self.controller, listed=self._relist, clear_find=self.find_session.clear),
            SortActions(self.controller, listed=self._relist),
            ComparisonCopies(services, self.controller),
            OtherRuns(
                services,
                self.controller,
                in_worker=lambda question: self.run_worker(question, exclusive=True, group="question"),
                in_thread=lambda call: self.run_worker(call, thread=True, group="spawn"),
            ),
        )

    @property
    def responders(self) -> Sequence[object]:
        return self._responders

    # Layout and reading ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        yield self.summary
        yield Rule()
        with Container(id="pairs"):
            with Vertical(id="list-side"):
                yield self.changes.title_line.add_class("zoom-title")
                yield self.changes
                yield self.lost_reasons
            yield self.case

    def on_mount(self) -> None:
        names = (one_line(folder.name, lines.LONGEST_ID) for folder in self.controller.folders)
        fitted = (lines.fit_name(name, min(name.cell_length, _NAME_WHILE_READING)) for name in names)
        self.top_line.tell(title=Content(" and ").join(fitted))
        self.action_reload()

    def on_unmount(self) -> None:
        self.controller.close()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    @work(thread=True, exclusive=True, group="read")
    def action_reload(self) -> None:
        try:
            pair = self.controller.read(self.services.paths.data)
        except (UsageError, OSError) as error:
            self.services.from_thread(self.changes.refuse, reason_of(error))
            return
        if self.is_running:
            self.services.from_thread(self._use_runs, pair)

    def _use_runs(self, pair: RunPair) -> None:
        is_first = self.controller.pair is None
        self.controller.use_runs(pair)
        if damages := self.controller.damages:
            self.services.notify(Content(f"{damages} damaged journal lines were skipped."), severity="warning")
        self._draw()
        if key := self.controller.pop_first_row():
            self._relist()
            self._move_to(key)
        if is_first:
            self.set_timer(self.controller.look_every_s, self._follow)

    def _follow(self) -> None:
        """Read again if a run has grown, draw again if an engine came or went, and schedule the next check."""
        if self.is_current and self.controller.has_grown:
            self.action_reload()
        elif self.is_current and self.controller.live != self._shown_live:
            self._draw()
        self.set_timer(self.controller.look_every_s, self._follow)

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        pair = self.controller.pair
        if pair is None or not self.is_mounted:
            return
        comparison, wide = pair.comparison, self.has_class("-wide")
        self.set_class(comparison.single is not None, "-single")
        title = summary.title(comparison, wide=wide)
        room = self.size.width - len(self.heading) - _BESIDE_TITLE - subject_of(title).cell_length
        self._shown_live = self.controller.live
        checks = summary.fitting_checks(comparison, room, wide=wide, live=self._shown_live)
        self.top_line.tell(title=title, status=checks)
        self.summary.show_comparison(comparison, wide=wide, screen_width=self.size.width)
        reasons = summary.reason_lines(comparison, 56, 7)
        self.lost_reasons.update(Content("\n").join(reasons))
        self.lost_reasons.set_class(not reasons, "-empty")
        self._relist()

    def _relist(self) -> None:
        controller = self.controller
        if controller.comparison is None:
            return
        self.changes.show_changes(controller)
        controller.current_key = self.changes.cursor or ""
        self._show_case()

    def _show_case(self) -> None:
        """Show the current case, or a placeholder until it is read."""
        controller, current = self.controller, self.controller.current
        if controller.pair is None or current is None:
            self.case.clear()
            if controller.pair is not None and controller.view == NUMBERS:
                self._show_numbers(controller.pair)
            return
        try:
            case = controller.case()
        except UsageError as error:
            self.case.show_fault(str(error))
            return
        title = partial(
            case_title, current.a.key, has_repeats=controller.has_repeats, is_repeat=controller.is_at_repeat
        )
        self.case.show_title(title, muted(controller.position_words), controller.view)
        if controller.view == NUMBERS:
            self._show_numbers(controller.pair)
        elif case is None:
            self.case.show_blocks([Block("wait", muted("comparing expected and actual …"))])
        elif controller.view == SIDE_BY_SIDE:
            self.case.show_blocks(comparison_blocks(case, controller.why_no_suite, self._case_width))
        else:
            side = case.a if controller.view == TALK_A else case.b
            at = block_key(case.before_difference) if controller.is_beside else ""
            self.case.show_blocks(conversation_blocks(side.conversation, shared=case.shared), at=at)
        self.set_class(controller.is_beside, "-beside")
        if case is not None and self.has_class("-wide") and (self.has_class("-tall") or controller.is_beside):
            models = (controller.pair.comparison.a.model, controller.pair.comparison.b.model)
            self.case.show_conversations(case, models, is_beside=controller.is_beside)

    def _show_numbers(self, pair: RunPair) -> None:
        disputed, apart = self.controller.disputed, self.controller.scores_apart
        self.case.show_blocks(summary.number_blocks(pair.comparison, disputed, apart, self._case_width))

    @property
    def _case_width(self) -> int:
        """Width in cells of the case pane; computed until it is laid out."""
        if self.case.width:
            return self.case.width
        width = self.size.width
        return max(width - int(LIST_SHARE * width) - 5 if self.has_class("-wide") else width - 2, 40)

    @on(Transcript.WidthChanged, "#case")
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._show_case)

    # User input -------------------------------------------------------------------------------------------------------

    @on(RowList.RowHighlighted, "#changes")
    def _highlighted(self, event: RowList.RowHighlighted) -> None:
        if event.key == self.changes.cursor:
            self.controller.current_key = event.key
            self._show_case()

    def _open_in_review(self, side: int) -> None:
        if (current := self.controller.current) is not None:
            self.services.navigator.open_review(self.controller.folders[side], current.slot)

    @on(RowList.RowChosen, "#changes")
    def _open_b(self) -> None:
        self._open_in_review(1)

    def action_open_a(self) -> None:
        self._open_in_review(0)

    def _step(self, by: int) -> None:
        key = self.controller.step(by)
        if key is None:
            words = "This is the last one." if by > 0 else "This is the first one."
            self.services.notify(Content(words if self.controller.changes else "Nothing is listed."))
        else:
            self._move_to(key)

    action_fail_next = partialmethod(_step, 1)
    action_fail_prev = partialmethod(_step, -1)

    def _move_to(self, key: str) -> None:
        self.changes.move_to(key)
        self.controller.current_key = key

    def action_repeats_show(self) -> None:
        """List the repeats of the case under the cursor, or move to the next pane."""
        if self.focused is self.changes and self.controller.unfold():
            self._relist()
        else:
            self.zoom.action_pane_next()

    def action_repeats_hide(self) -> None:
        """Hide the repeats of the case under the cursor, or move to the previous pane."""
        if self.focused is self.changes and self.controller.fold():
            key = self.controller.current_key
            self._relist()
            self._move_to(key)
        else:
            self.zoom.action_pane_prev()

    def action_view_next(self) -> None:
        self.controller.show_next_view()
        self._show_case()

    def action_view_numbers(self) -> None:
        self.controller.toggle_numbers()
        self._show_case()

    def action_compare_swap(self) -> None:
        self.controller.swap()
        self._draw()

    def find_changed(self, text: str, *, done: bool) -> None:
        self.controller.find(text)
        self._relist()

    @property
    def filter_in_force(self) -> FilterInForce | None:
        return self.controller.filter_in_force

    def why_not(self, action: Action) -> str:
        if self.controller.pair is None and action.where == "compare" and action.id not in ("compare.pick", "reload"):
            return "the runs are being read"
        return ""

    def key_words(self) -> Mapping[str, str]:
        return {"open": "open B in Review"}
