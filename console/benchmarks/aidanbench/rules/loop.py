"""A recorded loop: its turns, and the metrics derived from them.

The output of `play` is the JSON list of turns in order, including the rejected one. Non-finite numbers are stored as
the strings `nan`, `inf` and `-inf`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from console.benchmarks.aidanbench.rules import reply_tags
from console.benchmarks.aidanbench.rules.acceptance import EMPTY_ANSWER, Decision, Rule, Scores
from console.core.ready_type import ready_type

Number = float | str | None
"""A number; a string such as `nan` if JSON has no such number; None if undetermined."""


class Turn(msgspec.Struct, frozen=True):
    """A prompt, its reply, and the decision on it."""

    answer: str
    """The judged text: the content of the answer tag, or the whole reply."""
    reply: str
    """The raw reply."""
    coherence: Number = None
    novelty: Number = None
    llm_novelty: Number = None
    """None if undetermined, or if no language model judges the similarity."""
    accepted: bool | None = None
    """None if undecided."""
    reason: str = ""
    """Reason for the rejection; empty if accepted."""
    nearest: int | None = None
    """Zero-based turn of the earlier answer with the highest cosine."""
    similarity: Number = None
    """Highest cosine to an earlier answer."""
    llm_nearest: int | None = None
    """Zero-based turn of the earlier answer that the judge found most similar."""
    judge: list[str] = []
    """Replies of the coherence judge; two if the first was unreadable."""
    finish: str = "stop"
    """Finish reason of the reply, such as `length` at the token limit."""


class Metrics(NamedTuple):
    """Metrics of a loop over its accepted answers; averages are 0.0 if there are none."""

    turns: int
    stopped_at: int | None
    """One-based turn whose answer ended the loop; None if the cap or the caller ended it."""
    reason: str
    accepted: int
    decided: bool
    avg_coherence: float
    avg_embedding_novelty: float
    sum_embedding_novelty: float
    avg_llm_novelty: float

    @property
    def aidanbench_score(self) -> float:
        """Number of accepted answers, under the reference's name."""
        return float(self.accepted)

    def reward(self, mode: str) -> float:
        """Return the number of accepted answers, or the sum of novelties in mode `novelty_sum`."""
        return self.sum_embedding_novelty if mode == "novelty_sum" else self.aidanbench_score


def measure(answers: Sequence[Scores | None], rule: Rule, max_turns: int | None) -> Metrics:
    """Return the metrics of a loop with these scores; None stands for an empty answer.

    Args:
        answers: scores in order; those after the end of the loop are ignored.
        rule: the stop rule.
        max_turns: cap on turns; None for no cap.
    """
    accepted: list[Scores] = []
    last = Decision(True)
    turns = 0
    for scores in answers[:max_turns]:
        turns += 1
        last = rule.decide(scores) if scores is not None else Decision(False, EMPTY_ANSWER)
        if not last.accepted or scores is None:
            break
        accepted.append(scores)
    novelties = [scores.novelty for scores in accepted]
    return Metrics(
        turns=turns,
        stopped_at=None if last.accepted else turns,
        reason=last.reason,
        accepted=len(accepted),
        decided=last.accepted is not None,
        avg_coherence=_mean([scores.coherence for scores in accepted]),
        avg_embedding_novelty=_mean(novelties),
        sum_embedding_novelty=_total(novelties),
        avg_llm_novelty=_mean([scores.llm_novelty for scores in accepted]) if rule.use_llm_similarity else 0.0,
    )


def scores_of(turn: Turn) -> Scores | None:
    """Return a turn's scores; None for an empty answer."""
    if not turn.answer.strip():
        return None
    return Scores(from_json(turn.coherence), from_json(turn.novelty), from_json(turn.llm_novelty))


def read_output(output: Any) -> list[Turn]:
    """Read the turns of a recorded loop.

    Raises:
        msgspec.ValidationError: not a list of turns.
        ValueError: a value is neither a number nor the name of one.
    """
    turns = msgspec.convert(output, ready_type(list[Turn]))
    for turn in turns:
        scores_of(turn)
    return turns


def format_reward(turns: Sequence[Turn]) -> float:
    """Return the format reward over all replies of a loop."""
    return reply_tags.format_reward([turn.reply for turn in turns])


def to_json(value: float | None) -> Number:
    """Return a number as JSON can store it."""
    return value if value is None or math.isfinite(value) else str(value)


def from_json(value: Number) -> float | None:
    """Return the number stored by `to_json`."""
    return None if value is None else float(value)


def _mean(values: Sequence[float | None]) -> float:
    return _total(values) / len(values) if values else 0.0


def _total(values: Sequence[float | None]) -> float:
    return float(sum(value for value in values if value is not None))
