"""`KeyActions`: a reader's decisions on suspect keys, kept as errata of the suite."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from console.config.paths import expanded
from console.core.fault import UsageError
from console.exchange.exports.files import write_file
from console.exchange.suspects import decision_on, errata_file, errata_markdown
from console.insight.number_format import plural
from console.store.errata import AMBIGUOUS, RIGHT, WRONG, Erratum, read_errata
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import CommentScreen
from console.tui.render.columns import Column
from console.tui.sanitize import one_line
from console.tui.screens.grid.controller import GridController, SuspectKeys, keep_errata, read_suspects
from console.tui.services import Services
from console.tui.symbols import muted

_COLUMNS = (Column("answer", 40, 3), Column("given by", 12, 1))
_TYPED = "\0"
"""Key of the row for typing the right answer; no answer can be equal to it."""


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
            await asyncio.to_thread(keep_errata, runs, data, {case: erratum})
            self.show(await asyncio.to_thread(read_suspects, runs, data))
        except (UsageError, OSError) as error:
            self.services.refuse(error)

    def action_erratum_upstream(self) -> None:
        self.start(self._write_upstream())

    async def _write_upstream(self) -> None:
        """Write wrong and ambiguous keys as the text of an issue, next to the errata."""
        keys, runs = self.controller.suspects, self.controller.runs
        if keys is None:
            return
        try:
            suite = runs[0].summary().suite
            path = errata_file(self.services.paths.data, suite).with_suffix(".md")
            text = errata_markdown(suite, keys.answers, keys.errata)
            await asyncio.to_thread(write_file, path, text.encode())
        except UsageError as error:
            self.services.refuse(error)
            return
        written = plural(sum(each.decision != RIGHT for each in keys.errata.values()), "contested key")
        words = Content.assemble(f"{written} written to ", one_line(str(path), 200, "bold"))
        self.services.notify(words.append("; share the .toml next to it."))

    def action_erratum_import(self) -> None:
        self.start(self._import())

    async def _import(self) -> None:
        """Add the errata in a file from somebody else."""
        runs, data = self.controller.runs, self.services.paths.data
        typed = await self.services.ask(CommentScreen(Content.styled("File of errata to add", "bold"), ""))
        if not typed:
            return
        try:
            added = await asyncio.to_thread(_read_shared, typed.strip())
            await asyncio.to_thread(keep_errata, runs, data, added)
            self.show(await asyncio.to_thread(read_suspects, runs, data))
        except (UsageError, OSError) as error:
            self.services.refuse(error)
            return
        self.services.notify(Content(f"{plural(len(added), 'decision')} added."))

    async def _right_answer(self, keys: SuspectKeys, case: str) -> str | None:
        """Ask for the right answer: an existing one, or a typed one; empty if it is unknown, None to cancel."""
        given = Counter(each.answer for each in keys.answers.by_case[case].values() if not each.passed and each.answer)
        rows = {answer: (one_line(answer, 200), muted(plural(count, "model"))) for answer, count in given.most_common()}
        rows[_TYPED] = (muted("another answer, typed, or none"), Content.empty())
        chosen = await self.services.ask(Chooser(Content.styled("Which answer is right?", "bold"), _COLUMNS, rows, ""))
        if chosen != _TYPED:
            return chosen
        return await self.services.ask(CommentScreen(Content.styled("The right answer", "bold"), ""))


def _read_shared(typed: str) -> dict[str, Erratum]:
    """Read the errata of a file that a user named.

    Raises:
        UsageError: it cannot be read.
    """
    path = expanded(typed)
    if not path.is_file():
        raise UsageError("there is no such file", where=str(path))
    return read_errata(path)
