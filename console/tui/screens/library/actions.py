"""`EntryActions`: what Library does with what is under the cursor: asking a model's server, and copying."""

import json
from collections.abc import Callable

from console.core.case import Case
from console.tui.data.entry_checks import Ping, ping_model
from console.tui.screens.library.controller import Entry, LibraryController
from console.tui.services import Services
from console.tui.shell_commands import command


class EntryActions:
    """Acts on an entry of the list, or on the case under the cursor where cases are listed."""

    def __init__(
        self,
        services: Services,
        controller: LibraryController,
        entry_under_cursor: Callable[[], Entry],
        case_under_cursor: Callable[[], Case | None],
        *,
        ping_changed: Callable[[], None],
    ) -> None:
        """Act on what is under the cursor; `ping_changed` is called when a server is asked, and when it answered."""
        self._services = services
        self._controller = controller
        self._entry_under_cursor = entry_under_cursor
        self._case_under_cursor = case_under_cursor
        self._ping_changed = ping_changed

    def action_model_ping(self) -> None:
        """Ask the server of the model under the cursor whether it answers; costs nothing."""
        entry, workspace = self._entry_under_cursor(), self._services.workspace
        if self._controller.opened is not None or entry.kind != "model" or entry.name in self._controller.pinging:
            return

        def ping() -> None:
            workspace.hand_over(self._take_ping, entry.name, ping_model(entry.name, self._services.paths.models))

        self._controller.pinging.add(entry.name)
        self._ping_changed()
        workspace.in_thread(ping)

    def _take_ping(self, name: str, ping: Ping) -> None:
        self._controller.pings[name] = ping
        self._controller.pinging.discard(name)
        self._ping_changed()

    def action_copy_id(self) -> None:
        entry, case = self._entry_under_cursor(), self._case_under_cursor()
        if case is not None:
            self._services.copy(case.id, "the case's id")
        elif self._controller.opened is None and entry.name:
            self._services.copy(entry.category or entry.name, "the name")

    def action_copy_command(self) -> None:
        if words := self._controller.command_words(self._entry_under_cursor()):
            self._services.copy(command(*words, places=self._services.paths), "the shell command")

    def action_copy_json(self) -> None:
        if (case := self._case_under_cursor()) is not None:
            text = json.dumps(case.data, ensure_ascii=True, indent=2, default=repr)
            self._services.copy(text, "the case as JSON")
