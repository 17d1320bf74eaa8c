"""`PresetActions`: presets of the form — `w` keeps what is filled in under a name, `p` fills the form in from one."""

from collections.abc import Sequence

from textual import work
from textual.content import Content

from console.config.paths import presets_files
from console.config.preset import Presets, load_presets
from console.config.preset_file import save_preset
from console.core.fault import UsageError
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.form_state import FormScreen
from console.tui.screens.launch.preset_dialogs import NameScreen, PresetChooser


class PresetActions(FormScreen):
    """The part of the screen; see the module."""

    @work(exclusive=True, group="ask")
    async def action_preset_save(self) -> None:
        """Ask for a name and save the form under it."""
        if mistakes := self.mistakes:
            self.services.notify(one_line(mistakes[0], 200), severity="warning")
            return
        known = load_presets(presets_files())
        start = self.form.texts.get("name", "")
        name = await self.services.ask(NameScreen(start, list(known.presets)))
        if name:
            self._save(name, known)

    def _save(self, name: str, known: Presets) -> None:
        path = known.files.get(name, presets_files()[-1])
        try:
            save_preset(path, name, self.preset)
        except UsageError as error:
            self.services.notify(literal(str(error), 600), severity="error")
            return
        self.services.notify(Content.assemble("Saved ", one_line(name, 40), " in ", literal(str(path), 300)))

    @work(exclusive=True, group="ask")
    async def action_preset_load(self) -> None:
        """List the presets and fill the form in from the chosen one."""
        known = load_presets(presets_files())
        name = await self.services.ask(PresetChooser(known))
        if not name:
            return
        self.form.take(known.presets[name])
        gone = self._drop_unknown()
        self.changed()
        asked = {word.rpartition("/")[2] for word in known.presets[name].options}
        offered = {option.name for options in self.form.options.values() for option in options}
        gone += sorted(asked - offered)
        self.services.notify(
            Content.assemble("Filled in from ", one_line(name, 40), ".")
            if not gone
            else Content.assemble(one_line(name, 40), " names what is not here: ", one_line(", ".join(gone), 200)),
            severity="warning" if gone else "information",
        )

    def _drop_unknown(self) -> list[str]:
        """Take out and return models, suites and categories that are not here."""
        models, form = {line.name for line in self.models.lines}, self.form
        parts = {line.name: {part.name for part in line.categories} for line in self.suites.lines}
        gone = [name for name in form.models if name not in models] + [one for one in form.suites if one not in parts]
        form.models = [name for name in form.models if name in models]
        form.suites = {name: ticked for name, ticked in form.suites.items() if name in parts}
        for name, ticked in form.suites.items():
            gone += [f"{name}/{part}" for part in _missing(ticked, parts[name])]
            ticked &= parts[name]
        return gone


def _missing(ticked: set[str], known: set[str]) -> Sequence[str]:
    return sorted(ticked - known)
