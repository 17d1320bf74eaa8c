"""Plays a loop: ask, judge and measure the answer, repeat while it is accepted.

Judging, embedding and comparing run concurrently. Each answer costs one chat call, one judge call and one embedding, so
a loop with N accepted answers and a rejected one costs N + 1 of each; earlier answers are not embedded again.
"""

import asyncio
import math
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from console.benchmarks.aidanbench.conversation.judge import Comparison, Grade, Judge
from console.benchmarks.aidanbench.conversation.prompts import messages_for
from console.benchmarks.aidanbench.conversation.scripted_answers import scripted_answer
from console.benchmarks.aidanbench.conversation.wording import Wording
from console.benchmarks.aidanbench.options import AidanOptions
from console.benchmarks.aidanbench.rules.acceptance import EMPTY_ANSWER, Scores
from console.benchmarks.aidanbench.rules.loop import Turn, to_json
from console.benchmarks.aidanbench.rules.novelty import Earlier, Nearest
from console.benchmarks.aidanbench.rules.reply_tags import answer_of
from console.core.case import Case
from console.core.chat import Message, Reply
from console.core.fault import Fault, FaultKind
from console.core.ranges import is_amount
from console.suites.stage import SECOND_PREFIX, Stage, repeat_prefix


@dataclass
class Loop:
    """A loop over one question."""

    case: Case
    stage: Stage
    options: AidanOptions
    wording: Wording
    exchanges: list[Message] = field(default_factory=list[Message])
    accepted: list[str] = field(default_factory=list[str])
    earlier: Earlier = field(default_factory=Earlier)
    turns: list[Turn] = field(default_factory=list[Turn])

    @property
    def question(self) -> str:
        return self.case.data["question"]

    async def play(self) -> list[Any]:
        """Play to the end and return the turns as JSON values.

        Raises:
            Fault: a model, the judge or the embedding endpoint could not be reached; the loop can be resumed.
        """
        cap = self.options.max_turns
        while cap is None or len(self.turns) < cap:
            if not await self._play_turn():
                break
        return [msgspec.to_builtins(turn) for turn in self.turns]

    async def _play_turn(self) -> bool:
        """Play one turn; return True if the answer was accepted."""
        reply = await self._ask()
        answer = answer_of(reply.content or "")
        if not answer.strip():
            turn = Turn(answer, reply.content or "", accepted=False, reason=EMPTY_ANSWER, finish=reply.finish)
            return self._record(turn)
        judge = Judge(self.stage, self.options, self.wording, self.question, len(self.turns))
        graded, vectors, comparison = await _together(
            _grades(judge, answer), self.stage.embed([answer]), judge.compare(answer, self.accepted)
        )
        limit = self.options.thresholds.coherence_score
        for prefix, further in graded.further:
            self.stage.score(f"{prefix}coherence", _shown(further.value), threshold=limit, turn=len(self.turns))
        if len(vectors) != 1:
            raise Fault(FaultKind.DATA, f"the embedding model returned {len(vectors)} vectors for one text")
        return self._judge_turn(reply, answer, graded.grade, vectors[0], comparison)

    async def _ask(self) -> Reply:
        messages = messages_for(self.wording, self.options.protocol, self.question, self.exchanges, self.accepted)
        reply = await self.stage.ask(
            messages,
            params=self.options.model_params,
            turn=len(self.turns),
            scripted=scripted_answer(self.question, self.stage.key.rollout, tuple(self.accepted)),
        )
        self.exchanges.append(messages[-1])
        self.exchanges.append({"role": "assistant", "content": reply.content or ""})
        return reply

    def _judge_turn(self, reply: Reply, answer: str, grade: Grade, vector: list[float], comparison: Comparison) -> bool:
        """Combine grade, novelty and comparison into a decision on the answer."""
        nearest = self._nearest(vector)
        scores = Scores(grade.value, self._novelty(nearest), comparison.novelty)
        decision = self.options.rule.decide(scores)
        if decision.accepted:
            self.accepted.append(answer)
            self.earlier.add(vector)
        return self._record(
            Turn(
                answer=answer,
                reply=reply.content or "",
                coherence=to_json(scores.coherence),
                novelty=to_json(scores.novelty),
                llm_novelty=to_json(scores.llm_novelty),
                accepted=decision.accepted,
                reason=decision.reason,
                nearest=nearest.place if nearest else None,
                similarity=to_json(nearest.similarity) if nearest else None,
                llm_nearest=comparison.nearest,
                judge=grade.replies,
                finish=reply.finish,
            )
        )

    def _nearest(self, vector: list[float]) -> Nearest | None:
        try:
            return self.earlier.nearest(vector)
        except ValueError as error:
            raise Fault(FaultKind.DATA, f"the embedding model returned incompatible vectors: {error}") from error

    def _novelty(self, nearest: Nearest | None) -> float | None:
        """Return the novelty.

        A nan is a machinery fault and leaves it undetermined, except under the reference's rules.
        """
        value = 1.0 if nearest is None else 1.0 - nearest.similarity
        return None if math.isnan(value) and not self.options.strict_compat else value

    def _record(self, turn: Turn) -> bool:
        """Append a turn to the output and show it."""
        number, limits = len(self.turns), self.options.thresholds
        self.turns.append(turn)
        if turn.answer.strip():
            limit = limits.coherence_score
            self.stage.score("coherence", _shown(turn.coherence), threshold=limit, turn=number, role="judge")
            self.stage.score(
                "novelty", _shown(turn.novelty), threshold=limits.embedding_dissimilarity_score, turn=number
            )
            if self.options.use_llm_similarity:
                limit = limits.llm_dissimilarity_score
                self.stage.score("llm_novelty", _shown(turn.llm_novelty), threshold=limit, turn=number)
        self._show(turn, number)
        return bool(turn.accepted)

    def _show(self, turn: Turn, number: int) -> None:
        if turn.judge:
            self.stage.note("judged", {"replies": turn.judge, "value": turn.coherence}, turn=number)
        if turn.nearest is not None:
            nearest_answer = {
                "turn": turn.nearest,
                "similarity": turn.similarity,
                "answer": self.turns[turn.nearest].answer,
            }
            self.stage.note("nearest", nearest_answer, turn=number)
        kind = {True: "accepted", False: "rejected", None: "undecided"}[turn.accepted]
        self.stage.note(kind, {"answer": turn.answer, "reason": turn.reason}, turn=number)


