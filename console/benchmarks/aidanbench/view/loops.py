"""Reading an AidanBench loop from its conversation: its rounds, their scores, and why it ended.

A round is one request: prompt, answer, and the assessments by judge and embedding. It is reconstructed from journaled
scores (`coherence`, `novelty`) and notes (`judged`, `nearest`, `accepted`, `rejected`, `undecided`), so that a loop can
be read while it is being played, and without its suite. Values are untrusted and may have any type.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from console.core.chat import Usage
from console.insight.passage import Passage, PassageKind

NOVELTY = "novelty"
SCORES = ("coherence", NOVELTY, "llm_novelty")
"""The scores of a round, in display order."""
_OPEN, _SHUT = "<answer>", "</answer>"
_ENDINGS = {"accepted": True, "rejected": False, "undecided": None}
_FIT = 5
"""Number of latest rounds used to fit a trend."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One score of a round."""

    value: float | None
    """None if it could not be determined."""
    threshold: float | None

    @property
    def passes(self) -> bool:
        """True if the value is above the threshold; without a threshold, True if it is known."""
        if self.value is None:
            return False
        return self.threshold is None or self.value > self.threshold


@dataclass(slots=True, eq=False)
class Round:
    """One round. Strings are untrusted text."""

    turn: int
    """Zero-based index."""
    prompt: str = ""
    reply: str = ""
    """The model's raw reply, as far as received."""
    streaming: bool = False
    measures: dict[str, Measure] = field(default_factory=dict[str, Measure])
    judged: list[str] = field(default_factory=list[str])
    """All replies of the judge."""
    nearest: int | None = None
    """Zero-based turn of the nearest earlier answer."""
    similarity: float | None = None
    nearest_answer: str = ""
    is_decided: bool = False
    accepted: bool | None = None
    reason: str = ""
    """Reason for the rejection of the answer."""
    final: str | None = None
    """The answer as extracted by the suite; None until it is decided."""
    reasoning: str = ""
    failed_tries: list[Passage] = field(default_factory=list[Passage])
    """Number of failed calls."""
    usage: Usage | None = None
    latency_s: float | None = None

    @property
    def answer(self) -> str:
        """The judged answer; before that, the content of the answer tag so far, or the whole reply."""
        if self.final is not None:
            return self.final.strip()
        return answer_so_far(self.reply)

    @property
    def outside_answer(self) -> str:
        """The text outside the answer tag."""
        before, tag, rest = self.reply.partition(_OPEN)
        return "" if not tag or _OPEN in rest else f"{before.strip()}\n{rest.partition(_SHUT)[2].strip()}".strip()


class Rounds:
    """The rounds of one conversation, built from its passages in journal order."""

    def __init__(self) -> None:
        self.rounds: list[Round] = []
        self._added = 0
        self._owner: dict[int, Round] = {}

    def add(self, passages: Sequence[Passage]) -> int:
        """Add the new passages of a conversation; return the index of the first changed round."""
        first = len(self.rounds)
        for passage in passages[self._added :]:
            changed = self._add_passage(passage)
            if changed is not None:
                first = min(first, self.rounds.index(changed))
        self._added = len(passages)
        return first

    def _add_passage(self, passage: Passage) -> Round | None:
        if passage.kind is PassageKind.VERDICT:
            return self.rounds[-1] if self.rounds else None
        if passage.kind is PassageKind.TRY:
            owner = self._owner.get(passage.n) or (self.rounds[-1] if self.rounds else self._round(0))
            owner.failed_tries.append(passage)
            return owner
        if passage.kind is PassageKind.NOTE and passage.head not in _NOTES:
            return None
        owner = self._round(passage.turn)
        if passage.n:
            self._owner[passage.n] = owner
        _fill(owner, passage)
        return owner

    def _round(self, turn: int) -> Round:
        for earlier in reversed(self.rounds):
            if earlier.turn == turn:
                return earlier
        new_round = Round(turn)
        self.rounds.append(new_round)
        return new_round


def answer_so_far(reply: str) -> str:
    """Return the content of a reply's answer tag so far, or the whole reply, without a partial tag at the end."""
    _, tag, rest = reply.rpartition(_OPEN)
    if not tag:
        return _without_beginning_of(_OPEN, reply).strip()
    return _without_beginning_of(_SHUT, rest.partition(_SHUT)[0]).strip()


