"""`SampleRunActions`: `t` plays three cases of each run before the whole is started, `v` looks at what came of it."""

import asyncio
from collections.abc import Awaitable, Callable

from textual.content import Content

from console.core.fault import UsageError
from console.engine.matrix import plans_of
from console.tui.data.sample_run import SampleRun, follow_sample_runs, start_sample_runs
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.sanitize import literal, one_line
from console.tui.screens.launch.controller import LaunchController
from console.tui.services import Services


class SampleRunActions:
    """What the form does with sample runs."""

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
            changed: called whenever the sample runs have come further.
            leave: closes the form.
        """
        self._services = services
        self._controller = controller
        self._run_dialog = run_dialog
        self._changed = changed
        self._leave = leave
        self._following: asyncio.Task[None] | None = None
        self._is_closed = False

    def action_launch_try(self) -> None:
        """Play three cases of each run for real."""
        if reason := self._controller.why_not_start():
            self._services.notify(one_line(reason, 300), severity="warning")
        elif not self._controller.is_sampling:
            self._run_dialog(self._ask_and_sample())

    async def _ask_and_sample(self) -> None:
        if cost := self._controller.sample_cost_at_stake:
            price = (f"Trying alone will cost about ${cost:,.2f}.", "bold")
            question = Question(Content.assemble(price, "\nTry three cases of each?"), [Answer("y", "try")])
            if await self._services.ask(question) != "y":
                return
        preset, paths, workspace = self._controller.preset, self._services.paths, self._services.workspace

        def begin() -> None:
            try:
                workspace.hand_over(self._take_started, start_sample_runs(plans_of(preset, paths)))
            except UsageError as error:
                workspace.hand_over(self._refuse, error)

        workspace.in_thread(begin)

    def _take_started(self, sample_runs: list[SampleRun]) -> None:
        if not self._is_closed:
            self._show(sample_runs)
            self._following = asyncio.create_task(follow_sample_runs(sample_runs, self._show))

    def _show(self, sample_runs: list[SampleRun]) -> None:
        self._controller.sample_runs = sample_runs
        self._changed()

    def _refuse(self, error: UsageError) -> None:
        self._services.notify(literal(str(error), 600), severity="error")

    def action_launch_review(self) -> None:
        """Look at the first sample run that went wrong, or at the first one."""
        if (sample_run := self._controller.telling_sample_run) is not None:
            self._leave()
            self._services.navigator.open_review(sample_run.folder)

    def stop_following(self) -> None:
        """Leave the engines to finish by themselves."""
        if self._following is not None:
            self._following.cancel()
            self._following = None

    def close(self) -> None:
        """Take up nothing any more: the form is gone."""
        self._is_closed = True
        self.stop_following()
