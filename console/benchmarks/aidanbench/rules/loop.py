"""One loop as it is recorded: its turns, and the metrics that follow from them alone. Pure.

The output of `play` is the JSON list of turns in order, the rejected one included. Numbers that JSON cannot hold are
kept as the texts `nan`, `inf` and `-inf`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from console.benchmarks.aidanbench.rules import reply_tags
from console.benchmarks.aidanbench.rules.acceptance import EMPTY_ANSWER, Decision, Rule, Scores

Number = float | str | None
"""A number, the text of one that JSON lacks, or None for one that could not be determined."""


class Turn(msgspec.Struct, frozen=True):
    """One ask and what came of it."""

    answer: str
    """What was judged: the content of the answer tag, or the whole reply."""
    reply: str
    """The model's words as they came."""
    coherence: Number = None
    novelty: Number = None
    llm_novelty: Number = None
    """None also when the language-model similarity is off."""
    accepted: bool | None = None
    """None: undecided."""
    reason: str = ""
    """Why it was not accepted; empty when it was."""
    nearest: int | None = None
    """Turn, from 0, of the earlier answer with the greatest cosine."""
    similarity: Number = None
    """The cosine to it."""
    llm_nearest: int | None = None
    """Turn, from 0, of the earlier answer that the judge found most similar."""
    judge: list[str] = []
    """The coherence judge's words; two when the first could not be read."""
    finish: str = "stop"
    """How the reply ended, such as `length` for one that was cut at the token limit."""


class Metrics(NamedTuple):
    """All numbers of a loop, over its accepted answers; averages are 0.0 when there are none."""

    turns: int
    stopped_at: int | None
    """The turn, from 1, that ended the loop by its answer; None when the cap or the caller ended it."""
    reason: str
    accepted: int
    decided: bool
    avg_coherence: float
    avg_embedding_novelty: float
    sum_embedding_novelty: float
    avg_llm_novelty: float

    @property
    def aidanbench_score(self) -> float:
        """The count of accepted answers, as the reference names it."""
        return float(self.accepted)

    def reward(self, mode: str) -> float:
        """Return the count, or the sum of embedding novelty in mode `novelty_sum`."""
        return self.sum_embedding_novelty if mode == "novelty_sum" else self.aidanbench_score


def measure(answers: Sequence[Scores | None], rule: Rule, max_turns: int | None) -> Metrics:
    """Replay a loop over the scores of its answers in order; None stands for an empty answer.

    Args:
        answers: scores as far as they go; whatever follows the end of the loop is ignored.
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
    """Return the numbers of a turn; None for an empty answer."""
    if not turn.answer.strip():
        return None
    return Scores(from_json(turn.coherence), from_json(turn.novelty), from_json(turn.llm_novelty))


def read_output(output: Any) -> list[Turn]:
    """Read the turns of a recorded loop.

    Raises:
        msgspec.ValidationError: this is no list of turns.
        ValueError: a number is neither a number nor the text of one.
    """
    turns = msgspec.convert(output, list[Turn])
    for turn in turns:
        scores_of(turn)
    return turns


def format_reward(turns: Sequence[Turn]) -> float:
    """Return the tag discipline over all replies of a loop."""
    return reply_tags.format_reward([turn.reply for turn in turns])


def to_json(value: float | None) -> Number:
    """Return a number in a form that JSON keeps."""
    return value if value is None or math.isfinite(value) else str(value)


def from_json(value: Number) -> float | None:
    """Return the number that `to_json` kept."""
    return None if value is None else float(value)


def _mean(values: Sequence[float | None]) -> float:
    return _total(values) / len(values) if values else 0.0


def _total(values: Sequence[float | None]) -> float:
    return float(sum(value for value in values if value is not None))
