"""`RetryActions`: asking a case again: as a new attempt beside the old ones, or anew as a run of its own.

A run of its own may have another model or an edited prompt; it is linked to this one, never enters its score, and is
shown beside it in Compare. The price comes first.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.content import Content

from console.core.case import Edit
from console.core.fault import UsageError
from console.core.live import Command
from console.insight import number_format
from console.insight.prompt_edit import as_text, from_text, opening_of
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.data.run_feed import RunFeed
from console.tui.dialogs.small_dialogs import Answer, Chooser, Question
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.controller import ReviewController
from console.tui.screens.review.workers import StartWorker
from console.tui.services import Services

ASK_ABOVE_USD = 0.05
"""A single case that costs less, or nothing, is asked again without a question."""


class RetryActions:
    """Asks cases of a run again."""

    def __init__(self, services: Services, run: RunFolder, controller: ReviewController, start: StartWorker) -> None:
        """Ask the controller's current or listed cases of a run again; dialogs are asked in a worker."""
        self._services = services
        self._run_folder = run
        self._controller = controller
        self._start = start
        self.feed: RunFeed | None = None
        """The run's feed, by which a live engine is told."""

    # Further attempts ------------------------------------------------------------------------------------------------

    def action_run_again(self) -> None:
        """Ask the current case again."""
        rollout = self._controller.rollout
        if rollout is not None:
            self._start(self._retry([rollout]), group="retry")

    def action_run_again_shown(self) -> None:
        """Ask everything that is listed again."""
        rollouts = list(self._controller.triage.order)
        if rollouts:
            self._start(self._retry(rollouts), group="retry")

    async def _retry(self, rollouts: Sequence[Rollout]) -> None:
        if not await self._is_agreed(rollouts):
            return
        if self.feed is not None and self.feed.is_attached:
            for rollout in rollouts:
                self.feed.send(Command("retry_case", key=rollout.key))
            count = number_format.plural(len(rollouts), "case")
            self._services.notify(Content(f"Asking {count} again in the live run."))
            return
        from console.engine.process import spawn_engine
        from console.engine.queue import RetryScope

        paths = self._services.paths
        cases = tuple(dict.fromkeys(rollout.key.case for rollout in rollouts))
        try:
            spawn_engine(
                self._run_folder, retry=RetryScope.FAILED, only=cases, models_path=paths.models, data_path=paths.data
            )
        except UsageError as error:
            self._services.notify(literal(str(error)), severity="error")
            return
        self._services.notify(Content(f"Asking {number_format.plural(len(cases), 'case')} again; 2 watches it."))

    async def _is_agreed(self, rollouts: Sequence[Rollout]) -> bool:
        """Ask before much money is spent, or nobody knows how much."""
        costs = [rollout.cost_usd for rollout in rollouts]
        total = sum(cost or 0.0 for cost in costs)
        is_free = self.feed is not None and self.feed.manifest.simulated and not total
        if len(rollouts) == 1 and (is_free or (costs[0] is not None and total < ASK_ABOVE_USD)):
            return True
        price = "free, simulated" if is_free else f"about {number_format.money(total, at_least=None in costs)}"
        name = one_line(str(rollouts[0].key), 40, "bold") if len(rollouts) == 1 else Content(f"{len(rollouts)} cases")
        text = Content.assemble("Ask ", name, " again? ", (price, "bold"), "\nThe old attempts are kept.")
        return bool(await self._services.ask(Question(text, [Answer("y", "ask again")])))

    # Runs of their own -----------------------------------------------------------------------------------------------

    def action_branch_same(self) -> None:
        """Ask the same model the same."""
        self._start(self._branch(), group="branch")

    def action_branch_model(self) -> None:
        """Ask another model the same."""
        self._start(self._branch(with_other_model=True), group="branch")

    def action_branch_prompt(self) -> None:
        """Edit the prompt and ask the same model."""
        self._start(self._branch(with_edit=True), group="branch")

    def action_branch_both(self) -> None:
        """Edit the prompt and ask another model."""
        self._start(self._branch(with_other_model=True, with_edit=True), group="branch")

    async def _branch(self, *, with_other_model: bool = False, with_edit: bool = False) -> None:
        rollout, feed = self._controller.rollout, self.feed
        if rollout is None or feed is None:
            return
        own_model = feed.manifest.model.name
        try:
            model = await self._choose_model(rollout, own_model) if with_other_model else own_model
            edit = self._edit_prompt() if with_edit and model else None
        except (UsageError, OSError, ValueError, SuspendNotSupported) as error:
            self._services.notify(literal(str(error), 600), severity="error")
            return
        if model and (edit is not None or not with_edit) and await self._is_worth_it(rollout, model):
            self._start(lambda: self._spawn_branch(feed, rollout, model, edit), group="spawn")

    async def _choose_model(self, rollout: Rollout, own_model: str) -> str:
        """Let the reader choose another model that is ready; an empty text when nothing was chosen."""
        models = self._services.workspace.models
        ready = [line for line in (models.lines if models else ()) if line.ready and line.name != own_model]
        title = Content.assemble("Ask ", one_line(rollout.key.case, 50, "bold"), " of …")
        rows = {line.name: row_cells.model_cells(line) for line in ready}
        chosen = await self._services.ask(
            Chooser(title, row_cells.MODELS, rows, "No other model is ready. e on Home opens models.toml.")
        )
        return chosen or ""

    def _edit_prompt(self) -> Edit | None:
        """Let the reader edit the opening; None when nothing was changed."""
        case = self._controller.case()
        if case is None:
            return None
        before = opening_of(case.conversation)
        text = as_text(before)
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="prompt-", delete=False, encoding="utf-8") as file:
            file.write(text)
        try:
            with self._services.suspend():
                subprocess.run([*shlex.split(editor), file.name], check=False)  # noqa: S603 - the reader's own editor
            after = Path(file.name).read_text(encoding="utf-8")
        finally:
            Path(file.name).unlink(missing_ok=True)
        if after == text:
            self._services.notify(Content("The prompt was left as it was; nothing is asked."))
            return None
        return Edit(tuple(before), tuple(from_text(after)))

    async def _is_worth_it(self, rollout: Rollout, model: str) -> bool:
        """Ask before money is spent."""
        models = self._services.workspace.models
        line = models.find(model) if models else None
        if line is None or not line.is_priced:
            return True
        price = "price unknown"
        if line.price_in is not None and line.price_out is not None:
            cost = (rollout.input_tokens * line.price_in + rollout.output_tokens * line.price_out) / 1e6
            price = f"about {number_format.money(cost)}"
        text = Content.assemble("Ask ", one_line(model, 40, "bold"), " this case? ", (price, "bold"))
        return bool(await self._services.ask(Question(text, [Answer("y", "ask")])))

    def _spawn_branch(self, feed: RunFeed, rollout: Rollout, model: str, edit: Edit | None) -> None:
        """Start the run; in a thread."""
        from console.engine.branch import branch_plan
        from console.engine.launch import spawn

        paths = self._services.paths
        plan = branch_plan(
            self._run_folder.name,
            feed.manifest,
            (rollout.key.case,),
            model=model,
            edit=edit,
            models_path=paths.models,
            data_path=paths.data,
            runs_path=self._run_folder.path.parent,
        )
        try:
            branch = spawn(plan)
        except UsageError as error:
            self._services.from_thread(self._services.notify, literal(str(error), 600), severity="error")
            return
        self._services.from_thread(self._show_both, branch)

    def _show_both(self, branch: RunFolder) -> None:
        self._services.navigator.take_launched([branch])
        self._services.navigator.open_compare(self._run_folder, branch)