class Grades(NamedTuple):
    """The grade that counts and the extra grades, with the prefixes of their score names."""

    grade: Grade
    further: list[tuple[str, Grade]]


async def _grades(judge: Judge, answer: str) -> Grades:
    """Ask the judges; a fault in either pauses the loop."""
    first, second = await _both(judge, answer)
    seconds = [] if second is None else [(SECOND_PREFIX, second)]
    repeated = [(repeat_prefix(number), grade) for number, grade in enumerate(await judge.repeat(answer), 2)]
    return Grades(first, [*seconds, *repeated])


async def _both(judge: Judge, answer: str) -> tuple[Grade, Grade | None]:
    """Ask the judge, and the second one if there is one."""
    if not judge.has_second:
        return await judge.grade(answer), None
    results = await asyncio.gather(judge.grade(answer), judge.grade_again(answer), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    first, second = results
    assert not isinstance(first, BaseException)
    assert not isinstance(second, BaseException)
    return first, second


async def _together(
    grades: Awaitable[Grades],
    vectors: Awaitable[list[list[float]]],
    comparison: Awaitable[Comparison],
) -> tuple[Grades, list[list[float]], Comparison]:
    """Await all three; if one fails, wait for the others first, so that no paid reply is lost."""
    results = await asyncio.gather(grades, vectors, comparison, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    first, second, third = results
    assert not isinstance(first, BaseException)
    assert not isinstance(second, BaseException)
    assert not isinstance(third, BaseException)
    return first, second, third


def _shown(value: float | str | None) -> float | None:
    """Return a number for display, or None: under the reference's rules a judge may return nan or infinity."""
    return value if isinstance(value, int | float) and is_amount(value) else None
