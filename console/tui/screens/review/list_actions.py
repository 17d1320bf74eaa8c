"""Actions of Review on the list and the view: stepping, filters, search, views and folding.

`RunSearch` searches all conversations of a run in a thread, so that typing never waits for a large journal.
"""

import threading
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from pathlib import Path

from textual.content import Content

from console.core.case import Slot
from console.insight.failures import GroupBy
from console.insight.rollout import Rollout
from console.store.search import TextSearch
from console.tui.data.throttle import Throttle
from console.tui.render import diff
from console.tui.sanitize import literal
from console.tui.screens.pane_zoom import PaneZoom
from console.tui.screens.review.case_list import end_of_list_text
from console.tui.screens.review.case_pane import CasePane
from console.tui.screens.review.controller import NOT_REVIEWED, UNTAGGED, ReviewController
from console.tui.services import Services
from console.tui.widgets.row_list import RowList

FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 1.6
"""Seconds between batches of matches; doubled after each batch, since every batch rebuilds the list."""
LEAST_LETTERS = 2


class Matches(Container[Rollout]):
    """Rollouts in whose conversations a text occurs: a byte each, as all of a large run may match."""

    def __init__(self) -> None:
        self._by_order = bytearray()
        self._unlisted: set[Slot] = set()
        """Matches in the part of the journal that the list has not reached yet."""

    def add(self, slot: Slot, rollout: Rollout | None) -> None:
        """Add a rollout, or only its slot if the list does not have it yet."""
        if rollout is None:
            self._unlisted.add(slot)
            return
        self._by_order.extend(bytes(max(rollout.order + 1 - len(self._by_order), 0)))
        self._by_order[rollout.order] = True

    def __contains__(self, rollout: object) -> bool:
        """Return whether the text occurs in a rollout's conversation."""
        assert isinstance(rollout, Rollout)
        is_known = rollout.order < len(self._by_order) and bool(self._by_order[rollout.order])
        return is_known or (bool(self._unlisted) and rollout.slot in self._unlisted)


