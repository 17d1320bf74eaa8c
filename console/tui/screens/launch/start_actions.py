"""`StartActions`: enter starts the runs of the form, asking first if much money is at stake; `y c` copies a command."""

from collections.abc import Awaitable, Callable

from textual.content import Content

from console.config.preset import Preset
from console.core.fault import UsageError
from console.engine.matrix import plans_of
from console.insight import number_format
from console.store.runs import RunFolder
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.controller import LaunchController
from console.tui.screens.launch.form import command_of
from console.tui.services import Services


class StartActions:
    """What the form does to start runs."""

    def __init__(
        self,
        services: Services,
        controller: LaunchController,
        *,
        run_dialog: Callable[[Awaitable[None]], object],
        changed: Callable[[], None],
        leave: Callable[[], object],
    ) -> None:
        """Act on a form.

        Args:
            services: what the app does for screens.
            controller: the form.
            run_dialog: runs what asks the reader something.
            changed: called when starting has begun, and when it came to nothing.
            leave: closes the form.
        """
        self._services = services
        self._controller = controller
        self._run_dialog = run_dialog
        self._changed = changed
        self._leave = leave

    def action_launch_start(self) -> None:
        """Start one run for each model and suite, after asking if much money is at stake."""
        start = self._controller.request_start()
        if start == "now":
            self._run_dialog(self._ask_and_start(self._controller.preset))
        elif start == "refused":
            severity = "warning" if self._controller.mistakes else "error"
            self._services.notify(literal(self._controller.why_not_start(), 600), severity=severity)

    async def _ask_and_start(self, preset: Preset) -> None:
        forecast, at_stake = self._controller.forecast, self._controller.at_stake
        if forecast is not None and at_stake:
            reasons = Content("\n").join(one_line(reason, 300, "bold") for reason in at_stake)
            text = Content.assemble(reasons, f"\nStart {number_format.plural(len(forecast.runs), 'run')}?")
            if await self._services.ask(Question(text, [Answer("y", "start")])) != "y":
                return
        self._controller.is_starting = True
        self._changed()
        self._services.workspace.in_thread(lambda: self._start_runs(preset))

    def _start_runs(self, preset: Preset) -> None:
        """Start engines, or put the runs into the queue; for a thread."""
        from console.engine.launch import enqueue, spawn

        runs: list[RunFolder] = []
        refusal: UsageError | None = None
        try:
            plans = plans_of(preset, self._services.paths)
            runs.extend(enqueue(plans) if preset.queue else map(spawn, plans))
        except UsageError as error:
            refusal = error
        self._services.workspace.hand_over(self._take_started, runs, refusal)

    def _take_started(self, runs: list[RunFolder], refusal: UsageError | None) -> None:
        navigator, workspace = self._services.navigator, self._services.workspace
        self._controller.is_starting = False
        navigator.take_launched(runs)
        if refusal is not None:
            self._services.notify(literal(str(refusal), 600), severity="error")
        if not runs:
            self._changed()
            return
        self._leave()
        line = workspace.find(runs[0].path)
        if line is not None and line.place > 1:
            words = f"Queued: {number_format.plural(len(runs), 'run')}, from place {line.place} on."
            self._services.notify(Content(words))
            navigator.go_home()
        else:
            navigator.open_live(runs[0])

    def action_copy_command(self) -> None:
        """Copy the shell command that starts the same runs."""
        if not self._controller.mistakes:
            self._services.copy(command_of(self._controller.preset, self._services.paths), "the shell command")
