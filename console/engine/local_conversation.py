"""One conversation played in this process, from its first effect to its verdict.

Every error in it becomes an outcome with a cause.
"""

import asyncio
import os
import time
from contextvars import ContextVar
from typing import Any, Protocol

from console.core.captured_output import CapturedOutput, capture_output
from console.core.fault import Fault, FaultKind, UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.core.run import Manifest, ModelFacts
from console.core.signalled import BySignal
from console.engine.budget import BudgetReached, cost_of, cost_of_embedding
from console.engine.journal_door import check_data
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects
from console.engine.stage import JournaledStage, StageChanges, StageContext, Unanswered
from console.suites.guard import SuiteError, describe_error, end_copy_of, place_of
from console.suites.suite import BEFORE_FIRST, EarlierOutput, Suite

_LONG = 20_000
"""Replies with more characters are graded in a thread, as decoding them may take a second."""
PLAYING: "ContextVar[LocalConversation | None]" = ContextVar("playing", default=None)
"""The conversation that started the current task or callback."""


class EngineContext(StageContext, Protocol):
    """The parts of the engine that a conversation needs."""

    def facts(self, role: str) -> ModelFacts:
        """Return the manifest's facts about a role's model."""
        ...


class LocalConversation:
    """Plays one job (see `player.PlayedConversation`)."""

    def __init__(
        self, job: Job, recorded: ConversationEffects, context: EngineContext, suite: Suite, manifest: Manifest
    ) -> None:
        self.job, self.recorded, self.context, self.suite = job, recorded, context, suite
        self.setting = manifest.setting
        changes = StageChanges.of(manifest, job.key)
        self._states = suite.effect_states()
        self.stage = JournaledStage(job.key, recorded, context, changes, self._states)
        self.fault: Fault | None = None
        self._began = time.monotonic()
        self._printed = CapturedOutput()
        self._task: asyncio.Task[Any] | None = None
        self._stray: BaseException | None = None
        """Exception of a callback or task that the conversation started."""

    async def play(self) -> Finished:
        """Play and judge.

        Raises:
            BudgetReached: the run's budget is used up; the conversation stays open.
            asyncio.CancelledError: the conversation was stopped.
        """
        self._task, token, process = asyncio.current_task(), PLAYING.set(self), os.getpid()
        try:
            with capture_output() as self._printed:
                return await self._play()
        finally:
            end_copy_of(process)
            self._task = None
            PLAYING.reset(token)

    def break_off(self, error: BaseException) -> bool:
        """Break the conversation because of an error in its own callback or task; return False if it has ended."""
        if self._task is None:
            return False
        self._stray = self._stray or error
        self._task.cancel()
        return True

    async def _play(self) -> Finished:
        try:
            output = await self._output()
            verdict = await self._score(output)
            if self._stray is not None:
                raise self._stray
            return self.finished(verdict, output)
        except (BudgetReached, BySignal):
            raise
        except asyncio.CancelledError:
            if self._stray is None:
                raise
            if self._task is not None:
                self._task.uncancel()
            return self._broken_by(self._stray)
        except BaseException as error:
            if isinstance(error, GeneratorExit) and self._is_being_closed:
                raise
            return self._broken_by(error)

    async def _output(self) -> Any:
        """Play the conversation, or replay the one being regraded."""
        earlier, case = self.recorded.earlier, self.job.case
        if earlier is None or not earlier.is_closed or earlier.finished is None:
            check_data(case.data)
            if state := self._states.get(BEFORE_FIRST):
                self.context.state(self.job.key, state)
            return await self.suite.play(case, self.stage, self.setting)
        if earlier.is_taken_whole:
            self.stage.take_over_all()
        asked = tuple(earlier.effects.threads["model"].messages)
        output = EarlierOutput(earlier.finished.output, earlier.finished.verdict, asked)
        return await self.suite.play_again(case, self.stage, self.setting, output)

    def _broken_by(self, error: BaseException) -> Finished:
        """Return the record of a conversation ended by an error, which breaks one rollout, never the run."""
        earlier = self.recorded.earlier
        if isinstance(error, Unanswered) and earlier is not None and earlier.finished is not None:
            was = earlier.finished.verdict
            # a conversation broken by its model or machinery stays broken under any grader
            return self.finished(was if was.outcome is Outcome.BROKEN else broken(error, error.detail))
        match error:
            case Fault():
                fault = self.fault = error
            case SuiteError():
                fault = Fault(FaultKind.SUITE, str(error))
            case UsageError():
                fault = Fault(FaultKind.DATA, str(error))
            case _:
                fault = Fault(FaultKind.SUITE, describe_error(error, self.suite))
        return self.finished(broken(fault))

    @property
    def _is_being_closed(self) -> bool:
        """True if this coroutine is being closed instead of run, because its task was abandoned."""
        try:
            return asyncio.current_task() is not self._task
        except RuntimeError:  # there is no loop
            return True

    async def _score(self, output: Any) -> Verdict:
        if self.recorded.unused:
            first, unused = self.recorded.first_unused, self.recorded.unused
            words = f"went another way at call {first}; recorded effects not requested again: {unused}"
            self.stage.note("divergence", words)
        earlier, case, suite = self.recorded.earlier, self.job.case, self.suite
        if earlier is not None and earlier.is_taken_whole and earlier.finished is not None:
            was = earlier.finished.verdict
            if was.outcome is Outcome.BROKEN:  # in the other tool, under any grader
                return was
        if suite.scores_slowly(case) or self.stage.reply_characters > _LONG:
            return await asyncio.to_thread(suite.score, case, output, self.setting)
        return suite.score(case, output, self.setting)

    @property
    def _seconds(self) -> float:
        """Duration of the conversation in seconds; for a regrade, that of the earlier play."""
        earlier = self.recorded.earlier
        if earlier is not None and earlier.is_closed and earlier.finished is not None:
            return earlier.finished.seconds
        return round(time.monotonic() - self._began, 6)

    def finished(self, verdict: Verdict, output: Any = None) -> Finished:
        """Return the final record, including the conversation's cost.

        Raises:
            SuiteError: the verdict or the output does not survive the journal.
        """
        if printed := self._printed.text:
            self.stage.note("printed", printed.encode("utf-8", "backslashreplace").decode())
        costs = [
            cost_of(reply, self.context.facts(role)) for role, replies in self.stage.spent.items() for reply in replies
        ]
        costs += [cost_of_embedding(record, self.context.facts(record.role)) for record in self.stage.embedded]
        prices = [cost for cost in costs if cost is not None]
        record = Finished(
            at=time.time(),
            key=self.job.key,
            verdict=verdict,
            output=output,
            seconds=self._seconds,
            input_tokens=self.stage.input_tokens,
            output_tokens=self.stage.output_tokens,
            cost_usd=sum(prices) if len(prices) == len(costs) else None,
            calls=self.stage.calls,
            cut=self.stage.cut,
            model=self.stage.model,
            server=self.stage.server,
            written=str(self.stage.symptoms),
        )
        return self.context.admit(record)


def cancelled_by_code(error: asyncio.CancelledError, suite: Suite) -> Verdict:
    """Return the verdict for a conversation cancelled by something other than the engine."""
    place, _ = place_of(error, suite)
    text = f"the suite's code cancelled its own task or raised CancelledError ({place})"
    return broken(Fault(FaultKind.SUITE, text))


def broken(fault: Fault, detail: dict[str, Any] | None = None) -> Verdict:
    """Return the verdict for a machinery fault, which is never a score."""
    messages = (fault.message, fault.hint) if fault.hint else (fault.message,)
    return Verdict(
        Outcome.BROKEN, reason=fault.kind.value, messages=messages, detail=detail or {"partial": fault.partial}
    )
