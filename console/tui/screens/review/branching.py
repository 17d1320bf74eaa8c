"""Asking the current case anew as a run of its own: same or other model, same or edited prompt; then both in Compare.

The new run is linked to this one and never enters its score; `run.again` is what adds an attempt to this run instead.
"""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from textual import work
from textual.app import SuspendNotSupported
from textual.content import Content

from console.core.case import Edit
from console.core.fault import UsageError
from console.insight import number_format
from console.insight.prompt_edit import as_text, from_text, opening_of
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.tui.dialogs.question import Answer, Question
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.screens.review.case_base import CaseScreen


class Branching(CaseScreen):
    """Branches of the current case."""

    @work(exclusive=True, group="branch")
    async def action_branch_same(self) -> None:
        """Ask the same model the same."""
        await self._branch()

    @work(exclusive=True, group="branch")
    async def action_branch_model(self) -> None:
        """Ask another model the same."""
        await self._branch(other=True)

    @work(exclusive=True, group="branch")
    async def action_branch_prompt(self) -> None:
        """Edit the prompt and ask the same model."""
        await self._branch(edited=True)

    @work(exclusive=True, group="branch")
    async def action_branch_both(self) -> None:
        """Edit the prompt and ask another model."""
        await self._branch(other=True, edited=True)

    async def _branch(self, *, other: bool = False, edited: bool = False) -> None:
        rollout = self.rollout
        if rollout is None or self.feed is None:
            return
        try:
            model = await self._other_model() if other else self.feed.manifest.model.name
            edit = self._edited() if edited and model else None
        except (UsageError, OSError, ValueError, SuspendNotSupported) as error:
            self.services.notify(literal(str(error), 600), severity="error")
            return
        if not model or (edited and edit is None) or not await self._is_worth(rollout, model):
            return
        self._spawn(rollout, model, edit)

    async def _other_model(self) -> str:
        from console.tui.dialogs.chooser import Chooser

        assert self.feed is not None
        models = self.services.workspace.models
        known = [it for it in (models.lines if models else ()) if it.ready and it.name != self.feed.manifest.model.name]
        title = Content.assemble("Ask ", one_line(self.current[0] if self.current else "", 50, "bold"), " of …")
        lines = {it.name: row_cells.model_cells(it) for it in known}
        chosen = await self.services.ask(
            Chooser(title, row_cells.MODELS, lines, "No other model is ready. e on Home opens models.toml.")
        )
        return chosen or ""

    def _edited(self) -> Edit | None:
        """Let the reader edit the opening; None when nothing was changed."""
        subject = self.subject()
        if subject is None:
            return None
        before = opening_of(subject.conversation)
        text = as_text(before)
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="prompt-", delete=False, encoding="utf-8") as file:
            file.write(text)
        try:
            with self.services.suspend():
                subprocess.run([*shlex.split(editor), file.name], check=False)  # noqa: S603 - the reader's own editor
            after = Path(file.name).read_text(encoding="utf-8")
        finally:
            Path(file.name).unlink(missing_ok=True)
        if after == text:
            self.services.notify(Content("The prompt was left as it was; nothing is asked."))
            return None
        return Edit(tuple(before), tuple(from_text(after)))

    async def _is_worth(self, rollout: Rollout, model: str) -> bool:
        """Ask before money is spent."""
        models = self.services.workspace.models
        line = next((it for it in (models.lines if models else ()) if it.name == model), None)
        if line is None or not line.is_priced:
            return True
        price = "price unknown"
        if line.price_in is not None and line.price_out is not None:
            cost = (rollout.input_tokens * line.price_in + rollout.output_tokens * line.price_out) / 1e6
            price = f"about {number_format.money(cost)}"
        text = Content.assemble("Ask ", one_line(model, 40, "bold"), " this case? ", (price, "bold"))
        return bool(await self.services.ask(Question(text, [Answer("y", "ask")])))

    @work(thread=True, group="spawn")
    def _spawn(self, rollout: Rollout, model: str, edit: Edit | None) -> None:
        from console.engine.branch import branch_plan
        from console.engine.launch import spawn

        assert self.feed is not None
        places, run = self.services.paths, self.run_folder
        plan = branch_plan(
            run.name,
            self.feed.manifest,
            (rollout.key.case,),
            model=model,
            edit=edit,
            models_path=places.models,
            data_path=places.data,
            runs_path=run.path.parent,
        )
        try:
            branch = spawn(plan)
        except UsageError as error:
            self.services.from_thread(self.services.notify, literal(str(error), 600), severity="error")
            return
        self.services.from_thread(self._show_both, branch)

    def _show_both(self, branch: RunFolder) -> None:
        self.services.navigator.take_launched([branch])
        self.services.navigator.open_compare(self.run_folder, branch)

    def action_mark(self) -> None:
        """Mark this run for Compare; a second mark opens it."""
        self.services.navigator.mark_for_compare(self.run_folder, self.current[0] if self.current else "")
