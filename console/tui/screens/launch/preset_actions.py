"""`PresetActions`: `w` saves what is filled in under a name, `p` fills the form in from a preset."""

from collections.abc import Awaitable, Callable

from textual.content import Content

from console.config.paths import presets_files
from console.config.preset import Presets, load_presets
from console.config.preset_file import save_preset
from console.core.fault import UsageError
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.controller import LaunchController
from console.tui.screens.launch.preset_dialogs import NameScreen, PresetChooser
from console.tui.services import Services


class PresetActions:
    """What the form does with presets."""

    def __init__(
        self,
        services: Services,
        controller: LaunchController,
        *,
        run_dialog: Callable[[Awaitable[None]], object],
        filled_in: Callable[[list[str]], None],
    ) -> None:
        """Act on a form.

        Args:
            services: what the app does for screens.
            controller: the form.
            run_dialog: runs what asks the reader something.
            filled_in: called when the form was filled in, with why chosen suites cannot be opened.
        """
        self._services = services
        self._controller = controller
        self._run_dialog = run_dialog
        self._filled_in = filled_in

    def action_preset_save(self) -> None:
        """Ask for a name and save the form under it."""
        if mistakes := self._controller.mistakes:
            self._services.notify(one_line(mistakes[0], 200), severity="warning")
        else:
            self._run_dialog(self._ask_and_save())

    async def _ask_and_save(self) -> None:
        presets = load_presets(presets_files())
        proposal = self._controller.form.texts.get("name", "")
        if name := await self._services.ask(NameScreen(proposal, list(presets.presets))):
            self._save(name, presets)

    def _save(self, name: str, presets: Presets) -> None:
        path = presets.files.get(name, presets_files()[-1])
        try:
            save_preset(path, name, self._controller.preset)
        except UsageError as error:
            self._services.notify(literal(str(error), 600), severity="error")
            return
        self._services.notify(Content.assemble("Saved ", one_line(name, 40), " in ", literal(str(path), 300)))

    def action_preset_load(self) -> None:
        """List the presets and fill the form in from the chosen one."""
        self._run_dialog(self._ask_and_load())

    async def _ask_and_load(self) -> None:
        presets = load_presets(presets_files())
        name = await self._services.ask(PresetChooser(presets))
        if not name:
            return
        missing, problems = self._controller.fill_in(presets.presets[name])
        self._filled_in(problems)
        if missing:
            names = one_line(", ".join(missing), 200)
            words = Content.assemble(one_line(name, 40), " names what is not here: ", names)
            self._services.notify(words, severity="warning")
        else:
            self._services.notify(Content.assemble("Filled in from ", one_line(name, 40), "."))
