"""`check aidanbench`: judges conformance lines; offline, without dataset, ignoring expected values.

Each kind of line has a schema; lines that do not match are refused before anything is computed.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from console.benchmarks.aidanbench.rules import novelty, reply_tags
from console.benchmarks.aidanbench.rules.acceptance import Rule, Scores, Thresholds
from console.benchmarks.aidanbench.rules.loop import Metrics, measure, to_json
from console.core.fault import UsageError
from console.core.ready_type import ready_type

Row = Mapping[str, Any]
Number = float | str | None
"""A number; a string such as `nan` if JSON has no such number; None if missing."""


class _Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds; missing ones have their defaults."""

    coherence_score: float = Thresholds().coherence_score
    embedding_dissimilarity_score: float = Thresholds().embedding_dissimilarity_score
    llm_dissimilarity_score: float = Thresholds().llm_dissimilarity_score


class _Answer(msgspec.Struct, frozen=True):
    """Scores of one answer; the first answer needs no novelty."""

    c: Number
    e: Number | msgspec.UnsetType = msgspec.UNSET
    l: Number = 1.0  # noqa: E741 - as the lines name it


class _LoopLine(msgspec.Struct, frozen=True):
    answers: list[_Answer]
    thresholds: _Limits | None = None
    use_llm_similarity: bool | None = None
    max_turns: int | None = None


class _VerdictLine(_Answer, frozen=True):
    thresholds: _Limits | None = None
    use_llm_similarity: bool | None = None


class _TextLine(msgspec.Struct, frozen=True):
    text: str


class _JudgeLine(msgspec.Struct, frozen=True):
    text: str | None
    """None if the judge sent no text, which makes the reference fail as well."""


class _Message(msgspec.Struct, frozen=True):
    role: str = ""
    content: str | None = None


class _FormatLine(msgspec.Struct, frozen=True):
    messages: list[_Message]


class _NoveltyLine(msgspec.Struct, frozen=True):
    previous: list[list[float]]
    new: list[float]


LineT = TypeVar("LineT", bound=msgspec.Struct)


class _Kind(NamedTuple, Generic[LineT]):
    """A kind of line: its schema and judge."""

    form: type[LineT]
    judge: Callable[[LineT], dict[str, Any]]

    def answer(self, row: Row) -> dict[str, Any]:
        return self.judge(msgspec.convert(row, ready_type(self.form)))


def check_line(row: Row) -> dict[str, Any]:
    """Judge one line.

    Args:
        row: a line of kind `loop`, `verdict`, `answer`, `coherence`, `similarity`, `format` or `novelty`.

    Raises:
        UsageError: the kind is unknown, or a field is missing or of the wrong type.
    """
    kind = row.get("kind")
    judged_kind = _KINDS.get(kind) if isinstance(kind, str) else None
    name = "case" if "case" in row else "id"
    if judged_kind is None:
        raise UsageError(f"unknown kind {kind!r}", hint=f"Known: {', '.join(_KINDS)}.")
    try:
        return {name: row.get(name), **judged_kind.answer(row)}
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"line of kind {kind} cannot be read: {error}") from error


def _loop(line: _LoopLine) -> dict[str, Any]:
    first = [Scores(_real(answer.c), 1.0, 1.0) for answer in line.answers[:1]]  # there is no earlier answer
    answers = [*first, *(_scores(answer) for answer in line.answers[1:])]
    metrics: Metrics = measure(answers, _rule(line), line.max_turns)
    return {
        "turns": metrics.turns,
        "stopped_at": metrics.stopped_at,
        "reason": metrics.reason,
        "accepted": metrics.accepted,
        "aidanbench_score": to_json(metrics.aidanbench_score),
        "avg_coherence": to_json(metrics.avg_coherence),
        "avg_embedding_novelty": to_json(metrics.avg_embedding_novelty),
        "sum_embedding_novelty": to_json(metrics.sum_embedding_novelty),
        "avg_llm_novelty": to_json(metrics.avg_llm_novelty),
    }


def _scores(answer: _Answer) -> Scores:
    return Scores(_real(answer.c), _without_rounding(_novelty_of(answer)), _real(answer.l))


def _novelty_of(answer: _Answer) -> float:
    if isinstance(answer.e, msgspec.UnsetType):
        raise ValueError("an answer has no `e`")
    return _real(answer.e)


def _without_rounding(novelty: float) -> float:
    """Return 0 for a recorded novelty slightly below 0, a rounding error of a cosine of 1."""
    return 0.0 if -1e-9 < novelty < 0.0 else novelty


def _verdict(line: _VerdictLine) -> dict[str, Any]:
    decision = _rule(line).decide(Scores(_real(line.c), _novelty_of(line), _real(line.l)))
    return {"accepted": decision.accepted, "reason": decision.reason}


def _answer(line: _TextLine) -> dict[str, Any]:
    return {"value": reply_tags.answer_of(line.text)}


def _coherence(line: _JudgeLine) -> dict[str, Any]:
    return {"value": to_json(reply_tags.strict_coherence(line.text or ""))}


def _similarity(line: _JudgeLine) -> dict[str, Any]:
    return {"value": to_json(reply_tags.strict_similarity(line.text or ""))}


def _format(line: _FormatLine) -> dict[str, Any]:
    replies = [message.content or "" for message in line.messages if message.role == "assistant"]
    return {"value": reply_tags.format_reward(replies)}


def _novelty(line: _NoveltyLine) -> dict[str, Any]:
    try:
        value = novelty.novelty(line.new, line.previous)
    except ValueError as error:
        return {"novelty": None, "error": str(error)}
    return {"novelty": None if math.isnan(value) else to_json(value)}


def _rule(line: _LoopLine | _VerdictLine) -> Rule:
    limits = line.thresholds or _Limits()
    return Rule(Thresholds(*msgspec.structs.astuple(limits)), bool(line.use_llm_similarity))


def _real(value: Number) -> float:
    return math.nan if value is None else float(value)


_KINDS: dict[str, _Kind[Any]] = {
    "loop": _Kind(_LoopLine, _loop),
    "verdict": _Kind(_VerdictLine, _verdict),
    "answer": _Kind(_TextLine, _answer),
    "coherence": _Kind(_JudgeLine, _coherence),
    "similarity": _Kind(_JudgeLine, _similarity),
    "format": _Kind(_FormatLine, _format),
    "novelty": _Kind(_NoveltyLine, _novelty),
}
