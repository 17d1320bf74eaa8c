"""Library: suites with their categories and cases, read-only, and models with the state of their API keys."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from console.core.case import Case
from console.tui.actions import Action
from console.tui.data.entry_checks import Checksum, files_stamp, read_checksum
from console.tui.data.filter_in_force import FilterInForce
from console.tui.data.suites import Suites
from console.tui.editor import edit_models
from console.tui.render import catalog_details
from console.tui.render.block import Block
from console.tui.screens.base import BaseScreen
from console.tui.screens.library.actions import EntryActions
from console.tui.screens.library.controller import Entry, LibraryController
from console.tui.screens.library.lists import CaseList, EntryList, read_cases
from console.tui.services import Services
from console.tui.widgets.row_list import RowList
from console.tui.widgets.titles import Rule
from console.tui.widgets.transcript import Transcript

_LOOK_S = 2.0
"""Seconds between checks of the user's own suite files while Library is shown."""


class LibraryScreen(BaseScreen):
    """Suites and models, or the cases of a category, with details of the row under the cursor."""

    where = "library"
    heading = "Library"
    AUTO_FOCUS = "#entries"
    shown_parts = frozenset({"runs", "models", "suites"})
    DEFAULT_CSS = """
    LibraryScreen .columns { height: 1fr; layout: vertical; }
    LibraryScreen .left { height: 2fr; width: 1fr; }
    LibraryScreen #details { height: 3fr; width: 1fr; padding: 0 1; }
    LibraryScreen #cases, LibraryScreen #cases-title { display: none; }
    LibraryScreen.-inside { #cases { display: block; } #entries, #entries-title { display: none; } }
    LibraryScreen.-inside.-narrow #cases-title { display: block; }
    LibraryScreen.-wide {
        .columns { layout: horizontal; }
        .left { width: 2fr; height: 1fr; }
        #details { width: 3fr; height: 1fr; }
    }
    """

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.controller = LibraryController()
        self._entry_list, self._case_list = EntryList(self.controller), CaseList()
        self._details = Transcript(id="details", classes="pane")
        self._details.border_title = "About"
        self._are_checksums_read = False
        self.files_seen: int | None = None
        """Stamp of the user's own suite files at the last check."""
        self._actions = EntryActions(
            services,
            self.controller,
            self._entry_list,
            self._case_list,
            ping_changed=lambda: self._show_details(keep_place=True),
            run_dialog=partial(self.run_worker, exclusive=True, group="ask"),
        )

    @property
    def responders(self) -> Sequence[object]:
        return (self._actions,)

    def compose_body(self) -> ComposeResult:
        with Container(classes="columns"):
            with Vertical(classes="left"):
                yield from (self._entry_list.title_line, self._entry_list)
                yield from (self._case_list.title_line, self._case_list)
            yield Rule()
            yield self._details

    def on_mount(self) -> None:
        self._show_all()
        self._look_at_files()
        self.set_interval(_LOOK_S, self._look_at_files)

    def _look_at_files(self) -> None:
        """Reload suites whose files were changed, possibly in another window."""
        suites, workspace = self.services.workspace.suites, self.services.workspace
        if not self.is_current or suites is None:
            return

        def look() -> None:
            workspace.hand_over(self._compare_stamp, suites, files_stamp(suites.lines))

        workspace.in_thread(look)

    def _compare_stamp(self, suites: Suites, stamp: int) -> None:
        if suites is not self.services.workspace.suites:
            return
        if self.files_seen not in (None, stamp):
            self.services.workspace.read_all()
        self.files_seen = stamp

    def show_workspace(self, part: str) -> None:
        if part == "runs":
            self._show_details(keep_place=True)
        elif part == "suites":
            self._are_checksums_read, self.files_seen = False, None
            self._show_all()
            self._look_at_files()
        else:
            self._show_all()

    # Cursor -----------------------------------------------------------------------------------------------------------

    @property
    def run_offer(self) -> tuple[str, str]:
        """Model and suite preselected for a new run from here."""
        return self.controller.run_offer(self._entry_list.entry)

    def key_words(self) -> Mapping[str, str]:
        return self.controller.key_words(self._entry_list.entry)

    def why_not(self, action: Action) -> str:
        if action.id == "suite.suspects":
            return self._actions.why_no_suspects
        has_case, case_words = self._actions.case is not None, self._case_list.words
        return self.controller.why_not(action.id, self._entry_list.entry, has_case=has_case, case_words=case_words)

    # Showing ---------------------------------------------------------------------------------------------------------

    def _show_all(self) -> None:
        if not self._details.is_attached:
            return
        workspace, controller = self.services.workspace, self.controller
        controller.suites, controller.models = workspace.suites, workspace.models
        self._entry_list.show_entries()
        if (made := controller.pop_awaited()) is not None:
            self._entry_list.move_to(made.key)
        self._show_details(keep_place=True)
        if workspace.suites is not None and not self._are_checksums_read:
            self._are_checksums_read = True
            self._read_checksums(workspace.suites)

    def go_to_entry(self, kind: Literal["model", "suite"], name: str) -> None:
        """Move the cursor to a model or suite, now or once it is listed; clears the filter and closes opened cases."""
        self.controller.words, self.controller.awaited = "", Entry(kind, name)
        if self.controller.opened is not None:
            self.go_back()
        self._show_all()

    @on(RowList.RowHighlighted)
    def _cursor_moved(self) -> None:
        self._show_details(keep_place=False)
        self.refresh_keys()

    def _show_details(self, *, keep_place: bool) -> None:
        if self.controller.opened is None:
            blocks = self._entry_blocks(self._entry_list.entry)
        else:
            case = self._case_list.case
            blocks = catalog_details.case_blocks(case, self._case_list.suite) if case else []
        self._details.show(blocks, keep_place=keep_place)

    def _entry_blocks(self, entry: Entry) -> list[Block]:
        controller, suite = self.controller, self.controller.suite(entry.name)
        match entry.kind:
            case "suite" if suite is not None:
                return catalog_details.suite_blocks(suite, controller.checksums.get(entry.name))
            case "category" if suite is not None:
                return catalog_details.category_blocks(suite, entry.category)
            case "model" if (model := controller.model(entry.name)) is not None:
                ping, is_pinging = controller.pings.get(model.name), model.name in controller.pinging
                runs = self.services.workspace.runs or []
                return catalog_details.model_blocks(model, ping, runs, pinging=is_pinging)
            case "pull" if (official := controller.official_suite(entry.name)) is not None:
                return catalog_details.pull_blocks(official)
            case "note":
                return catalog_details.note_blocks(entry.name)
            case _:
                return []

    def _read_checksums(self, suites: Suites) -> None:
        workspace = self.services.workspace

        def read() -> None:
            for line in suites.lines:
                if (checksum := read_checksum(line)) is not None:
                    workspace.hand_over(self._show_checksum, line.name, checksum)

        workspace.in_thread(read)

    def _show_checksum(self, name: str, checksum: Checksum) -> None:
        self.controller.checksums[name] = checksum
        if self.is_mounted:
            self._show_all()

    # Navigation -------------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#entries")
    def _entry_chosen(self) -> None:
        entry = self._entry_list.entry
        if self.controller.asks_to_run(entry):
            self._actions.ask_to_allow(entry.name)
        elif (category := self.controller.category_of(entry)) is not None:
            self._open_cases(category)
        elif self.controller.has_many_categories(entry):
            self.action_fold()
        elif entry.kind in ("suite", "model"):
            self._details.focus()
        elif entry.kind == "note":
            edit_models(self.services)
        else:
            self._actions.action_copy_command()

    def action_fold(self) -> None:
        entry = self._entry_list.entry
        if self.controller.can_fold(entry):
            suite = self.controller.fold(entry)
            self._show_all()
            self._entry_list.move_to(suite.key)

    def _open_cases(self, category: Entry) -> None:
        self.controller.opened = category
        self._case_list.expect(category.name, category.category)
        self.add_class("-inside")
        self._case_list.focus()
        self._show_details(keep_place=False)
        suites, workspace = self.services.workspace.suites or Suites(), self.services.workspace

        def read() -> None:
            workspace.hand_over(self._show_cases, category, *read_cases(suites, category.name, category.category))

        workspace.in_thread(read)

    def _show_cases(self, category: Entry, cases: list[Case], mistake: str) -> None:
        if self.controller.opened == category:
            self._case_list.set_cases(cases, mistake)
            self._show_details(keep_place=False)
            self.refresh_keys()

    def go_back(self) -> bool:
        """Close find bar and zoom, then the cases, then the filter."""
        if super().go_back():
            return True
        if self.controller.opened is not None:
            self.controller.opened = None
            self.remove_class("-inside")
            self._entry_list.focus()
            self._show_details(keep_place=False)
            return True
        if self.controller.words:
            self.action_filter_clear()
            return True
        return False

    @property
    def filter_in_force(self) -> FilterInForce | None:
        if self.controller.opened is not None:
            return self._case_list.filter_in_force
        return self.controller.filter_in_force

    # Filtering --------------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        shown = self._case_list if self.controller.opened is not None else self._entry_list
        if self.controller.opened is not None:
            self._case_list.narrow(text)
        else:
            self.controller.words = text
            self._show_all()
        self._show_details(keep_place=False)
        if done:
            shown.focus()

    def action_filter_clear(self) -> None:
        self.find_session.clear()
        self.refresh_keys()

    def action_reload(self) -> None:
        self._are_checksums_read = False
        self.services.workspace.read_all()
