"""`RoleCheck`: what the servers of judge and embedding say they serve, asked once each while the form is filled in."""

from collections.abc import Callable, Iterable, Mapping

from console.config.model import ModelConfig
from console.engine.role_warnings import Who, askable, warnings_about
from console.tui.data.workspace import Workspace


class RoleCheck:
    """Asks in threads, and remembers what was said until it is told to forget."""

    def __init__(self, workspace: Workspace, tell: Callable[[], None]) -> None:
        """Ask nothing yet; `tell` is called whenever more is known."""
        self._workspace, self._tell = workspace, tell
        self._found: dict[Who, str] = {}
        """What is in doubt of each; nothing while its server has not answered."""

    def ask(self, runs: Iterable[Mapping[str, ModelConfig]]) -> None:
        """Ask for the models of runs that were not asked for yet."""
        new = {who: model for who, model in askable(runs).items() if who not in self._found}
        if new:
            found = self._found
            found |= dict.fromkeys(new, "")
            self._workspace.in_thread(lambda: self._workspace.hand_over(self._take, found, warnings_about(new)))

    def doubts(self, runs: Iterable[Mapping[str, ModelConfig]]) -> list[str]:
        """Return what is known to be in doubt about the models of runs. Foreign text."""
        return [doubt for who in askable(runs) if (doubt := self._found.get(who))]

    def forget(self) -> None:
        """Ask again when next told to."""
        self._found = {}

    def _take(self, asked: dict[Who, str], found: Mapping[Who, str]) -> None:
        asked |= found
        self._tell()
