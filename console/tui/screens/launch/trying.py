"""`SampleRunActions`: `t` asks three cases of each run before the whole is started, and shows the results."""

import asyncio

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.engine.forecast import ASK_ABOVE_USD
from console.engine.matrix import plans_of
from console.tui.dialogs.question import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.form_state import FormScreen
from console.tui.screens.launch.sample_run import SampleRun, start_trials, trial_cost, watch
from console.tui.services import Services


class SampleRunActions(FormScreen):
    """The part of the screen; see the module."""

    def __init__(self, services: Services) -> None:
        """Try nothing yet."""
        super().__init__(services)
        self.trials: list[SampleRun] = []
        """What was tried of the form as it stands now."""
        self._watching: asyncio.Task[None] | None = None

    @property
    def is_trying(self) -> bool:
        """Whether cases are being tried now."""
        return any(not trial.is_over for trial in self.trials)

    def changed(self) -> None:
        """What was tried of another form says nothing of this one."""
        self._forget()
        super().changed()

    def on_unmount(self) -> None:
        """Leave the engines to finish by themselves."""
        self._forget()

    def _forget(self) -> None:
        self.trials = []
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    @work(exclusive=True, group="ask")
    async def action_launch_try(self) -> None:
        """Ask three cases of each run for real."""
        if reason := self.why_not_start():
            self.services.notify(one_line(reason, 300), severity="warning")
            return
        if self.is_trying or self.forecast is None:
            return
        cost = trial_cost(self.forecast)
        if cost > ASK_ABOVE_USD:
            text = Content.assemble(
                (f"Trying alone will cost about ${cost:,.2f}.", "bold"), "\nTry three cases of each?"
            )
            if await self.services.ask(Question(text, [Answer("y", "try")])) != "y":
                return
        preset, places, workspace = self.preset, self.services.paths, self.services.workspace

        def begin() -> None:
            try:
                workspace.hand_over(self._took_off, start_trials(plans_of(preset, places)))
            except UsageError as error:
                workspace.hand_over(self._refuse_trial, error)

        workspace.in_thread(begin)

    def why_not_start(self) -> str:
        """Return what stands in the way of asking anything, or nothing. May hold foreign text."""
        if mistakes := self.mistakes:
            return mistakes[0]
        if self.forecast is None:
            return "one moment: it is being worked out what this will take"
        return "\n".join(self.refusals[0]).strip() if self.refusals else ""

    def _took_off(self, trials: list[SampleRun]) -> None:
        if self.is_running:
            self._take(trials)
            self._watching = asyncio.create_task(watch(trials, self._take))

    def _take(self, trials: list[SampleRun]) -> None:
        self.trials = trials
        self.show_outlook()
        self.refresh_keys()

    def _refuse_trial(self, error: UsageError) -> None:
        self.services.notify(literal(str(error), 600), severity="error")

    def action_launch_review(self) -> None:
        """Look at the first trial that went wrong, or at the first one."""
        wrong = [one for one in self.trials if one.problem or one.tally.failed or one.tally.broken]
        for trial in (wrong or self.trials)[:1]:
            self.dismiss(None)
            self.services.navigator.open_review(trial.folder)
