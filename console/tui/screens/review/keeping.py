"""Keeps the case shown in Review as a row in one of the reader's own suites, as it is or edited first."""

import asyncio
from dataclasses import dataclass

from textual.content import Content

from console.config.paths import find_data_roots, find_own_data
from console.core.fault import UsageError
from console.exchange.kept_case import USUAL_SUITE, ProposedRow, keep_row, propose_conversation, suites_for_rows
from console.suites.catalog import Catalog
from console.suites.new_folder import name_problem
from console.suites.own_row import AddedRow, is_checked
from console.suites.run_suite import open_run_suite
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import Answer, NameNote, NameScreen, Question
from console.tui.editor import edit_text
from console.tui.render.catalog_details import display_path
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.screens.review.controller import ReviewController
from console.tui.services import Services
from console.tui.shell_commands import command
from console.tui.symbols import muted

_SUITE = "keep in"
"""Name of the stored setting: the suite of the last kept case."""
_COLUMNS = (Column("suite", 24, 1), Column("what", 40, 3))
_NEW = "+"
"""Key of the row that creates a suite; no suite can have this name."""


@dataclass
class Keeping:
    """The dialogs that keep the current case."""

    services: Services
    controller: ReviewController

    async def ask_and_keep(self) -> None:
        """Ask for the suite and keep the current case in it."""
        try:
            await self._ask_and_keep()
        except (UsageError, ValueError) as error:
            self.services.refuse(error)

    async def _ask_and_keep(self) -> None:
        case, run = self.controller.case.load(), self.controller.run
        if case is None or run is None:
            return
        data = self.services.paths.data
        proposed = await asyncio.to_thread(
            lambda: propose_conversation(run.manifest, case.conversation, open_run_suite(run.manifest, data))
        )
        suite = self.services.ui_state.text(_SUITE, USUAL_SUITE)
        has_repeats = run.manifest.rollouts > 1
        while (answer := await self.services.ask(self._question(proposed, suite, has_repeats=has_repeats))) != "y":
            match answer:
                case "e":
                    text = edit_text(self.services, proposed.text, "row")
                    proposed = proposed if text in (None, proposed.text) else proposed.edited(text or "")
                case "s":
                    suite = await self._choose_suite() or suite
                case _:
                    return
        added = await asyncio.to_thread(keep_row, data, suite, proposed)
        self.services.ui_state.keep(_SUITE, suite)
        self.services.workspace.read_all()  # the suite has one more case
        self.services.notify(self._done(added, suite, run.manifest.model.name))

    def _question(self, proposed: ProposedRow, suite: str, *, has_repeats: bool) -> Question:
        kept = proposed.row["kept"]
        what = Content.assemble("Keep ", one_line(str(proposed.row["id"]), 40, "bold"))
        what = what.append(f" · repeat {kept['repeat']}" if has_repeats else "")
        what = what.append(" (simulated)" if kept["simulated"] else "").append(" in ")
        what = Content.assemble(
            what, one_line(suite, 40, "bold"), muted("" if self._exists(suite) else ", a new suite")
        )
        answers = [Answer("e", "edit the row first"), Answer("s", "another suite")]
        if is_checked(proposed.row):
            return Question(what.append("?"), [Answer("y", "keep"), *answers])
        why = Content.assemble("\n", one_line(proposed.why_unchecked, 300), ": its checks must be written first.")
        return Question(Content.assemble(what, why), answers)

    def _exists(self, suite: str) -> bool:
        return (find_own_data(self.services.paths.data) / suite).exists()

    async def _choose_suite(self) -> str:
        """Choose a suite or name a new one; return an empty string if the user did neither."""
        data = self.services.paths.data
        entries = await asyncio.to_thread(lambda: suites_for_rows(Catalog(find_data_roots(data)), data))
        faces = {entry.name: (one_line(entry.name, 60), one_line(entry.title, 200)) for entry in entries}
        faces[_NEW] = (Content("a new suite …"), Content.empty())
        chosen = await self.services.ask(Chooser(Content("Keep it in …"), _COLUMNS, faces, "")) if entries else _NEW
        if chosen != _NEW:
            return chosen or ""
        root = find_own_data(data)

        def note_of(name: str) -> NameNote:
            problem = name_problem(root, name)
            return NameNote(problem, refuses=True) if problem else NameNote(f"written to {root / name}")

        return await self.services.ask(NameScreen("Name of the new suite", "", "regressions", note_of)) or ""

    def _done(self, added: AddedRow, suite: str, model: str) -> Content:
        words = command("run", "-m", model, "-s", suite, places=self.services.paths)
        done = "Kept as " if added.is_new else "Kept before, as "
        place = f"{display_path(added.file)}:{added.line}"
        text = Content.assemble(done, one_line(added.id, 60, "bold"), " in ", one_line(place, 200), ". Play it:\n")
        text = text + one_line(words, 300)
        return text if not added.note else Content.assemble(text, "\n", one_line(added.note, 200, "$undecided"))
