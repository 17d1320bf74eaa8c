"""`KeyActions`: a reader's decisions on suspect keys, kept as errata of the suite."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from console.core.fault import UsageError
from console.exchange.suspects import decision_on
from console.insight.number_format import plural
from console.store.errata import AMBIGUOUS, RIGHT, WRONG
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import CommentScreen
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.screens.grid.controller import GridController, SuspectKeys, keep_erratum, read_suspects
from console.tui.services import Services
from console.tui.symbols import muted

_COLUMNS = (Column("answer", 40, 3), Column("given by", 12, 1))
_TYPED = "\0"
"""Key of the row that lets the reader type the right answer; no answer can be equal to it."""


@dataclass
class KeyActions:
    """Handles decisions on the key of the current case."""

    services: Services
    controller: GridController
    show: Callable[[SuspectKeys], None]
    """Lists the keys after a decision."""
    start: Callable[[Coroutine[Any, Any, None]], None]
    """Starts a dialog."""

    def action_erratum_right(self) -> None:
        self.start(self._decide(RIGHT))

    def action_erratum_wrong(self) -> None:
        self.start(self._decide(WRONG))

    def action_erratum_ambiguous(self) -> None:
        self.start(self._decide(AMBIGUOUS))

    async def _decide(self, decision: str) -> None:
        keys, current = self.controller.suspects, self.controller.current
        if keys is None or current is None:
            self.services.notify(Content("There is no suspect key under the cursor."))
            return
        case = current.slot[0]
        answer = await self._right_answer(keys, case) if decision == WRONG else ""
        if answer is None:
            return
        title = Content.assemble((decision, "bold"), ", because …   ", one_line(case, 40))
        reason = await self.services.ask(CommentScreen(title, ""))
        if reason is None:
            return
        runs, data = self.controller.runs, self.services.paths.data
        try:
            erratum = decision_on(keys.answers, case, decision, answer=answer, reason=reason)
            await asyncio.to_thread(keep_erratum, runs, data, erratum)
            self.show(await asyncio.to_thread(read_suspects, runs, data))
        except (UsageError, OSError) as error:
            self.services.refuse(error)

    async def _right_answer(self, keys: SuspectKeys, case: str) -> str | None:
        """Ask for the right answer: one of those given, or typed; empty if it is not known, None to cancel."""
        given = Counter(each.answer for each in keys.answers.by_case[case].values() if not each.passed and each.answer)
        rows = {answer: (one_line(answer, 200), muted(plural(count, "model"))) for answer, count in given.most_common()}
        rows[_TYPED] = (muted("another answer, typed, or none"), Content.empty())
        chosen = await self.services.ask(Chooser(Content.styled("Which answer is right?", "bold"), _COLUMNS, rows, ""))
        if chosen != _TYPED:
            return chosen
        return await self.services.ask(CommentScreen(Content.styled("The right answer", "bold"), ""))
