"""Review: failures in groups, expected and actual side by side, and other views of a case.

Opens on the first unreviewed failure. The case follows the cursor of the list; new data does not move it.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from console.core.case import Slot
from console.core.fault import UsageError
from console.core.run import Manifest
from console.insight.report import Section
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite
from console.tui.data.case_reads import LateReads
from console.tui.data.label_session import LabelSession
from console.tui.data.run_feed import Changes
from console.tui.render.columns import Face
from console.tui.render.progress import title_words
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.branch_actions import BranchActions
from console.tui.screens.review.case_actions import CopyActions, KeepActions, RetryActions, TagActions
from console.tui.screens.review.case_list import (
    CaseList,
    empty_text,
    list_hint,
    list_titles,
    row_content,
)
from console.tui.screens.review.case_loader import CaseLoader
from console.tui.screens.review.case_pane import CasePane, Room
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.decide_actions import DecideActions
from console.tui.screens.review.history_actions import HistoryActions, read_history
from console.tui.screens.review.label_actions import LabelActions
from console.tui.screens.review.list_actions import FilterActions, RepeatActions, RunSearch, StepActions, ViewActions
from console.tui.screens.review.listing import Lister, ListPace
from console.tui.screens.review.stale import Stale
from console.tui.screens.review.status_line import status_text
from console.tui.screens.run_screen import RunScreen
from console.tui.screens.sorting import SortActions
from console.tui.services import Services, Severity
from console.tui.suite_views.registry import load_view
from console.tui.widgets.row_list import RowList
from console.tui.widgets.top_line import subject_widths
from console.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from console.insight.deciding import Branch

_AROUND_HEADING = 7
"""Cells of the top line around the name of the screen, and at its end."""
_BEFORE_BADGE = 3
"""Cells of the top line between the status and the badge."""
PREFETCH_AFTER_S = 0.05
IDLE_AFTER_S = 0.15
"""Seconds on a case before its history and branches are read, so that the case itself is shown first."""


class ReviewScreen(RunScreen):
    """Steps through the failures of one run."""

    where: ClassVar[str] = "review"
    heading: ClassVar[str] = "Review"
    AUTO_FOCUS: ClassVar[str | None] = "#list"
    find_hint: ClassVar[str] = "words of any text, or reason: func: model: cat: tag: is: time> cost>  ! inverts"
    DEFAULT_CSS = """
    ReviewScreen {
        #review { height: 1fr; layout: vertical; }
        #list-side { height: 6fr; } #case-side { height: 13fr; }
        &.-wide {
            #review { layout: horizontal; }
            #list-side { width: 32.5%; min-width: 34; height: 1fr; } #case-side { width: 1fr; height: 1fr; }
            #head { max-height: 8; }
            &.-tall CasePane.-diff #talk { display: block; height: 1fr; }
            &.-tall CasePane.-diff.-alone #talk { display: none; }
        }
    }
    """

    shown_parts: ClassVar[frozenset[str]] = frozenset({"index"})

    def __init__(self, services: Services, run: RunFolder, slot: Slot | None = None, find: str = "") -> None:
        """Initialize the screen, with the cursor on `slot` if given, and at a text of that case."""
        super().__init__(services, run)
        when_idle = partial(self.set_timer, IDLE_AFTER_S)
        self.loader = CaseLoader(
            self._in_loop,
            partial(self._draw_again, Stale.CASE),
            self._read_apart,
            partial(_read_branches, run),
            when_idle,
        )
        self.lister = Lister(self._in_loop, self._show_portion)
        self.controller = ReviewController(Notes(run.path), self.loader, self.lister, slot)
        self.search = RunSearch(
            run.journal_path,
            self.controller.cursor.rollout_of,
            self._in_loop,
            self._relist,
            partial(self._draw_again, Stale.FIGURES),
        )
        self.controller.triage.matches = self.search.matches
        self.case_list = CaseList(self._go_to_end)
        self.case_pane = CasePane()
        self._filters = FilterActions(services, self.controller, self.search, self.draw)
        self._views = ViewActions(self.controller, self.case_pane, self.draw)
        self._retry = RetryActions(services, run, self.controller, self._start_worker)
        self._labels = LabelActions(
            services, run, LabelSession(run, services.paths), self.controller, self._start_worker, self.draw
        )
        histories = LateReads(partial(read_history, run.path.parent), [], when_idle, self._in_loop, self._draw_history)
        self._history = HistoryActions(services, run, self.controller, histories, self._start_worker)
        self._responders = (
            StepActions(services, self.controller, self.case_pane, self.draw),
            RepeatActions(self.controller, self.case_list, self.zoom, self.draw),
            self._filters,
            SortActions(self.controller, self.draw),
            self._views,
            TagActions(services, self.controller, self._start_worker, self.draw),
            self._labels,
            CopyActions(services, run, self.controller, self._start_worker),
            self._retry,
            BranchActions(services, run, self.controller, self.case_pane, self._start_worker),
            DecideActions(services, run, self.controller, self._start_worker, self.draw),
            KeepActions(services, self.controller, self._start_worker),
            self._history,
        )
        self._pace = ListPace()
        self._wanted_text = find
        """Text to find in the first case shown; empty once found."""

    def compose_body(self) -> ComposeResult:
        with Container(id="review"):
            with Vertical(id="list-side"):
                yield self.case_list.pane_title
                yield self.case_list
            yield self.case_pane

    def on_mount(self) -> None:
        """Show the run's name before anything is read."""
        self._filters.restore_grouping()
        self.top_line.tell(title=literal(self.run_folder.name))

    def on_unmount(self) -> None:
        self.search.close()
        self._history.histories.close()
        self.loader.close()
        self.lister.close()

    @property
    def responders(self) -> Sequence[object]:
        return self._responders

    # Run events -------------------------------------------------------------------------------------------------------

    def fed(self, changes: Changes) -> None:
        """Process changes; while the run is read, the list is rebuilt at intervals."""
        feed, controller = self.feed, self.controller
        if feed is None:
            self.case_list.show_rows(None, self._draw_row, cursor=None, empty=self.problem)
            return
        if not self._pace.has_begun:
            self._retry.feed = feed
            controller.open(feed)
            self._open_suite(feed.manifest)
            self._labels.follow_running()
        controller.choose_suite_view()
        if changes.settled:
            controller.triage.forget_order()
            if controller.cursor.missing_case:
                words = Content.assemble("The run has no case ", one_line(controller.cursor.missing_case, 60), ".")
                self.services.notify(words, severity="error")
        self._pace.note_news()
        if changes.settled or not self._pace.has_begun or not changes.records:
            self._list_again()
        if (rollout := controller.cursor.rollout) is not None and rollout.key in changes.keys:
            controller.mark_stale(Stale.CASE)
        self.draw()

    def ticked(self) -> None:
        """Rebuild the list if it is due."""
        if self._pace.is_due:
            self._list_again()

    def _list_again(self) -> None:
        self._pace.begin()
        self._relist()
        self._settle_list()

    def _settle_list(self) -> None:
        if not self.lister.is_listing:
            self._pace.end()
            self.controller.keep_cursor()

    def _show_portion(self) -> None:
        if self.is_mounted:
            self._settle_list()
            self.draw()

    def _open_suite(self, manifest: Manifest) -> None:
        def use(suite: RunSuite, fault: str, severity: Severity) -> None:
            self.controller.use_suite(suite)
            if fault:
                self.services.notify(literal(fault, 400), severity=severity)
            self.draw()

        def work() -> None:
            severity: Severity = "warning"
            try:
                suite = open_run_suite(manifest, self.services.paths.data)
                fault = load_view(suite.format) if suite.format else ""
            except Exception as error:  # cases can be reviewed without the suite
                fault = f"the suite of this run cannot be opened: {type(error).__name__}: {error}"
                suite, severity = RunSuite(manifest, None, fault), "error"
            self._in_loop(partial(use, suite, fault, severity))

        self.run_worker(work, thread=True, group="suite")

    # Pane events ------------------------------------------------------------------------------------------------------

    @on(RowList.RowHighlighted, "#list")
    def _enter_row(self, event: RowList.RowHighlighted) -> None:
        if event.key == self.case_list.cursor:  # the cursor may have moved since
            self.controller.cursor.enter_row(event.key)
            self.draw()

    @on(RowList.RowChosen, "#list")
    def _focus_case(self) -> None:
        self.case_pane.text.focus()

    def _go_to_end(self, place: int) -> None:
        self.controller.cursor.go_to_end(place)
        self.draw()

    def action_show_view(self, place: int) -> None:
        self.controller.views.show_at(place)
        self.draw()

    @on(Transcript.WidthChanged, "#detail")
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._relist_and_redraw)

    def _relist_and_redraw(self) -> None:
        if self.feed is not None and self.is_mounted:
            self.controller.mark_stale(Stale.CASE)
            self._relist()

    def find_changed(self, text: str, *, done: bool) -> None:
        """Filter the list or search the text, depending on which was focused."""
        if self.find_session.origin in (self.case_list, None):
            self._filters.narrow(text, done=done)
        else:
            self._views.find(text, done=done)
            self.refresh_keys()

    @property
    def find_mistake(self) -> str:
        """Error in the filter being typed."""
        return self.controller.filter_mistake

    # Drawing ---------------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        stale = self.controller.pop_stale()
        if Stale.LIST in stale:
            self._draw_list()
        elif Stale.CASE in stale and (current := self.controller.cursor.row) is not None:
            self.case_list.move_to(current)
        if Stale.CASE in stale:
            self._draw_case()
        if Stale.FIGURES in stale or Stale.CASE in stale:
            self._draw_figures()

    def _draw_again(self, stale: Stale) -> None:
        self.controller.mark_stale(stale)
        self.draw()

    def _relist(self) -> None:
        if self.is_mounted:
            self.controller.relist()
            self.draw()

    def _draw_list(self) -> None:
        controller = self.controller
        first = next(iter(controller.run.overview.rollouts.values()), None) if controller.run is not None else None
        has_details = first is not None and controller.views.suite_view.case_detail(first)
        self.case_list.show_rows(
            controller.rows() if controller.triage.order else None,
            self._draw_row,
            cursor=controller.cursor.row,
            empty=empty_text(controller),
            value_width=8 if controller.triage.shows_values else len("10 answers") if has_details else 0,
        )

    def _draw_row(self, key: str, width: int) -> Face:
        live = self.feed is not None and self.feed.is_live
        return row_content(self.controller, key, width, live=live)

    def _draw_case(self) -> None:
        try:
            shown = self.controller.case.for_drawing(self.controller.views)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.case_pane.history = self._history.line
        self.case_pane.show(shown, Room(self.size.width, self.has_class("-wide"), self.has_class("-tall")))
        if shown is not None:
            self.set_timer(PREFETCH_AFTER_S, self._prefetch)
            if self._wanted_text and shown.case.conversation.passages:
                text, self._wanted_text = self._wanted_text, ""
                self._views.find(text, done=True)
                self.refresh_keys()

    def _draw_history(self) -> None:
        if self.is_mounted:
            self.case_pane.draw_head()

    def show_workspace(self, part: str) -> None:
        """Read histories again when the index has changed."""
        self._history.histories.forget()
        self.loader.forget_branches()
        self._draw_history()
        if not part:
            self.set_timer(IDLE_AFTER_S, partial(self._start_worker, self._read_contested, group="contested"))

    def _prefetch(self) -> None:
        if self.is_current:
            self.controller.case.prefetch_neighbors()

    def _draw_figures(self) -> None:
        feed, controller, width = self.feed, self.controller, self.size.width
        if feed is None:
            return
        labeling = Content.styled(f"{words}   " if (words := self._labels.progress) else "", "$live")
        title = title_words(feed.manifest, width)
        badge = self.services.badge
        room = width - labeling.cell_length - (badge.cell_length + _BEFORE_BADGE if badge else 0)
        names = subject_widths(title, beside=len(self.heading) + _AROUND_HEADING)
        status = status_text(controller, feed.overview, feed.manifest, room, names, live=feed.is_live)
        self.top_line.tell(title=title, status=labeling.append(status))
        titles = list_titles(controller, feed.manifest, is_searching=self.search.is_running, is_live=feed.is_live)
        triage = controller.triage
        order = triage.sorting.label if triage.sorting is not None else ""
        has_repeats = triage.has_cases and triage.repeats > 1
        hint = list_hint(feed.damages, order, is_narrowed=bool(triage.narrow.text), has_repeats=has_repeats)
        self.case_list.pane_title.tell(titles[0], hint, briefs=titles[1:])

    # Keys and threads ------------------------------------------------------------------------------------------------

    def key_words(self) -> Mapping[str, str]:
        return {"fail.next": "next match"} if self.case_pane.search_text else {}

    def go_back(self) -> bool:
        """Close the find bar, end the zoom and the search, then return from the text to the list."""
        if super().go_back():
            return True
        if self.case_pane.search_text:
            self.case_pane.find("")
            self.refresh_keys()
            return True
        if not self.case_list.has_focus:
            self.case_list.focus()
            return True
        return False

    def _start_worker(self, work: Coroutine[Any, Any, None] | Callable[[], None], *, group: str) -> None:
        self.run_worker(work, group=group, exclusive=True, thread=not isinstance(work, Coroutine))

    def _read_apart(self) -> Section | None:
        """Return the run's scores by decided keys and by people's labels, or why they cannot be read."""
        from console.exchange.score_columns import columns_section, score_columns

        try:
            columns = score_columns(self.run_folder, self.services.paths.data)
        except UsageError as error:
            return Section("Scores", lines=(str(error),), is_fault=True)
        return columns_section([("this run", columns)])

    def _read_contested(self) -> None:
        """Group by blame with the current errata, which may have been decided on another screen."""
        from console.exchange.score_columns import contested_cases  # after the first frame

        def use(contested: Collection[str]) -> None:
            if contested != self.controller.triage.contested:
                self.controller.triage.contested = contested
                self._relist()

        with suppress(UsageError):  # the view Scores shows the error
            self._in_loop(partial(use, contested_cases(self.run_folder, self.services.paths.data)))

    def _in_loop(self, callback: Callable[[], None]) -> None:
        """Schedule a call in the app's event loop while the screen exists; thread-safe."""
        if self.is_running:
            self.call_later(callback)


def _read_branches(run: RunFolder) -> "dict[str, list[Branch]]":
    from console.exchange.tried import branches_of  # after the first frame

    return branches_of(run)
