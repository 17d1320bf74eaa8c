"""Asks the judge about answers and reads its replies.

If a reply has no readable number, the judge is asked once more; after that the score is left undetermined, since the
replies say nothing about the answer. With `strict_compat`, replies are read as by the reference, without asking again.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from console.benchmarks.aidanbench.conversation.prompts import coherence_prompt, similarity_prompt
from console.benchmarks.aidanbench.conversation.scripted_answers import scripted_coherence, scripted_similarity
from console.benchmarks.aidanbench.conversation.wording import Wording
from console.benchmarks.aidanbench.options import AidanOptions
from console.benchmarks.aidanbench.rules import reply_tags
from console.core.chat import Message, ScriptedAnswers
from console.suites.stage import Stage

TRIES = 2
"""Number of attempts before a score is left undetermined."""


class Grade(NamedTuple):
    """The judge's number, or None if no reply had one."""

    value: float | None
    replies: list[str]


class Comparison(NamedTuple):
    """The judge's comparison of an answer with earlier ones."""

    novelty: float | None
    """None if similarity is off or a reply was unreadable."""
    nearest: int | None = None
    """Zero-based index of the earlier answer judged most similar."""


class Judge:
    """The judge for one turn."""

    def __init__(self, stage: Stage, options: AidanOptions, wording: Wording, question: str, turn: int) -> None:
        self._stage, self._options, self._wording = stage, options, wording
        self._question, self._turn = question, turn

    async def grade(self, answer: str) -> Grade:
        """Ask for the coherence of an answer, 0 to 100."""
        read = reply_tags.strict_coherence if self._options.strict_compat else reply_tags.coherence
        prompt = coherence_prompt(self._wording, self._question, answer)
        return await self._number(prompt, read, scripted_coherence(answer), step=0)

    @property
    def has_second(self) -> bool:
        """True if there is a second judge."""
        return self._options.has_second_judge

    async def grade_again(self, answer: str) -> Grade:
        """Ask the second judge for the coherence; its grade does not affect the verdict."""
        prompt = coherence_prompt(self._wording, self._question, answer)
        return await self._number(prompt, reply_tags.coherence, scripted_coherence(answer), step=0, role="second_judge")

    async def repeat(self, answer: str) -> list[Grade]:
        """Ask for the coherence again, as often as the run requests; these grades do not affect the verdict."""
        return [await self.grade(answer) for _ in range(self._options.judge_repeats - 1)]

    async def compare(self, answer: str, previous: Sequence[str]) -> Comparison:
        """Ask for the similarity to each earlier answer, concurrently; skipped unless the run requests it."""
        if not self._options.use_llm_similarity:
            return Comparison(None)
        read = reply_tags.strict_similarity if self._options.strict_compat else reply_tags.similarity
        grades = await asyncio.gather(
            *(
                self._number(
                    similarity_prompt(self._wording, self._question, answer, earlier),
                    read,
                    scripted_similarity(answer, earlier),
                    step=number,
                )
                for number, earlier in enumerate(previous, 1)
            ),
            return_exceptions=True,
        )
        similarities: list[float] = []
        for grade in grades:
            if isinstance(grade, BaseException):
                raise grade
            if grade.value is None:
                return Comparison(None)
            similarities.append(grade.value)
        nearest = similarities.index(max(similarities)) if similarities else None
        return Comparison(reply_tags.llm_novelty(similarities), nearest)

    async def _number(
        self,
        prompt: str,
        read: Callable[[str], float | None],
        scripted: Callable[[], ScriptedAnswers],
        step: int,
        role: str = "judge",
    ) -> Grade:
        messages: list[Message] = [{"role": "user", "content": prompt}]
        replies: list[str] = []
        while len(replies) < TRIES:
            reply = await self._stage.ask(
                messages, role=role, params=self._options.judge_params, turn=self._turn, step=step, scripted=scripted
            )
            replies.append(reply.content or "")
            value = read(replies[-1])
            if value is not None:
                return Grade(value, replies)
        return Grade(None, replies)