def rounds_of(passages: Sequence[Passage]) -> list[Round]:
    """Return the rounds of a conversation."""
    collected = Rounds()
    collected.add(passages)
    return collected.rounds


def is_loop(passages: Iterable[Passage]) -> bool:
    """Return whether a conversation is a loop of answers."""
    return any(passage.kind is PassageKind.SCORE and passage.head == NOVELTY for passage in passages)


def collision(rounds: Sequence[Round], earlier: str = "") -> tuple[Round, Round] | None:
    """Return the two rounds (earlier, last) whose similarity ended the loop, or None if it ended otherwise.

    Args:
        rounds: all rounds, in order.
        earlier: the answer that the last one collided with, according to the grader; empty to use the nearest recorded.
    """
    last = rounds[-1] if rounds else None
    if last is None or not last.is_decided or last.accepted:
        return None
    if earlier:
        nearest = next((candidate for candidate in rounds[:-1] if candidate.answer == earlier.strip()), None)
        return (nearest, last) if nearest is not None else None
    measure = last.measures.get(NOVELTY)
    if measure is None or measure.passes or last.nearest is None:
        return None
    nearest = next((candidate for candidate in rounds[:-1] if candidate.turn == last.nearest), None)
    return (nearest, last) if nearest is not None else None


def rounds_left(values: Sequence[float | None], threshold: float | None) -> float | None:
    """Estimate in how many rounds a falling score reaches its threshold, by linear regression on the latest values.

    Returns:
        The number of rounds; None if the score is not falling or there are too few values.
    """
    scores = [value for value in values if value is not None][-_FIT:]
    if threshold is None or len(scores) < _FIT:
        return None
    middle, mean = (len(scores) - 1) / 2, math.fsum(scores) / len(scores)
    slope = math.fsum((index - middle) * (value - mean) for index, value in enumerate(scores))
    slope /= math.fsum((index - middle) ** 2 for index in range(len(scores)))
    span = 100.0 if threshold > 1 else 1.0
    if slope >= -0.005 * span:
        return None
    now = mean + slope * middle
    return max((now - threshold) / -slope, 0.0)


def _fill(target: Round, passage: Passage) -> None:
    match passage.kind:
        case PassageKind.USER | PassageKind.SYSTEM if passage.role == "model":
            target.prompt = f"{target.prompt}\n\n{passage.text}".strip()
        case PassageKind.ASSISTANT if passage.role == "model":
            target.reply, target.usage, target.latency_s = passage.text, passage.usage, passage.latency_s
        case PassageKind.ASSISTANT:
            target.judged.append(passage.text)
        case PassageKind.REASONING if passage.role == "model":
            target.reasoning = passage.text
        case PassageKind.SCORE:
            target.measures[passage.head] = Measure(passage.value, passage.threshold)
        case PassageKind.NOTE if isinstance(passage.data, dict):
            _NOTES[passage.head](target, passage.head, cast(dict[str, Any], passage.data))
        case _:
            pass


def _read_judge_note(target: Round, kind: str, data: Mapping[str, Any]) -> None:
    replies = data.get("replies")
    if isinstance(replies, list) and not target.judged:
        target.judged = [str(reply) for reply in cast(list[Any], replies)]


def _read_nearest_note(target: Round, kind: str, data: Mapping[str, Any]) -> None:
    turn, similarity = data.get("turn"), data.get("similarity")
    target.nearest = turn if isinstance(turn, int) else None
    target.similarity = float(similarity) if isinstance(similarity, int | float) else None
    target.nearest_answer = str(data.get("answer", ""))


def _read_decision_note(target: Round, kind: str, data: Mapping[str, Any]) -> None:
    target.is_decided, target.accepted, target.reason = True, _ENDINGS[kind], str(data.get("reason") or "")
    answer = data.get("answer")
    target.final = answer if isinstance(answer, str) else None


_NOTES = {"judged": _read_judge_note, "nearest": _read_nearest_note, **dict.fromkeys(_ENDINGS, _read_decision_note)}


def _without_beginning_of(tag: str, text: str) -> str:
    """Remove a possible partial tag from the end of streamed text."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:length]):
            return text[:-length]
    return text
