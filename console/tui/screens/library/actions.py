"""`EntryActions`: Library's actions on suites, models and cases."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual.content import Content

from console.config.paths import find_own_data
from console.core.case import Case
from console.core.fault import UsageError
from console.suites.new_folder import name_problem, new_suite, own_file, template_meanings
from console.tui.data.entry_checks import Ping, ping_model
from console.tui.data.runs import newest_of_models
from console.tui.dialogs.allow_code import ask_to_allow
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import NameNote, NameScreen
from console.tui.editor import edit_file, edit_models
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.screens.library.controller import Entry, LibraryController
from console.tui.screens.library.lists import CaseList, EntryList
from console.tui.services import Services
from console.tui.shell_commands import command

_LEAST_MODELS = 2
_KIND_COLUMNS = (Column("kind", 14), Column("what it is", 60))


@dataclass
class EntryActions:
    """Handles actions on the entry or case under the cursor; creates, opens and allows suites."""

    services: Services
    controller: LibraryController
    entries: EntryList
    cases: CaseList
    ping_changed: Callable[[], None]
    """Called when a ping starts and ends."""
    run_dialog: Callable[[Awaitable[object]], object]

    @property
    def case(self) -> Case | None:
        """The case under the cursor if cases are listed."""
        return self.cases.case if self.controller.opened is not None else None

    def action_model_ping(self) -> None:
        """Check without cost whether the model's server answers."""
        entry, workspace = self.entries.entry, self.services.workspace
        if self.controller.opened is not None or entry.kind != "model" or entry.name in self.controller.pinging:
            return

        def ping() -> None:
            workspace.hand_over(self._show_ping, entry.name, ping_model(entry.name, self.services.paths.models))

        self.controller.pinging.add(entry.name)
        self.ping_changed()
        workspace.in_thread(ping)

    def _show_ping(self, name: str, ping: Ping) -> None:
        self.controller.pings[name] = ping
        self.controller.pinging.discard(name)
        self.ping_changed()

    def action_copy_id(self) -> None:
        entry, case = self.entries.entry, self.case
        if case is not None:
            self.services.copy(case.id, "the case's id")
        elif self.controller.opened is None and entry.name:
            self.services.copy(entry.category or entry.name, "the name")

    def action_copy_command(self) -> None:
        if words := self.controller.command_words(self.entries.entry):
            self.services.copy(command(*words, places=self.services.paths), "the shell command")

    def action_copy_json(self) -> None:
        if (case := self.case) is not None:
            text = json.dumps(case.data, ensure_ascii=True, indent=2, default=repr)
            self.services.copy(text, "the case as JSON")

    # User's own suites ------------------------------------------------------------------------------------------------

    def action_suite_new(self) -> None:
        """Ask for kind and name, write a runnable suite, and show it."""
        self.run_dialog(self._ask_and_write())

    async def _ask_and_write(self) -> None:
        services, root = self.services, find_own_data(self.services.paths.data)
        cells = {kind: [Content(kind), Content(meaning)] for kind, meaning in template_meanings().items()}
        kind = await services.ask(Chooser(Content.styled("What kind of suite?", "bold"), _KIND_COLUMNS, cells, ""))
        if not kind:
            return
        name = await services.ask(NameScreen("New suite", "", "my-questions", partial(_note, root)))
        if not name:
            return
        try:
            new_suite(root, name, kind)
        except UsageError as error:
            services.refuse(error)
            return
        self.controller.awaited = Entry("suite", name)
        services.notify(Content.assemble(one_line(name, 40, "bold"), " is written; e opens its file."))
        services.workspace.read_all()

    @property
    def why_no_suspects(self) -> str:
        """Reason why suspect answer keys cannot be listed for the suite under the cursor; empty if they can."""
        entry = self.controller.opened or self.entries.entry
        if entry.kind not in ("suite", "category"):
            return "only suites have keys"
        if len(newest_of_models(self.services.workspace.runs or [], entry.name)) < _LEAST_MODELS:
            return "it takes completed runs of two models"
        return ""

    def action_suite_suspects(self) -> None:
        """List the suite's cases with suspect answer keys."""
        if why := self.why_no_suspects:
            self.services.notify(Content(f"No key can be suspected: {why}."))
        else:
            self.services.navigator.open_suspects((self.controller.opened or self.entries.entry).name)

    def action_entry_edit(self) -> None:
        """Open the file of the suite under the cursor, or models.toml, and reload it when saved."""
        entry = self.controller.opened or self.entries.entry
        line = self.controller.suite(entry.name) if entry.kind in ("suite", "category") else None
        if line is None:
            edit_models(self.services)
            return
        edit_file(self.services, own_file(line.entry))
        self.services.workspace.read_all()

    def ask_to_allow(self, name: str) -> None:
        """Ask whether a suite's code may run."""
        suites = self.controller.suites
        if suites is not None and suites.catalog is not None:
            self.run_dialog(ask_to_allow(self.services, suites.catalog, name))


def _note(root: Path, text: str) -> NameNote:
    if problem := name_problem(root, text.strip()):
        return NameNote(problem, refuses=True)
    return NameNote(f"creates a folder of that name in {root}")
