"""Checking the endpoint of a model: choose it, see the cost, and read how the server deviates."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from console.config.models import facts
from console.core.fault import UsageError
from console.store.endpoint_checks import check_notice, check_size
from console.tui.data.models import ModelLine
from console.tui.data.verb_output import verb_output
from console.tui.dialogs.filter_dialog import FilterDialog
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render.columns import Column
from console.tui.sanitize import literal, one_line
from console.tui.screens.home.adding import JsonRows
from console.tui.services import Services
from console.tui.symbols import MUTED, SYMBOLS, muted

_MODELS = (Column("", 1), Column("model", 24, 1), Column("server", 40, 1))
_FINDINGS = (Column("", 1), Column("question", 22), Column("finding", 40, 1))
_STYLES = {"bad": "$fail", "warning": "$undecided", "good": "$pass"}
"""By state of a finding, in the order of the list."""


@dataclass
class EndpointChecking:
    """The dialogs that check an endpoint."""

    services: Services

    async def ask_and_check(self, name: str) -> None:
        """Check the endpoint of a model; without such a model, ask for one."""
        models = self.services.workspace.models
        lines = [line for line in models.lines if line.ready and not line.simulated] if models is not None else []
        line = next((line for line in lines if line.name == name), None) or await self._choose(lines)
        if line is None or not await self._is_confirmed(line):
            return
        self.services.notify(Content.assemble("Checking the endpoint of ", one_line(line.name, 60, "bold"), " …"))
        path = (models.path if models is not None else None) or self.services.paths.models
        try:
            checked = await asyncio.to_thread(verb_output, path, "doctor", "--try", line.name)
        except UsageError as error:
            self.services.refuse(error)
            return
        await self._show(line, checked["findings"])

    async def _choose(self, lines: Sequence[ModelLine]) -> ModelLine | None:
        if not lines:
            self.services.notify(Content("No model with a server and a key can be checked."))
            return None
        listed = [{"name": line.name, "title": line.model_id, "line": line} for line in lines]
        rows = JsonRows(listed, "name", _model_cells)
        hint, nothing = "a word of the model to check", "No model matches."
        chosen = await self.services.ask(
            FilterDialog[dict[str, Any]](rows, _MODELS, hint=hint, nothing=nothing, grows=True)
        )
        return chosen["line"] if chosen is not None else None

    async def _is_confirmed(self, line: ModelLine) -> bool:
        models = self.services.workspace.models
        if models is None or models.book is None:
            return False
        model = facts(models.book.models[line.name])
        notice = check_notice(model)
        about = (
            literal(f"{notice[:1].upper()}{notice[1:]}.", 600, MUTED) if notice else muted("The last check was clean.")
        )
        text = Content.assemble(
            "Check the endpoint of ", one_line(line.name, 60, "bold"), f"?\n{check_size(model)}\n\n", about
        )  # fmt: skip
        return await self.services.ask(Question(text, [Answer("y", "check it")])) == "y"

    async def _show(self, line: ModelLine, findings: Sequence[dict[str, Any]]) -> None:
        """List the finding of each question, faults first, with the effect on scores below."""
        ordered = sorted(findings, key=lambda finding: list(_STYLES).index(finding["state"]))
        rows = {str(finding["name"]): finding for finding in ordered}
        wrong = sum(finding["state"] != "good" for finding in ordered)
        words = f"{wrong} of {len(ordered)} answers are not as they should be" if wrong else "nothing is wrong"
        dialog = FilterDialog[dict[str, Any]](
            JsonRows(ordered, "name", _finding_cells),
            _FINDINGS,
            hint="filter findings",
            nothing="No finding matches.",
            title=Content.assemble(one_line(line.name, 40, "bold"), f"  {words}"),
            about=lambda key: literal(f"{rows[key]['text']}. {rows[key]['hint']}", 600, MUTED),
        )
        await self.services.ask(dialog)


def _model_cells(row: dict[str, Any]) -> tuple[Content, ...]:
    line: ModelLine = row["line"]
    server = line.addresses[0] if line.addresses else line.provider
    return Content(""), one_line(line.name, 60), one_line(server, 100, MUTED)


def _finding_cells(finding: dict[str, Any]) -> tuple[Content, ...]:
    state = str(finding["state"])
    sign = {"bad": SYMBOLS.failed, "warning": SYMBOLS.undecided, "good": SYMBOLS.passed}[state]
    return (
        Content.styled(sign, _STYLES[state]),
        one_line(str(finding["name"]), 60),
        one_line(str(finding["text"]), 200, MUTED),
    )
