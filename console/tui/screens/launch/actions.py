"""Actions of the launch form: start runs, run samples, save and load presets."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from textual.content import Content

from console.config.paths import presets_files
from console.config.preset import Preset, Presets, load_presets, suite_words
from console.core.fault import UsageError
from console.core.price import dollars
from console.engine.background import start_task
from console.engine.compute_target import ComputeTarget
from console.engine.matrix import plans_of
from console.insight import number_format
from console.store.preset_file import save_preset
from console.store.runs import RunFolder
from console.tui.data.filter_in_force import match_rank
from console.tui.data.sample_run import SampleRun, follow_sample_runs, start_sample_runs
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.dialogs.small_dialogs import Answer, NameNote, NameScreen, Question
from console.tui.render.catalog_details import display_path
from console.tui.render.columns import Column, Face
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.controller import LaunchController
from console.tui.screens.launch.form import command_of
from console.tui.services import Services
from console.tui.symbols import MUTED, SYMBOLS


@dataclass
class _FormActions:
    """Shared parts of starting runs and sample runs."""

    services: Services
    controller: LaunchController
    run_dialog: Callable[[Awaitable[None]], object]
    """Runs a dialog."""
    changed: Callable[[], None]
    """Called when starting has begun or failed, and when sample runs progress."""
    leave: Callable[[], object]


class StartActions(_FormActions):
    """Starts runs."""

    def action_launch_start(self) -> None:
        """Start one run for each model and suite, after confirmation if the cost is high."""
        start = self.controller.request_start()
        if start == "now":
            self.run_dialog(self._ask_and_start(self.controller.preset, self.controller.target))
        elif start == "refused":
            severity = "warning" if self.controller.mistakes else "error"
            self.services.notify(literal(self.controller.why_not_start(), 600), severity=severity)

    async def _ask_and_start(self, preset: Preset, target: ComputeTarget) -> None:
        forecast, warnings = self.controller.forecast, self.controller.start_warnings
        if forecast is not None and warnings:
            reasons = Content("\n").join(one_line(reason, 300, "bold") for reason in warnings)
            text = Content.assemble(reasons, f"\nStart {number_format.plural(len(forecast.runs), 'run')}?")
            if await self.services.ask(Question(text, [Answer("y", "start")])) != "y":
                return
        self.controller.is_starting = True
        self.changed()
        self.services.workspace.in_thread(lambda: self._start_runs(preset, target))

    def _start_runs(self, preset: Preset, target: ComputeTarget) -> None:
        """Start or queue the runs; for a thread."""
        from console.engine.launch import enqueue, spawn

        runs: list[RunFolder] = []
        refusal: UsageError | None = None
        try:
            plans = [replace(plan, target=target) for plan in plans_of(preset, self.services.paths)]
            runs.extend(enqueue(plans) if preset.queue else spawn(plans))
        except UsageError as error:
            refusal = error
        self.services.workspace.hand_over(self._show_started, runs, refusal)

    def _show_started(self, runs: list[RunFolder], refusal: UsageError | None) -> None:
        navigator, workspace = self.services.navigator, self.services.workspace
        self.controller.is_starting = False
        navigator.add_launched(runs)
        if refusal is not None:
            self.services.refuse(refusal)
        if not runs:
            self.changed()
            return
        self.controller.keeps_draft, navigator.draft = False, None
        self.leave()
        line = workspace.find(runs[0].path)
        if line is not None and line.place > 1:
            words = f"Queued {number_format.plural(len(runs), 'run')} from position {line.place}."
            self.services.notify(Content(words))
            navigator.action_go_home()
        else:
            navigator.open_live(runs[0])

    def action_copy_command(self) -> None:
        if not self.controller.mistakes:
            command = command_of(self.controller.preset, self.services.paths, self.controller.target)
            self.services.copy(command, "the shell command")


class SampleRunActions(_FormActions):
    """Starts and follows sample runs."""

    _following: asyncio.Task[None] | None = None
    _is_closed = False

    def action_launch_try(self) -> None:
        if reason := self.controller.why_not_start():
            self.services.notify(one_line(reason, 300), severity="warning")
        elif not self.controller.is_sampling:
            self.run_dialog(self._ask_and_sample())

    async def _ask_and_sample(self) -> None:
        if cost := self.controller.sample_cost_to_confirm:
            price = (f"The sample runs alone will cost about {dollars(cost)}.", "bold")
            question = Question(Content.assemble(price, "\nRun three cases of each?"), [Answer("y", "run samples")])
            if await self.services.ask(question) != "y":
                return
        preset, paths, workspace = self.controller.preset, self.services.paths, self.services.workspace

        def begin() -> None:
            try:
                workspace.hand_over(self._follow_started, start_sample_runs(plans_of(preset, paths)))
            except UsageError as error:
                workspace.hand_over(self.services.refuse, error)

        workspace.in_thread(begin)

    def _follow_started(self, sample_runs: list[SampleRun]) -> None:
        if not self._is_closed:
            self._show(sample_runs)
            self._following = start_task(follow_sample_runs(sample_runs, self._show), "sample runs")

    def _show(self, sample_runs: list[SampleRun]) -> None:
        self.controller.sample_runs = sample_runs
        self.changed()

    def action_launch_review(self) -> None:
        """Open the first sample run with problems, or else the first, in Review."""
        if (sample_run := self.controller.sample_run_to_review) is not None:
            self.services.navigator.open_review(sample_run.folder)

    def stop_following(self) -> None:
        """Stop following; the engines finish by themselves."""
        if self._following is not None:
            self._following.cancel()
            self._following = None

    def close(self) -> None:
        """Stop permanently, because the form was closed."""
        self._is_closed = True
        self.stop_following()


@dataclass
class PresetActions:
    """Saves and loads presets."""

    services: Services
    controller: LaunchController
    run_dialog: Callable[[Awaitable[None]], object]
    filled_in: Callable[[list[str]], None]
    """Called after a preset was loaded, with the reasons why chosen suites cannot be opened."""

    def action_preset_save(self) -> None:
        if mistakes := self.controller.mistakes:
            self.services.notify(one_line(mistakes[0], 200), severity="warning")
        else:
            self.run_dialog(self._ask_and_save())

    async def _ask_and_save(self) -> None:
        presets = load_presets(presets_files())
        proposal = self.controller.form.texts.get("name", "")
        if name := await self.services.ask(
            NameScreen("Save as preset", proposal, "nightly", partial(_preset_note, taken=list(presets.presets)))
        ):
            self._save(name, presets)

    def _save(self, name: str, presets: Presets) -> None:
        path = presets.files.get(name, presets_files()[-1])
        try:
            save_preset(path, name, self.controller.preset)
        except UsageError as error:
            self.services.refuse(error)
            return
        self.services.notify(Content.assemble("Saved ", one_line(name, 40), " in ", literal(str(path), 300)))

    def action_preset_load(self) -> None:
        self.run_dialog(self._ask_and_load())

    async def _ask_and_load(self) -> None:
        presets = load_presets(presets_files())
        name = await self.services.ask(PresetChooser(presets))
        if not name:
            return
        if presets.presets[name].changes:
            words = f"{name} changes requests in a way the form cannot show"
            self.services.refuse(UsageError(words, hint=f"`eval-console run --preset {name}` plays it."))
            return
        missing, problems = self.controller.fill_in(presets.presets[name])
        self.filled_in(problems)
        if missing:
            names = one_line(", ".join(missing), 200)
            words = Content.assemble(one_line(name, 40), "  refers to missing names: ", names)
            self.services.notify(words, severity="warning")
        else:
            self.services.notify(Content.assemble("Loaded ", one_line(name, 40), "."))


_PRESET_COLUMNS = (
    Column("preset", 12, 2),
    Column("models", 12, 3),
    Column("suites", 14, 3),
    Column("cases", 8, right=True),
)


def _preset_note(text: str, taken: Sequence[str]) -> NameNote:
    if len(text) > 60 or not text.isprintable():
        return NameNote("at most 60 printable characters", refuses=True)
    if text.strip() in taken:
        return NameNote("a preset of that name exists; enter replaces it", warns=True)
    return NameNote("`eval-console run --preset NAME` runs it")


class PresetChooser(FilterDialog[str]):
    """Returns the name of a preset, or None."""

    DEFAULT_CSS = """
    PresetChooser { align: center middle; background: transparent; }
    PresetChooser > Vertical { width: 96%; max-width: 110; margin-top: 0; padding: 0 1; }
    """

    def __init__(self, presets: Presets) -> None:
        rows = PresetRows(presets)
        nothing = "No matching preset." if presets.presets else "No presets saved yet. esc, then w saves the form."
        super().__init__(
            rows, _PRESET_COLUMNS, hint="type to filter", nothing=nothing, grows=True, title=Content("Presets"),
            names=True, about=rows.about,
        )  # fmt: skip


class PresetRows:
    """Saved presets, then the errors in their files."""

    def __init__(self, presets: Presets) -> None:
        self._presets = presets

    def narrowed(self, text: str) -> list[str]:
        ranks = {
            name: match_rank(text, name, *preset.models, *suite_words(preset.suites))
            for name, preset in self._presets.presets.items()
        }
        names = sorted((name for name in ranks if ranks[name] is not None), key=lambda name: ranks[name] or 0)
        mistakes = [] if text else [f"! {place}" for place in range(len(self._presets.mistakes))]
        return [*(f"= {name}" for name in names), *mistakes]

    def draw_row(self, key: str) -> Face:
        sign, _, name = key.partition(" ")
        if sign == "!":
            mistake = self._presets.mistakes[int(name)]
            words = f"{mistake.where}: {mistake.message}"
            return Content.assemble((f"{SYMBOLS.broken}  ", "bold $broken"), one_line(words, 200))
        return _preset_cells(name, self._presets.presets[name])

    def about(self, key: str) -> Content:
        """Return the file of a preset, or the whole error."""
        sign, _, name = key.partition(" ")
        if sign == "!":
            return literal(str(self._presets.mistakes[int(name)]), 600)
        return literal(f"in {display_path(self._presets.files[name])}", 300, MUTED)

    def answer(self, key: str) -> str | None:
        sign, _, name = key.partition(" ")
        return name if sign == "=" else None


def _preset_cells(name: str, preset: Preset) -> tuple[Content, ...]:
    cases = "failed of" if preset.only_failed_of else "ids" if preset.ids else "all"
    return (
        one_line(name, 60, "bold"),
        one_line(", ".join(preset.models), 100),
        one_line(", ".join(suite_words(preset.suites)), 100),
        Content(number_format.count(preset.limit) if preset.limit is not None else cases),
    )
