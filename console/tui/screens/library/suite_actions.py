"""`SuiteActions`: what Library does with suites of the reader's own: a new one, its file in the editor, its code."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from textual.content import Content

from console.config.paths import find_own_data
from console.core.fault import UsageError
from console.suites.new_folder import name_problem, new_suite, own_file, template_meanings
from console.tui.dialogs.allow_code import ask_to_allow
from console.tui.dialogs.small_dialogs import Chooser, NameNote, NameScreen
from console.tui.editor import edit_file
from console.tui.sanitize import literal, one_line
from console.tui.screens.library.controller import Entry, LibraryController
from console.tui.services import Services
from console.tui.widgets.row_list import Column

_KIND_COLUMNS = (Column("kind", 14), Column("what it is", 60))


class SuiteActions:
    """Makes, opens and allows suites."""

    def __init__(
        self,
        services: Services,
        controller: LibraryController,
        entry_under_cursor: Callable[[], Entry],
        *,
        edit_models: Callable[[], None],
        run_dialog: Callable[[Awaitable[None]], object],
    ) -> None:
        """Act on the entry under the cursor; `edit_models` opens models.toml, where that is a model or a note."""
        self._services = services
        self._controller = controller
        self._entry_under_cursor = entry_under_cursor
        self._edit_models = edit_models
        self._run_dialog = run_dialog

    def action_suite_new(self) -> None:
        """Ask for kind and name, write a suite that runs at once, and show it."""
        self._run_dialog(self._ask_and_write())

    async def _ask_and_write(self) -> None:
        services, root = self._services, find_own_data(self._services.paths.data)
        faces = {kind: [Content(kind), Content(meaning)] for kind, meaning in template_meanings().items()}
        kind = await services.ask(Chooser(Content.styled("What kind of suite?", "bold"), _KIND_COLUMNS, faces, ""))
        if not kind:
            return
        name = await services.ask(NameScreen("New suite", "", "my-questions", partial(_note, root)))
        if not name:
            return
        try:
            new_suite(root, name, kind)
        except UsageError as error:
            services.notify(literal(str(error), 600), severity="error")
            return
        self._controller.awaited_suite = name
        services.notify(Content.assemble(one_line(name, 40, "bold"), " is written; e opens its file."))
        services.workspace.read_all()

    def action_entry_edit(self) -> None:
        """Open the file of the suite under the cursor, or models.toml; what was saved is read again."""
        entry = self._controller.opened or self._entry_under_cursor()
        line = self._controller.suite(entry.name) if entry.kind in ("suite", "category") else None
        if line is None:
            self._edit_models()
            return
        edit_file(self._services, own_file(line.entry))
        self._services.workspace.read_all()

    def ask_to_allow(self, name: str) -> None:
        """Ask whether the code of a suite may run."""
        self._run_dialog(self._ask_to_allow(name))

    async def _ask_to_allow(self, name: str) -> None:
        suites = self._controller.suites
        if suites is not None and suites.catalog is not None:
            await ask_to_allow(self._services, suites.catalog, name)


def _note(root: Path, text: str) -> NameNote:
    if problem := name_problem(root, text.strip()):
        return NameNote(problem, refuses=True)
    return NameNote(f"will be a folder of that name in {root}")
