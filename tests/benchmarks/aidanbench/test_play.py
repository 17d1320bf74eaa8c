"""The loop over a stage that lives in memory: models, judge and embedding are functions, every effect is kept."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import asdict

from console.benchmarks.aidanbench.conversation.play import Loop
from console.benchmarks.aidanbench.conversation.wording import OURS
from console.benchmarks.aidanbench.options import read_options
from console.benchmarks.aidanbench.rules.loop import Turn, read_output
from console.benchmarks.aidanbench.rules.score import score_loop
from console.core.case import Case, Key
from console.core.chat import Message, Reply, ScriptedAnswers
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome


def words_vector(text: str) -> list[float]:
    """Embed a text as counts of its hashed words, in 256 dimensions."""
    vector = [0.0] * 256
    for word in text.lower().split():
        vector[hashlib.sha256(word.encode()).digest()[0]] += 1.0
    return vector


@dataclass
class MemoryStage:
    """Answers from three functions; counts and keeps what was asked, scored and noted."""

    answer: Callable[[list[Message], int], str | None]
    grade: Callable[[str], str | None] = lambda prompt: "<coherence_score>80</coherence_score>"
    vector: Callable[[str], list[float]] = words_vector
    key: Key = field(default_factory=lambda: Key("case"))
    asked: list[tuple[str, list[Message], dict[str, Any]]] = field(default_factory=list)
    embedded: list[list[str]] = field(default_factory=list)
    scores: list[tuple[str, float | None, float | None, int]] = field(default_factory=list)
    notes: list[tuple[str, Any, int]] = field(default_factory=list)
    peak: int = 0
    active: int = 0
    scripted: Callable[[], ScriptedAnswers] | None = None

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        scripted: Callable[[], ScriptedAnswers],
        role: str = "model",
        params: dict[str, Any] | None = None,
        **_: Any,
    ) -> Reply:
        async with self._busy():
            self.asked.append((role, list(messages), params or {}))
            self.scripted = scripted
            if role == "model":
                return Reply(content=self.answer(list(messages), self.count["model"] - 1))
            return Reply(content=self.grade(str(messages[0].get("content"))))

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        async with self._busy():
            self.embedded.append(list(texts))
            return [self.vector(text) for text in texts]

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        return await action()

    def score(
        self, name: str, value: float | None, *, threshold: float | None = None, turn: int = 0, role: str = ""
    ) -> None:
        self.scores.append((name, value, threshold, turn))

    def note(self, kind: str, data: Any, *, turn: int = 0, step: int = 0) -> None:
        self.notes.append((kind, data, turn))

    @property
    def count(self) -> Counter[str]:
        return Counter(role for role, _, _ in self.asked)

    def _busy(self) -> "_Busy":
        return _Busy(self)


class _Busy:
    """Counts how many effects are in flight at once."""

    def __init__(self, stage: MemoryStage) -> None:
        self.stage = stage

    async def __aenter__(self) -> None:
        self.stage.active += 1
        self.stage.peak = max(self.stage.peak, self.stage.active)
        for _ in range(4):  # long enough for everything that starts together to have started
            await asyncio.sleep(0)

    async def __aexit__(self, *_: object) -> None:
        self.stage.active -= 1


ANSWERS = ["red apples fall", "blue engines hum", "green tea cools", "old maps lie"]


def tagged(text: str) -> str:
    return f"<answer>{text}</answer>"


def repeating(_: list[Message], turn: int) -> str:
    """Give four different answers, then the second again."""
    return tagged(ANSWERS[turn] if turn < len(ANSWERS) else ANSWERS[1])


CASE = Case(id="case", category="questions", data={"question": "Why?"})


async def play(stage: MemoryStage, **options: Any) -> list[Turn]:
    output = await Loop(CASE, stage, read_options(options), OURS).play()
    assert json.loads(json.dumps(output, allow_nan=False)) == output
    return read_output(output)


async def test_a_loop_costs_one_chat_one_grade_and_one_embedding_per_answer() -> None:
    stage = MemoryStage(repeating)
    turns = await play(stage)
    assert [turn.accepted for turn in turns] == [True, True, True, True, False]
    assert turns[-1].reason == "low_embedding_novelty"
    assert (turns[-1].nearest, turns[-1].similarity) == (1, pytest.approx(1.0))
    assert stage.count == {"model": 5, "judge": 5}
    assert stage.embedded == [[text] for text in [*ANSWERS, ANSWERS[1]]]
    assert stage.peak == 2


async def test_growing_chat_keeps_raw_replies_and_lists_accepted_answers_again() -> None:
    stage = MemoryStage(repeating)
    await play(stage)
    last = [messages for role, messages, _ in stage.asked if role == "model"][-1]
    assert [message["role"] for message in last] == ["user", "assistant"] * 4 + ["user"]
    assert last[3]["content"] == tagged(ANSWERS[1])
    for number, answer in enumerate(ANSWERS, 1):
        assert f"<previous_answer id='{number}'>\n{answer}\n</previous_answer>" in str(last[-1]["content"])


async def test_original_protocol_sends_one_message_and_its_own_sampling() -> None:
    stage = MemoryStage(repeating)
    await play(stage, protocol="original")
    model = [(messages, params) for role, messages, params in stage.asked if role == "model"]
    assert all(len(messages) == 1 for messages, _ in model)
    assert all(params == {"temperature": 0.7, "max_tokens": 4000} for _, params in model)
    assert {params.get("temperature") for role, _, params in stage.asked if role == "judge"} == {0}
    warm = MemoryStage(repeating)
    await play(warm, temperature=1, max_turns=1)
    assert warm.asked[0][2] == {"temperature": 1}
    plain = MemoryStage(repeating)
    await play(plain, protocol="original", sampling="model")
    assert all(params == {} for _, _, params in plain.asked)


@pytest.mark.parametrize(("options", "turns"), [({}, 20), ({"max_turns": 3}, 3), ({"max_turns": 0}, 31)])
async def test_turns_are_capped_as_the_protocol_or_the_option_says(options: dict[str, Any], turns: int) -> None:
    stage = MemoryStage(lambda _, turn: tagged(f"word{turn}" if turn < 30 else "word0"), vector=_one_hot)
    played = await play(stage, **options)
    assert len(played) == turns
    assert played[-1].accepted is (turns != 31)


def _one_hot(text: str) -> list[float]:
    vector = [0.0] * 64
    vector[int(text.removeprefix("word"))] = 1.0
    return vector


async def test_low_coherence_ends_the_loop_and_the_rejected_answer_is_kept() -> None:
    def grade(prompt: str) -> str:
        return f"<coherence_score>{15 if ANSWERS[2] in prompt else 16}</coherence_score>"

    stage = MemoryStage(repeating, grade)
    turns = await play(stage)
    assert [(turn.answer, turn.coherence, turn.reason) for turn in turns] == [
        (ANSWERS[0], 16.0, ""),
        (ANSWERS[1], 16.0, ""),
        (ANSWERS[2], 15.0, "low_coherence"),
    ]
    assert ("coherence", 15.0, 15, 2) in stage.scores
    kinds = [(kind, turn) for kind, _, turn in stage.notes]
    assert kinds == [
        ("judged", 0),
        ("accepted", 0),
        ("judged", 1),
        ("nearest", 1),
        ("accepted", 1),
        ("judged", 2),
        ("nearest", 2),
        ("rejected", 2),
    ]


async def test_an_unreadable_grade_is_asked_for_once_more_and_then_undecided() -> None:
    stage = MemoryStage(repeating, lambda prompt: "I like it: 85/100")
    turns = await play(stage)
    assert [(turn.accepted, turn.reason, turn.coherence) for turn in turns] == [(None, "unreadable_judge", None)]
    assert stage.count["judge"] == 2
    assert turns[0].judge == ["I like it: 85/100"] * 2
    verdict = score_loop([asdict(turn) for turn in turns], read_options({}))
    assert (verdict.outcome, verdict.scores) == (Outcome.UNDECIDED, {})


async def test_a_second_readable_grade_counts() -> None:
    grades = iter(["hmm", "<coherence_score>90</coherence_score>", "<coherence_score>3</coherence_score>"])
    turns = await play(MemoryStage(repeating, lambda prompt: next(grades)))
    assert [turn.coherence for turn in turns] == [90.0, 3.0]
    assert turns[0].judge == ["hmm", "<coherence_score>90</coherence_score>"]


async def test_strict_compat_takes_an_unreadable_grade_as_zero_without_asking_again() -> None:
    stage = MemoryStage(repeating, lambda prompt: "85/100")
    turns = await play(stage, strict_compat=True)
    assert [(turn.accepted, turn.reason, turn.coherence) for turn in turns] == [(False, "low_coherence", 0.0)]
    assert stage.count["judge"] == 1


async def test_numbers_that_json_lacks_survive_in_strict_compat() -> None:
    grades = iter(["inf", "nan"])
    turns = await play(MemoryStage(repeating, lambda prompt: next(grades)), strict_compat=True)
    assert [(turn.coherence, turn.reason) for turn in turns] == [("inf", ""), ("nan", "threshold")]
    verdict = score_loop([asdict(turn) for turn in turns], read_options({"strict_compat": True}))
    assert verdict.scores["reward"] == 1.0
    assert "avg_coherence" not in verdict.scores


@pytest.mark.parametrize("reply", [None, "", "  ", "<answer></answer>", "text <answer> \n </answer>"])
async def test_an_empty_answer_is_rejected_without_judge_or_embedding(reply: str | None) -> None:
    stage = MemoryStage(lambda _, turn: tagged("one thing") if turn == 0 else reply)
    turns = await play(stage)
    assert [(turn.accepted, turn.reason) for turn in turns] == [(True, ""), (False, "empty_answer")]
    assert (stage.count["judge"], len(stage.embedded)) == (1, 1)
    verdict = score_loop([asdict(turn) for turn in turns], read_options({}))
    assert (verdict.reason, verdict.scores["reward"]) == ("empty_answer", 1.0)


async def test_llm_similarity_is_asked_of_every_earlier_answer_at_once() -> None:
    def grade(prompt: str) -> str:
        if "<answer1>" not in prompt:
            return "<coherence_score>80</coherence_score>"
        alike = ANSWERS[3] in prompt and f"<answer2>{ANSWERS[1]}" in prompt
        return f"<similarity_score>{90 if alike else 85}</similarity_score>"

    stage = MemoryStage(repeating, grade)
    turns = await play(stage, use_llm_similarity=True)
    assert [turn.llm_novelty for turn in turns] == [1.0, 1.0 - 0.85, 1.0 - 0.85, 1.0 - 0.9]
    assert (turns[-1].reason, turns[-1].llm_nearest) == ("low_llm_novelty", 1)
    assert stage.count["judge"] == 4 + 0 + 1 + 2 + 3
    assert stage.peak == 5


async def test_an_embedding_without_direction_is_undecided_or_the_references_threshold() -> None:
    def vector(text: str) -> list[float]:
        return [0.0, 0.0] if text == ANSWERS[1] else [1.0, 0.0]

    turns = await play(MemoryStage(repeating, vector=vector))
    assert [(turn.accepted, turn.reason) for turn in turns] == [(True, ""), (None, "no_novelty")]
    strict = await play(MemoryStage(repeating, vector=vector), strict_compat=True)
    assert [(turn.accepted, turn.reason) for turn in strict] == [(True, ""), (False, "threshold")]


async def test_a_failing_judge_lets_the_embedding_finish_first() -> None:
    stage = MemoryStage(repeating)

    def fail(prompt: str) -> str:
        raise Fault(FaultKind.SERVER, "down")

    stage.grade = fail
    with pytest.raises(Fault, match="down"):
        await play(stage)
    assert (stage.embedded, stage.active) == ([[ANSWERS[0]]], 0)


async def test_vectors_of_another_length_are_machinery_trouble() -> None:
    stage = MemoryStage(repeating, vector=lambda text: [1.0] * (2 + (text != ANSWERS[0])))
    with pytest.raises(Fault, match="incompatible vectors") as caught:
        await play(stage)
    assert caught.value.kind is FaultKind.DATA


async def test_simulated_whispers_end_every_loop_of_the_bundled_questions() -> None:
    lengths: set[int] = set()
    reasons: set[str] = set()
    for number in range(64):
        stage = _Whispered(lambda _, turn: "", key=Key(f"case{number}"))
        case = Case(id="case", category="questions", data={"question": f"Question {number}?"})
        output = await Loop(case, stage, read_options({"max_turns": 0}), OURS).play()
        turns = read_output(output)
        lengths.add(len(turns))
        reasons.add(turns[-1].reason)
    assert len(lengths) > 8
    assert max(lengths) < 40
    assert {"low_coherence", "low_embedding_novelty"} <= reasons


class _Whispered(MemoryStage):
    """Says what the scripted answers hold to be right."""

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        return Reply(content=more["scripted"]().right.content)
