"""One conversation played in this process, from its first effect to its verdict.

Every error in it becomes an outcome with a cause.
"""

import asyncio
import time
from typing import Any, Protocol

from console.core.captured_output import CapturedOutput, capture_output
from console.core.case import Setting
from console.core.fault import Fault, FaultKind, UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.core.run import ModelFacts
from console.engine.budget import BudgetReached, cost_of, cost_of_embedding
from console.engine.queue import Job
from console.engine.recorded_effects import ConversationEffects
from console.engine.stage import JournaledStage, StageContext
from console.suites.guard import SuiteError, describe_error, is_of_code
from console.suites.suite import Suite

_LONG = 20_000
"""Replies with more characters are judged in a thread, as decoding them may take a second."""


class EngineContext(StageContext, Protocol):
    """The parts of the engine that a conversation needs."""

    def facts(self, role: str) -> ModelFacts:
        """Return the manifest's facts about a role's model."""
        ...


class LocalConversation:
    """Plays one job (see `player.PlayedConversation`)."""

    def __init__(
        self, job: Job, recorded: ConversationEffects, context: EngineContext, suite: Suite, setting: Setting
    ) -> None:
        self.job, self.recorded, self.context, self.suite, self.setting = job, recorded, context, suite, setting
        self.stage = JournaledStage(job.key, recorded, context, setting.edit, suite.effect_states())
        self.fault: Fault | None = None
        self._began = time.monotonic()
        self._printed = CapturedOutput()

    async def play(self) -> Finished:
        """Play and judge.

        Raises:
            BudgetReached: the run's budget is used up; the conversation stays open.
            asyncio.CancelledError: the conversation was stopped.
        """
        with capture_output() as self._printed:
            return await self._play()

    async def _play(self) -> Finished:
        try:
            output = await self.suite.play(self.job.case, self.stage, self.setting)
            return self.finished(await self._score(output), output)
        except BudgetReached:
            raise
        except Fault as fault:
            self.fault = fault
            return self.finished(broken(fault))
        except SuiteError as error:
            return self.finished(broken(Fault(FaultKind.SUITE, str(error))))
        except UsageError as error:
            return self.finished(broken(Fault(FaultKind.DATA, str(error))))
        except (Exception, SystemExit) as error:  # an error in a suite's code breaks one rollout, never the run
            if not is_of_code(error):
                raise
            return self.finished(broken(Fault(FaultKind.SUITE, describe_error(error, self.suite))))

    async def _score(self, output: Any) -> Verdict:
        if self.recorded.unused:
            self.stage.note("divergence", {"unused_effects": self.recorded.unused})
        case, suite = self.job.case, self.suite
        if suite.scores_slowly(case) or self.stage.reply_characters > _LONG:
            return await asyncio.to_thread(suite.score, case, output, self.setting)
        return suite.score(case, output, self.setting)

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
            seconds=round(time.monotonic() - self._began, 6),
            input_tokens=self.stage.input_tokens,
            output_tokens=self.stage.output_tokens,
            cost_usd=sum(prices) if len(prices) == len(costs) else None,
            calls=self.stage.calls,
            cut=self.stage.cut,
            model=self.stage.model,
        )
        return self.context.admit(record)


def broken(fault: Fault) -> Verdict:
    """Return the verdict for a machinery fault, which is never a score."""
    messages = (fault.message, fault.hint) if fault.hint else (fault.message,)
    return Verdict(Outcome.BROKEN, reason=fault.kind.value, messages=messages, detail={"partial": fault.partial})
