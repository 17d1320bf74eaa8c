"""`LiveRuns`: which runs are live beside the one on the screen, and going from one to the next."""

from collections.abc import Mapping
from pathlib import Path

from textual.content import Content

from console.core.live import Status
from console.store.runs import RunFolder
from console.tui.actions import Action
from console.tui.data.catalog_items import RunLine
from console.tui.data.engine_states import EngineStates
from console.tui.services import Services


class LiveRuns:
    """The runs beside the watched one. Counts come from the journals, what only an engine knows from its connection."""

    def __init__(self, services: Services, watched: RunFolder) -> None:
        """List the runs beside `watched`."""
        self._services = services
        self._watched = watched.path
        self._engines = EngineStates()
        self.lines: list[RunLine] = []
        """The watched run and those beside it, by name; none when it is alone."""

    @property
    def statuses(self) -> Mapping[Path, Status]:
        """What the engines say of themselves."""
        return self._engines.statuses

    def update(self) -> None:
        """List the watched run and what is live, waits, or was started from here, and ask their engines."""
        started = {run.path for run in self._services.navigator.launched}
        lines = [
            line for line in self._services.workspace.runs or () if self._belongs(line) or line.folder.path in started
        ]
        self.lines = sorted(lines, key=lambda line: line.name) if len(lines) > 1 else []
        self._engines.ask([line.folder.path for line in self.lines if line.is_live])

    def _belongs(self, line: RunLine) -> bool:
        return line.is_live or line.state in ("queued", "starting") or line.folder.path == self._watched

    def pause(self) -> None:
        """Ask the engines nothing while nobody looks."""
        self._engines.ask(())

    def open(self, line: RunLine) -> None:
        """Watch a run, unless it is the watched one or nothing of it can be watched yet."""
        if line.state == "queued":
            self._services.notify(Content("This run waits in the queue; it can be watched once it is played."))
        elif line.folder.path != self._watched:
            self._services.navigator.open_live(line.folder)

    def action_run_next(self) -> None:
        """Watch the next run."""
        self._step(1)

    def action_run_prev(self) -> None:
        """Watch the previous run."""
        self._step(-1)

    def _step(self, by: int) -> None:
        lines = [line for line in self.lines if line.state != "queued"]
        places = [place for place, line in enumerate(lines) if line.folder.path == self._watched]
        if len(lines) < 2 or not places:
            self._services.notify(Content("No other run is live. L starts one."))
        else:
            self.open(lines[(places[0] + by) % len(lines)])

    def key_words(self) -> dict[str, str]:
        """Name the keys of the list only where there is one."""
        return {} if self.lines else {"run.next": ""}

    def why_not(self, action: Action) -> str | None:
        """Return why an action cannot act now; None for one that is no business of this list."""
        return "no other run is live" if action.id in ("run.next", "run.prev") and not self.lines else None