class RunSearch:
    """Searches conversations for texts and updates `matches`."""

    def __init__(
        self,
        journal: Path,
        rollout_of: Callable[[Slot], Rollout | None],
        in_loop: Callable[[Callable[[], None]], object],
        matched: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        """Start with no search running.

        Args:
            journal: the run's journal.
            rollout_of: returns a rollout by its slot, or None while it is not listed; thread-safe.
            in_loop: schedules a call in the event loop; thread-safe.
            matched: called in that loop when there are new matches.
            ended: called in that loop when the search is complete.
        """
        self.matches: dict[str, Matches] = {}
        """Matching conversations by text; always the same mapping."""
        self.is_running = False
        self._journal, self._rollout_of = journal, rollout_of
        self._in_loop, self._matched, self._ended = in_loop, matched, ended
        self._searches: dict[str, TextSearch] = {}
        self._texts: Sequence[str] = ()
        self._stop = threading.Event()

    def look_for(self, texts: Sequence[str]) -> None:
        """Search whole conversations for texts, including records added since the last search."""
        self._texts = [text for text in texts if len(text) >= LEAST_LETTERS]
        for text in self._texts:
            self._searches.setdefault(text, TextSearch(self._journal, text))
            self.matches.setdefault(text, Matches())
        behind = [self._searches[text] for text in self._texts if self._searches[text].is_behind]
        if behind and not self.is_running:
            self.is_running = True
            threading.Thread(target=self._run, args=(behind, self._stop), name="search", daemon=True).start()
        elif not self._texts and self.is_running:
            self._end(self._stop)

    def close(self) -> None:
        """Stop without further calls."""
        self._stop.set()

    def _run(self, searches: Sequence[TextSearch], stop: threading.Event) -> None:
        handed_on_at, pause_s, throttle = 0.0, FIRST_PAUSE_S, Throttle()

        def stopped() -> bool:
            throttle()
            return stop.is_set()

        for search in searches:
            matches, has_new = self.matches[search.text], False
            for key in search.run(stopped):
                slot = key.slot
                matches.add(slot, self._rollout_of(slot))
                has_new = True
                if time.monotonic() - handed_on_at > pause_s:
                    self._in_loop(partial(self._announce, search.text, stop))
                    handed_on_at, pause_s, has_new = time.monotonic(), min(2 * pause_s, LAST_PAUSE_S), False
            if has_new and not stop.is_set():
                self._in_loop(partial(self._announce, search.text, stop))
        self._in_loop(partial(self._end, stop))

    def _announce(self, text: str, stop: threading.Event) -> None:
        if not stop.is_set() and text in self._texts:
            self._matched()

    def _end(self, stop: threading.Event) -> None:
        """End a search, and start one for texts typed in the meantime."""
        if stop is not self._stop or stop.is_set():
            return
        stop.set()
        self._stop, self.is_running = threading.Event(), False
        self.look_for(self._texts)
        self._ended()


@dataclass
class StepActions:
    """Moves through the list, or through matches in the pane."""

    services: Services
    controller: ReviewController
    pane: CasePane
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""

    def _step(self, by: int) -> None:
        """Move to the next or previous case or match."""
        if self.pane.find_step(by):
            return
        if not self.controller.cursor.step(by):
            self.services.notify(end_of_list_text(self.controller, by))
        self.draw()

    action_fail_next = partialmethod(_step, 1)
    action_fail_prev = partialmethod(_step, -1)

    def _step_group(self, by: int) -> None:
        self.controller.cursor.step_group(by)
        self.draw()

    action_group_next = partialmethod(_step_group, 1)
    action_group_prev = partialmethod(_step_group, -1)


@dataclass
class RepeatActions:
    """Lists and hides the repeats of a case; elsewhere the same keys move between panes."""

    controller: ReviewController
    case_list: RowList
    zoom: PaneZoom
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""

    def action_repeats_show(self) -> None:
        """List the repeats of the case under the cursor, or move to the next pane."""
        if self.case_list.has_focus and self.controller.cursor.unfold():
            self.draw()
        else:
            self.zoom.action_pane_next()

    def action_repeats_hide(self) -> None:
        """Hide the repeats of the case under the cursor, or move to the previous pane."""
        if self.case_list.has_focus and self.controller.cursor.fold():
            self.draw()
        else:
            self.zoom.action_pane_prev()


_GROUPING_KEY = "review.by"
"""Key of the grouping in the UI state."""


@dataclass
class FilterActions:
    """Filters and groups the list; the filter also searches conversations."""

    services: Services
    controller: ReviewController
    search: RunSearch
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""

    def narrow(self, text: str, *, done: bool) -> None:
        """Apply the filter being typed; with `done`, show its error."""
        mistake = self.controller.narrow(text, done=done)
        if mistake and done:
            self.services.notify(literal(mistake), severity="warning")
        self.search.look_for(self.controller.triage.narrow.words)
        self.controller.relist()
        self.draw()

    def _set_scope(self, text: str) -> None:
        self.controller.set_scope(text)
        self.draw()

    action_filter_fail = partialmethod(_set_scope, "is:failed")
    action_filter_all = partialmethod(_set_scope, "")
    action_filter_broken = partialmethod(_set_scope, "is:broken")
    action_filter_disputed = partialmethod(_set_scope, "is:disputed")

    def _add(self, *terms: str) -> None:
        self.controller.add_to_filter(*terms)
        self.draw()

    action_filter_untagged = partialmethod(_add, UNTAGGED)
    action_filter_unseen = partialmethod(_add, NOT_REVIEWED)

    def action_filter_reason(self) -> None:
        rollout = self.controller.cursor.rollout
        if rollout is not None and rollout.reason:
            subject = [_term("subject", rollout.subject)] if rollout.subject else []
            self._add(_term("error", rollout.reason), *subject)

    def action_filter_category(self) -> None:
        rollout = self.controller.cursor.rollout
        if rollout is not None and rollout.category:
            self._add(_term("cat", rollout.category))

    def action_filter_label(self) -> None:
        """List only cases with the current case's label, or without a label if it has none."""
        if self.controller.cursor.rollout is not None:
            label = self.controller.cursor.annotation.label
            self._add(_term("label", label.name if label is not None else "none"))

    def action_filter_clear(self) -> None:
        self.controller.clear_filter()
        self.draw()

    def restore_grouping(self) -> None:
        by = self.services.ui_state.text(_GROUPING_KEY)
        if by in {grouping.value for grouping in GroupBy}:
            self.controller.triage.regroup(GroupBy(by))

    def _group(self, by: GroupBy) -> None:
        self.controller.regroup(by)
        self.services.ui_state.keep(_GROUPING_KEY, by.value)
        if self.controller.triage.by is not by:
            self.services.notify(Content("There are no labels yet, so by reason; X a asks a model for them."))
        self.draw()

    action_group_reason = partialmethod(_group, GroupBy.REASON)
    action_group_error = partialmethod(_group, GroupBy.ERROR)
    action_group_parameter = partialmethod(_group, GroupBy.PARAMETER)
    action_group_category = partialmethod(_group, GroupBy.CATEGORY)
    action_group_function = partialmethod(_group, GroupBy.FUNCTION)
    action_group_tag = partialmethod(_group, GroupBy.TAG)
    action_group_label = partialmethod(_group, GroupBy.LABEL)
    action_group_repeats = partialmethod(_group, GroupBy.REPEATS)
    action_group_blame = partialmethod(_group, GroupBy.BLAME)
    action_group_none = partialmethod(_group, GroupBy.NONE)


def _term(field: str, value: str) -> str:
    """Return a filter term for a recorded value, cut before the first quote or comma, which terms cannot contain."""
    return f'{field}:"{value.split(chr(34))[0].split(",")[0]}"'


@dataclass
class ViewActions:
    """Controls the view and the pane that shows it."""

    controller: ReviewController
    pane: CasePane
    draw: Callable[[], None]
    """Redraws the stale parts of the screen."""

    def _step_view(self, by: int) -> None:
        self.controller.views.step(by)
        self.draw()

    action_view_next = partialmethod(_step_view, 1)
    action_view_prev = partialmethod(_step_view, -1)

    def _toggle(self, view_id: str) -> None:
        self.controller.views.toggle(view_id)
        self.draw()

    action_view_talk = partialmethod(_toggle, "talk")
    action_view_truth = partialmethod(_toggle, "truth")
    action_view_tools = partialmethod(_toggle, "tools")
    action_view_raw = partialmethod(_toggle, "raw")

    def action_view_layout(self) -> None:
        layouts = list(diff.Layout)
        shown = diff.fitting(self.controller.views.style.layout, self.pane.text_width)
        self.controller.views.restyle(layout=layouts[(layouts.index(shown) + 1) % len(layouts)])
        self.draw()

    def action_view_wrap(self) -> None:
        self.controller.views.restyle(wrap=not self.controller.views.style.wrap)
        self.draw()

    def action_fold(self) -> None:
        """In a diff, show all equal parts if any is hidden, else hide them; in other views, fold one block."""
        if self.pane.folds_same():
            equal = diff.Equal.SHOWN if self.pane.hides_equal else diff.Equal.HIDDEN
            self.controller.views.restyle(equal=equal)
            self.draw()
        else:
            self.pane.toggle_block()

    def action_turn_next(self) -> None:
        self.pane.step_turn(1)

    def action_turn_prev(self) -> None:
        self.pane.step_turn(-1)

    def find(self, text: str, *, done: bool) -> None:
        """Highlight a text in the view; an empty text ends the search.

        With `done`, switch to a view that contains it.
        """
        if self.pane.find(text) or not text or not done:
            return
        view = self.pane.other_view_with(text)
        if view is not None:
            self.controller.views.show(view.id)
            self.draw()
            self.pane.find(text)
