"""Grid: more than two runs by category, and the cases of a cell with all answers.

In a narrow terminal the case list replaces the table while focused; escape returns to the table.
"""

from collections.abc import Coroutine, Mapping, Sequence
from functools import partialmethod
from typing import Any, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from console.core.fault import UsageError, reason_of
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.filter_in_force import FilterInForce
from console.tui.render.grid_rows import run_lines
from console.tui.screens.base import BaseScreen
from console.tui.screens.grid.controller import GridController, ReadRuns, SuspectKeys, read_suspects
from console.tui.screens.grid.key_actions import KeyActions
from console.tui.screens.grid.panes import CategoryTable, DetailPane, GridCaseList
from console.tui.services import Services
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule


class GridScreen(BaseScreen):
    """Several runs: a line for each, categories, cases, and reasons or answers."""

    where: ClassVar[str] = "grid"
    heading: ClassVar[str] = "Grid"
    AUTO_FOCUS: ClassVar[str | None] = "#heat"
    DEFAULT_CSS = """
    GridScreen {
        #sides { height: auto; max-height: 11; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #tables { height: 1fr; layout: vertical; }
        #lists { height: 1fr; } #heat { height: 1fr; } #grid { height: 1fr; } #detail { height: 1fr; }
        #grid, #grid-caption { display: none; }
        &.-cases { #sides, #heat { display: none; } #grid, #grid-caption { display: block; } }
        &.-cases Rule { display: none; }
        RowList, Transcript { scrollbar-gutter: stable; }
        &.-wide {
            PaneTitle, Rule, #grid-caption { display: none; }
            &.-cases #grid-caption { display: none; }
            #tables { layout: horizontal; }
            #lists { width: 1fr; min-width: 34; } #right { width: 1fr; min-width: 70; height: 1fr; }
            #sides, #heat, #grid { display: block; }
            #heat { height: auto; max-height: 60%; }
        }
        #right { height: 1fr; }
        &.-outputs, &.-outputs.-wide {
            #right, #sides, #heat, Rule { display: none; } #lists { width: 1fr; }
            #grid { display: block; }
        }
    }
    """

    def __init__(self, services: Services, runs: Sequence[RunFolder]) -> None:
        """Initialize the screen; runs are read after mounting."""
        super().__init__(services)
        self.controller = GridController(
            runs,
            in_loop=services.workspace.hand_over,
            case_arrived=self._show_detail,
            outputs_arrived=self._touch_outputs,
        )
        self.run_lines = Static(id="sides")
        self.categories = CategoryTable(self.controller)
        self.cases = GridCaseList()
        self.detail = DetailPane()
        self._awaits_suspects = False
        """True if suspect keys are to be listed once the runs are read."""
        self._key_actions = KeyActions(services, self.controller, self._show_keys, self._in_worker)

    # Layout and reading ----------------------------------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        yield self.run_lines
        yield Rule()
        with Container(id="tables"):
            with Vertical(id="lists"):
                yield self.categories
                yield self.cases.pane_title
                yield self.cases
            with Vertical(id="right"):
                yield self.detail.pane_title
                yield self.detail

    def on_mount(self) -> None:
        self.top_line.tell(title=Content(f"{len(self.controller.runs)} runs"))
        self.action_reload()

    def on_unmount(self) -> None:
        self.controller.close()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._relist)

    @work(thread=True, exclusive=True, group="grid")
    def action_reload(self) -> None:
        try:
            runs = self.controller.read(self.services.paths.data)
        except (UsageError, OSError) as error:
            self.services.from_thread(self.categories.refuse, reason_of(error))
            return
        if self.is_running:
            self.services.from_thread(self._use_runs, runs)

    def _use_runs(self, runs: ReadRuns) -> None:
        self.controller.use_runs(runs)
        self.top_line.tell(status=Content(self.controller.status))
        self.categories.show_grid()
        if self._awaits_suspects:
            self.show_suspects()
        self._relist()

    # Drawing ---------------------------------------------------------------------------------------------------------

    def _relist(self) -> None:
        if (grid := self.controller.grid) is None:
            return
        width = self.run_lines.content_size.width or self.size.width - 2
        self.run_lines.update(Content("\n").join(run_lines(grid, width)))
        if self.has_class("-outputs"):
            self.cases.show_outputs(self.controller)
        else:
            self.cases.show_cases(self.controller)
        self.controller.current_key = self.cases.cursor or ""
        self._show_detail()

    def _show_detail(self) -> None:
        """Show the reasons for the current category, or all answers to the current case."""
        controller, grid = self.controller, self.controller.grid
        if grid is None or not self.is_mounted:
            return
        if not self.has_class("-cases"):
            self.detail.show_reasons(grid, controller.category, controller.place)
            return
        current = controller.current
        if current is None:
            self.detail.clear()
            return
        try:
            answers = controller.answers()
        except UsageError as error:
            self.detail.show_fault(error)
            return
        if answers is None:
            self.detail.show_wait(current)
        else:
            keys = controller.suspects
            suspicion, scores = (keys.sentences(current.slot[0]), keys.scores) if keys is not None else ((), ())
            self.detail.show_answers(grid, current, answers, controller.why_no_suite, suspicion, scores)

    # User input -------------------------------------------------------------------------------------------------------

    @on(RowList.RowHighlighted, "#heat")
    def _category_changed(self, event: RowList.RowHighlighted) -> None:
        if self.controller.category_of(event.key) != self.controller.category:
            self.controller.go_to_category(event.key)
            self._relist_from_first()

    def _step_run(self, by: int) -> None:
        """Move to the cell of the next or previous run."""
        if self.controller.step_run(by):
            self.categories.show_grid()
            if self.has_class("-outputs"):
                self._relist()
            else:
                self._relist_from_first()

    action_column_next = partialmethod(_step_run, 1)
    action_column_prev = partialmethod(_step_run, -1)

    def _relist_from_first(self) -> None:
        """List the cases of another cell, with the cursor on the first."""
        self._relist()
        self.cases.move_to_first()

    @on(RowList.RowChosen, "#heat")
    def _to_cases(self) -> None:
        self._set_cases_shown(True)
        self.cases.focus()

    @on(RowList.RowHighlighted, "#grid")
    def _case_changed(self, event: RowList.RowHighlighted) -> None:
        if event.key == self.cases.cursor:
            self.controller.current_key = event.key
            self._show_detail()

    def action_view_outputs(self) -> None:
        if self.controller.grid is None:
            return
        self.toggle_class("-outputs")
        if self.has_class("-outputs"):
            self._set_cases_shown(True)
            self.cases.focus()
        self.call_after_refresh(self._relist)
        self.refresh_keys()

    def action_fold(self) -> None:
        """List the repeats of the case under the cursor below it, or hide them."""
        if not self.controller.toggle_repeats():
            self.services.notify(Content("The case under the cursor was played once."))
            return
        key = self.controller.current_key
        self._relist()
        self.cases.move_to(key)

    # Suspect keys -----------------------------------------------------------------------------------------------------

    @property
    def responders(self) -> Sequence[object]:
        return (self._key_actions,)

    def show_suspects(self) -> None:
        """List suspect keys, now or once the runs are read."""
        self._awaits_suspects = self.controller.grid is None
        if not self._awaits_suspects and self.controller.suspects is None:
            self._read_suspects()

    def action_view_suspects(self) -> None:
        """Toggle between the cases of a category and those with suspect keys."""
        if self.controller.grid is None:
            return
        if self.controller.suspects is None:
            self._read_suspects()
        else:
            self._show_keys(None)

    @work(thread=True, exclusive=True, group="suspects")
    def _read_suspects(self) -> None:
        try:
            keys = read_suspects(self.controller.runs, self.services.paths.data)
        except (UsageError, OSError) as error:
            self.services.from_thread(self.services.refuse, error)
            return
        if self.is_running:
            self.services.from_thread(self._show_keys, keys)

    def _show_keys(self, keys: SuspectKeys | None) -> None:
        self.controller.list_suspects(keys)
        self.remove_class("-outputs")
        if keys is not None:
            self._set_cases_shown(True)
            self.cases.focus()
        self.call_after_refresh(self._relist_from_first)  # the list may have been hidden
        self.refresh_keys()

    def _in_worker(self, question: Coroutine[Any, Any, None]) -> None:
        self.run_worker(question, exclusive=True, group="question")

    def why_not(self, action: Action) -> str:
        if action.id.startswith("erratum") and self.controller.suspects is None:
            return "no suspect keys are listed; s lists them"
        return super().why_not(action)

    def _touch_outputs(self, key: str) -> None:
        if self.has_class("-outputs"):
            self.cases.touch(key)

    @on(RowList.RowChosen, "#grid")
    def _compare(self, event: RowList.RowChosen) -> None:
        """Open the answer of the current run, or compare a run that passed the case with one that did not."""
        row = self.controller.rows[event.key].telling
        if self.has_class("-outputs"):
            self.services.navigator.open_review(self.controller.runs[self.controller.place], row.slot)
            return
        if (pair := self.controller.pair_for(row)) is not None:
            self.services.navigator.open_compare(*pair, row.slot)
        else:
            self.services.notify(Content("Only one run has this case."))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        super().on_descendant_focus(event)
        if self.focused in (self.categories, self.cases):
            self._set_cases_shown(self.focused is self.cases)

    def _set_cases_shown(self, shown: bool) -> None:
        if shown is not self.has_class("-cases"):
            self.set_class(shown, "-cases")
            self.call_after_refresh(self._show_detail)

    def go_back(self) -> bool:
        """Return from the cases to their cell."""
        if super().go_back():
            return True
        if self.has_class("-outputs"):
            self.action_view_outputs()
            return True
        if self.controller.suspects is not None:
            self._show_keys(None)
            return True
        if not self.has_class("-cases"):
            return False
        self._set_cases_shown(False)
        self.categories.focus()
        return True

    def key_words(self) -> Mapping[str, str]:
        if self.has_class("-outputs"):
            return {"open": "open in Review", "view.outputs": "verdicts"}
        return {"open": "its cases" if self.focused is self.categories else "compare two"}

    @property
    def filter_in_force(self) -> FilterInForce | None:
        return self.controller.filter_in_force

    def find_changed(self, text: str, *, done: bool) -> None:
        self.controller.find(text)
        self._relist()
        if text:
            self._set_cases_shown(True)
            if done:
                self.cases.focus()

    def action_filter(self) -> None:
        self.controller.toggle_same()
        self._relist()

    def action_filter_clear(self) -> None:
        self.controller.list_different()
        self.find_session.clear()
        self._relist()
        self.refresh_keys()
