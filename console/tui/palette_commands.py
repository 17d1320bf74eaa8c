"""`PaletteCommands`: entries of the palette: actions of this screen and of others, models, suites, runs and themes."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.content import Content

from console.tui.actions import ACTIONS, Action
from console.tui.data.runs import RunLine
from console.tui.dialogs.palette import Command, action_command
from console.tui.keymap import OWN_KEYS, find_action
from console.tui.navigation import SCREENS
from console.tui.screens.base import BaseScreen
from console.tui.services import Services
from console.tui.symbols import state_word
from console.tui.themes import NAMES


class PaletteCommands:
    """Builds the commands of the palette."""

    def __init__(
        self,
        screen: BaseScreen,
        services: Services,
        perform: Callable[[Action | None], object],
        use_theme: Callable[[str], object],
    ) -> None:
        self._screen, self._services = screen, services
        self._perform, self._use_theme = perform, use_theme

    def here(self) -> list[Command]:
        """Return the actions of the screen and its focused pane."""
        return [
            action_command(
                action, partial(self._perform, action), aside=self._services.key_map.path(action),
                why_not=self._screen.why_not(action),
            )
            for action in self._screen.actions_here()
            if _is_offered(action)
        ]  # fmt: skip

    def elsewhere(self) -> list[Command]:
        """Return the actions of other screens, and all models, suites, runs and themes."""
        return [*self._of_other_screens(), *self._openable()]

    def _of_other_screens(self) -> Iterator[Command]:
        for action in ACTIONS:
            if action.of_graders and not self._services.workspace.has_graders:
                continue
            if action.where in SCREENS and action.where != self._screen.where and _is_offered(action):
                heading = _opener(action).title.removeprefix("Go: ").partition(": ")[0].replace("Run", "New run")
                yield action_command(action, partial(self._lead_to, action), aside=heading, is_elsewhere=True)

    def _lead_to(self, action: Action) -> None:
        """Open the screen of an action and show its key; the user picks the target there."""
        self._perform(_opener(action))
        keys = self._services.key_map.path(action)
        self._services.notify(Content.assemble((keys, "bold $focus"), f"  {action.meaning}") if keys else
                              Content(f"{action.title} is in the commands here."))  # fmt: skip

    def _openable(self) -> Iterator[Command]:
        navigator, workspace = self._services.navigator, self._services.workspace
        for model in workspace.models.lines if workspace.models is not None else ():
            open_model = partial(navigator.open_library, "model", model.name)
            yield Command(f"Model: {model.name}", open_model, "models", "Library")
        for suite in workspace.suites.lines if workspace.suites is not None else ():
            open_suite = partial(navigator.open_library, "suite", suite.name)
            yield Command(f"Suite: {suite.name}", open_suite, f"suites {suite.entry.title}", "Library")
        for name in NAMES:
            words = "themes color colour appearance settings"
            yield Command(f"Theme: {name}", partial(self._use_theme, name), words)
        for line in workspace.runs or ():
            if line.summary is not None:
                title = f"Run: {line.name}"
                state = state_word(line.state).plain
                words = f"runs {line.label} {line.summary.model} {state}"
                yield Command(title, partial(self._open_run, line), words, aside=state)

    def _open_run(self, line: RunLine) -> None:
        navigator = self._services.navigator
        if line.is_live:
            navigator.open_live(line.folder)
        elif line.is_queued:
            navigator.action_go_home()
        else:
            navigator.open_review(line.folder)


def _opener(action: Action) -> Action:
    """Return the action that opens the screen to which another action belongs."""
    opener = find_action("run.new" if action.where == "launch" else f"go.{action.where}", "all")
    assert opener is not None
    return opener


def _is_offered(action: Action) -> bool:
    return action.palette and not action.opens_menu and action.where not in OWN_KEYS
