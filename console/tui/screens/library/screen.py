"""Library: what is in the box? Suites, their categories and cases, read only; models with the state of their keys."""

import json
import shlex
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.run import Selection
from console.suites.selection import select_cases
from console.tui.actions import Action
from console.tui.keymap import bindings_for
from console.tui.screens.home.models_editor import EditsModels
from console.tui.screens.library import details
from console.tui.screens.library.case_list import CaseList
from console.tui.screens.library.details import Checksum, Ping
from console.tui.screens.library.entry_list import Entry, EntryList, has_many, key_of
from console.tui.screens.library.ping import ping
from console.tui.services import Services
from console.tui.widgets.block import Block
from console.tui.widgets.row_list import RowList
from console.tui.widgets.rule import Rule
from console.tui.widgets.transcript import Transcript


class LibraryScreen(EditsModels):
    """Suites and models, or the cases of one category, beside a sheet about what is under the cursor."""

    where = "library"
    heading = "Library"
    BINDINGS: ClassVar = bindings_for("library")
    AUTO_FOCUS = "#entries"
    DEFAULT_CSS = """
    LibraryScreen .columns { height: 1fr; layout: vertical; }
    LibraryScreen .left { height: 2fr; width: 1fr; }
    LibraryScreen #sheet { height: 3fr; width: 1fr; padding: 0 1; }
    LibraryScreen #cases, LibraryScreen #cases-title { display: none; }
    LibraryScreen.-inside { #cases { display: block; } #entries, #entries-title { display: none; } }
    LibraryScreen.-inside.-narrow #cases-title { display: block; }
    LibraryScreen.-wide {
        .columns { layout: horizontal; }
        .left { width: 2fr; height: 1fr; }
        #sheet { width: 3fr; height: 1fr; }
    }
    """

    def __init__(self, services: Services) -> None:
        """Read nothing yet."""
        super().__init__(services)
        self._words = ""
        self._case_words = ""
        self._checksums: dict[str, Checksum] = {}
        self._reckoning = False
        self._pings: dict[str, Ping] = {}
        self._pinging: set[str] = set()

    def compose_body(self) -> ComposeResult:
        """Lay out the list and the sheet."""
        entries, cases = EntryList(), CaseList()
        entries.title_line.id, cases.title_line.id = "entries-title", "cases-title"
        with Container(classes="columns"):
            with Vertical(classes="left"):
                yield from (entries.title_line, entries, cases.title_line, cases)
            yield Rule()
            sheet = Transcript(id="sheet", classes="pane")
            sheet.border_title = "About"
            yield sheet

    def on_mount(self) -> None:
        """Subscribe to the workspace and show what is there already."""
        self.services.workspace.changed.subscribe(self, self._take_news)
        self._show_all()

    def on_screen_resume(self) -> None:
        """Catch up with what changed meanwhile."""
        self._show_all()

    def _take_news(self, what: str) -> None:
        if not self.is_current:
            return
        if what == "runs":
            self._show_sheet(keep_place=True)
        else:
            self._show_all()

    @property
    def _entries(self) -> EntryList:
        return self.query_one(EntryList)

    @property
    def _cases(self) -> CaseList:
        return self.query_one(CaseList)

    @property
    def _is_inside(self) -> bool:
        return self.has_class("-inside")

    def _show_all(self) -> None:
        workspace = self.services.workspace
        if not self.query("#sheet"):
            return
        changed = frozenset(name for name, found in self._checksums.items() if found.is_changed)
        self._entries.offer(workspace.suites, workspace.models, self._words, changed)
        self._show_sheet(keep_place=True)
        if workspace.suites and not self._reckoning:
            self._reckoning = True
            workspace.in_thread(self._reckon)

    # Sheets ----------------------------------------------------------------------------------------------------------

    @on(RowList.RowHighlighted)
    def _cursor_moved(self) -> None:
        self._show_sheet(keep_place=False)
        self.refresh_keys()

    def _show_sheet(self, *, keep_place: bool) -> None:
        self.query_one("#sheet", Transcript).show(self._sheet(), keep_place=keep_place)

    def _sheet(self) -> list[Block]:
        if self._is_inside:
            case = self._cases.case
            return details.case_sheet(case, self._cases.suite) if case else []
        workspace, entry = self.services.workspace, self._entries.entry
        suite = workspace.suites.find(entry.name) if workspace.suites else None
        model = workspace.models.find(entry.name) if workspace.models else None
        match entry.kind:
            case "suite" if suite is not None:
                return details.suite_sheet(suite, self._checksums.get(entry.name))
            case "category" if suite is not None:
                return details.category_sheet(suite, entry.category)
            case "model" if model is not None:
                return details.model_sheet(
                    model, self._pings.get(model.name), workspace.runs or [], pinging=model.name in self._pinging
                )
            case "pull" if workspace.suites is not None:
                return [
                    block
                    for suite in workspace.suites.missing
                    if suite.name == entry.name
                    for block in details.pull_sheet(suite)
                ]
            case "note":
                return details.note_sheet(self._entries.note_of(entry.name))
            case _:
                return []

    def action_model_ping(self) -> None:
        """Ask the server of the model under the cursor whether it answers; costs nothing."""
        entry = self._entries.entry
        if not self._is_inside and entry.kind == "model" and entry.name not in self._pinging:
            self._pinging.add(entry.name)
            self._show_sheet(keep_place=True)
            self.services.workspace.in_thread(partial(self._ping, entry.name))

    def _ping(self, name: str) -> None:
        self.services.workspace.hand_over(self._take_ping, name, ping(name, self.services.paths.models))

    def _take_ping(self, name: str, found: Ping) -> None:
        self._pings[name] = found
        self._pinging.discard(name)
        self._show_sheet(keep_place=True)

    def _reckon(self) -> None:
        """Reckon the checksums of all suites, in a thread."""
        from console.suites.archive import tree_sha256

        workspace = self.services.workspace
        for line in workspace.suites.lines if workspace.suites else ():
            expected = line.entry.source.get("digest", "") if line.entry.origin == "pulled" else ""
            try:
                found = Checksum(tree_sha256(line.entry.folder, without=("suite.toml",)), expected)
            except OSError:
                continue  # a folder that went away while it was read has no checksum
            workspace.hand_over(self._take_checksum, line.name, found)

    def _take_checksum(self, name: str, found: Checksum) -> None:
        self._checksums[name] = found
        if self.is_mounted:
            self._show_all()

    # Going in and out ------------------------------------------------------------------------------------------------

    @on(RowList.RowChosen, "#entries")
    def _entry_chosen(self) -> None:
        entry = self._entries.entry
        match entry.kind:
            case "category":
                self._open_cases(entry)
            case "suite":
                self._open_suite(entry)
            case "model":
                self.query_one("#sheet").focus()
            case "note":
                self.action_models_edit()
            case _:
                self.action_copy_command()

    def _open_suite(self, entry: Entry) -> None:
        suites = self.services.workspace.suites
        line = suites.find(entry.name) if suites else None
        if line is None or line.mistake or not line.categories:
            self.query_one("#sheet").focus()
        elif has_many(line):
            self.action_fold()
        else:
            self._open_cases(Entry("category", line.name, line.categories[0].name))

    def action_fold(self) -> None:
        """Show or hide the categories of the suite under the cursor."""
        entry = self._entries.entry
        if self._is_inside or entry.kind not in ("suite", "category"):
            return
        self._entries.unfolded ^= {entry.name}
        self._show_all()
        self._entries.move_to(key_of(Entry("suite", entry.name)))

    def _open_cases(self, entry: Entry) -> None:
        """Show the cases of a category in place of the list."""
        self._case_words = ""
        self._cases.expect(entry.name, entry.category)
        self.add_class("-inside")
        self._cases.focus()
        self._show_sheet(keep_place=False)
        self.services.workspace.in_thread(partial(self._read_cases, entry))

    def _read_cases(self, entry: Entry) -> None:
        workspace = self.services.workspace
        found: list[Case] = []
        mistake = ""
        try:
            if workspace.suites is not None and workspace.suites.catalog is not None:
                suite = workspace.suites.catalog.open(entry.name)
                found = select_cases(suite, Selection((entry.category,)), Setting())
        except UsageError as error:
            mistake = str(error)
        workspace.hand_over(self._take_cases, entry, found, mistake)

    def _take_cases(self, entry: Entry, found: list[Case], mistake: str) -> None:
        if self._is_inside and (self._cases.suite, self._cases.category) == (entry.name, entry.category):
            self._cases.offer(found, mistake)
            self._show_sheet(keep_place=False)
            self.refresh_keys()

    def go_back(self) -> bool:
        """Close find bar and zoom first, then the cases."""
        if super().go_back():
            return True
        if self._is_inside:
            self.remove_class("-inside")
            self._entries.focus()
            self._show_sheet(keep_place=False)
            return True
        if self._words:
            self.action_filter_clear()
            return True
        return False

    # Narrowing -------------------------------------------------------------------------------------------------------

    def find_changed(self, text: str, *, done: bool) -> None:
        """Narrow the list that is shown."""
        if self._is_inside:
            self._cases.narrow(text)
        else:
            self._words = text
            self._show_all()
        self._show_sheet(keep_place=False)
        if done:
            (self._cases if self._is_inside else self._entries).focus()

    def action_filter_clear(self) -> None:
        """Show everything again."""
        self.find_session.clear()

    def action_reload(self) -> None:
        """Read models, suites and runs again."""
        self._reckoning = False
        self.services.workspace.read_all()

    # What keys say and do --------------------------------------------------------------------------------------------

    @property
    def run_offer(self) -> tuple[str, str]:
        """Model and suite that a new run from here starts with."""
        if self._is_inside:
            return "", self._cases.suite
        entry = self._entries.entry
        if entry.kind == "model":
            return entry.name, ""
        return "", entry.name if entry.kind in ("suite", "category") else ""

    def key_words(self) -> dict[str, str]:
        """Say what enter and L mean here."""
        words = {"open": "" if self._is_inside else "open", "run.new": "run this"}
        return {"run.new": "new run"} | (words if any(self.run_offer) else {})

    def why_not(self, action: Action) -> str:
        """Say why an action cannot act on what is under the cursor."""
        kind = "case" if self._is_inside else self._entries.entry.kind
        if action.id == "model.ping" and kind != "model":
            return "only models have a server"
        if action.id == "fold" and kind not in ("suite", "category"):
            return "only suites have categories to fold"
        if action.id == "copy.json" and (kind != "case" or self._cases.case is None):
            return "there is no case under the cursor"
        if action.id == "filter.clear" and not self._words and not self._cases.words:
            return "everything is shown"
        return ""

    def action_copy_id(self) -> None:
        """Copy the name of what is under the cursor."""
        case, entry = self._cases.case, self._entries.entry
        if self._is_inside and case is not None:
            self.services.copy(case.id, "the case's id")
        elif not self._is_inside and entry.name:
            self.services.copy(entry.category or entry.name, "the name")

    def action_copy_command(self) -> None:
        """Copy the shell command that runs, shows or brings what is under the cursor."""
        entry = self._entries.entry
        if self._is_inside:
            entry = Entry("category", self._cases.suite, self._cases.category)
        match entry.kind:
            case "pull":
                text = f"eval-console pull {entry.name}"
            case "model":
                text = f"eval-console run -m {shlex.quote(entry.name)} -s SUITE"
            case "suite" | "category":
                part = f" -c {shlex.quote(entry.category)}" if entry.category else ""
                text = f"eval-console run -m MODEL -s {shlex.quote(entry.name)}{part}"
            case _:
                return
        self.services.copy(text, "a shell command")

    def action_copy_json(self) -> None:
        """Copy the case as JSON."""
        if self._is_inside and (case := self._cases.case) is not None:
            self.services.copy(json.dumps(case.data, ensure_ascii=True, indent=2, default=repr), "the case as JSON")
