"""The simulated models: deterministic, right and wrong by persona, behind the same limiter and retries as real ones."""

import json
import time
from collections import Counter

import pytest

from console.config.builtin import PERSONAS, simulated_models
from console.core.chat import ChatRequest, ScriptedAnswers, Utterance
from console.core.fault import Fault, FaultKind
from console.llm.providers import open_endpoint

TOOLS = [{"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}]
RIGHT = Utterance(calls=(("book", {"city": "Rome", "nights": 3, "pets": False, "tags": ["a", "b"], "rate": 1.5}),))


@pytest.fixture(autouse=True)
def _flat(monkeypatch):
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")


def request(n, right=RIGHT, wrong=(), tools=TOOLS):
    return ChatRequest(
        [{"role": "user", "content": f"question {n}"}],
        list(tools),
        seed=f"case{n}",
        scripted=lambda: ScriptedAnswers(right, wrong),
    )


async def play(persona, requests, seen):
    endpoint = open_endpoint(simulated_models()[f"sim/{persona}"])
    replies = []
    for one in requests:
        try:
            replies.append(await endpoint.ask(one, seen))
        except Fault as fault:
            replies.append(fault)
    return replies


def told(reply):
    if isinstance(reply, Fault):
        return reply.kind
    return (reply.content, tuple((call.name, call.arguments) for call in reply.tool_calls))


def is_right(reply):
    return not isinstance(reply, Fault) and [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
        RIGHT.calls[0]
    ]


@pytest.mark.parametrize("persona", ["careful", "hasty", "rambling", "broken"])
async def test_the_same_question_gets_the_same_answer(seen, persona):
    first = await play(persona, [request(n) for n in range(40)], seen)
    second = await play(persona, [request(n) for n in reversed(range(40))], seen)
    assert [told(reply) for reply in first] == [told(reply) for reply in reversed(second)]
    assert len({told(reply) for reply in first}) > 1


@pytest.mark.parametrize(("persona", "low", "high"), [("careful", 0.86, 0.97), ("hasty", 0.45, 0.65)])
async def test_the_share_of_right_answers_fits_the_persona(seen, persona, low, high):
    replies = await play(persona, [request(n) for n in range(300)], seen)
    assert low < sum(is_right(reply) for reply in replies) / 300 < high
    assert all(reply.simulated and reply.usage.output > 0 and reply.usage.input > 0 for reply in replies)


async def test_the_hasty_one_makes_every_kind_of_mistake(seen):
    replies = [reply for reply in await play("hasty", [request(n) for n in range(300)], seen) if not is_right(reply)]
    right = RIGHT.calls[0][1]
    kinds = Counter()
    for reply in replies:
        calls = [(call.name, json.loads(call.arguments)) for call in reply.tool_calls]
        assert calls
        name, arguments = calls[0]
        kinds["name"] += name != "book"
        kinds["count"] += len(calls) != 1
        kinds["missing"] += bool(right.keys() - arguments.keys())
        kinds["extra"] += bool(arguments.keys() - right.keys())
        shared = right.keys() & arguments.keys()
        kinds["type"] += any(type(arguments[key]) is not type(right[key]) for key in shared)
        kinds["value"] += any(arguments[key] != right[key] for key in shared)
    assert all(kinds[kind] for kind in ("name", "count", "missing", "extra", "type", "value")), kinds


async def test_wrong_answers_of_the_suite_are_used(seen):
    wrong = Utterance("I would rather not.")
    replies = await play("careful", [request(n, wrong=(wrong,)) for n in range(200)], seen)
    contents = Counter(reply.content for reply in replies)
    assert set(contents) == {None, "I would rather not."}
    assert contents[None] > 160


async def test_without_tools_calls_are_written_as_text(seen):
    replies = await play("careful", [request(n, tools=()) for n in range(20)], seen)
    text = "[book(city='Rome', nights=3, pets=False, tags=['a', 'b'], rate=1.5)]"
    assert [reply.content for reply in replies].count(text) > 14
    assert not any(reply.tool_calls for reply in replies)


async def test_the_rambling_one_thinks_aloud_and_sometimes_hides_its_answer(seen):
    replies = await play("rambling", [request(n) for n in range(200)], seen)
    assert all(reply.reasoning for reply in replies)
    assert seen.text("reasoning")
    assert 20 < sum(1 for reply in replies if not reply.tool_calls) < 80
    assert any(reply.tool_calls and reply.content for reply in replies)


async def test_the_broken_one_fails_as_providers_fail(seen):
    replies = await play("broken", [request(n) for n in range(200)], seen)
    tried = {fault.kind for fault, _ in seen.failed}
    assert {
        FaultKind.RATE_LIMIT,
        FaultKind.TRUNCATED,
        FaultKind.SERVER,
        FaultKind.BROKEN_STREAM,
        FaultKind.BAD_ANSWER,
    } <= tried
    faults = [reply for reply in replies if isinstance(reply, Fault)]
    assert 10 < len(faults) < 50
    assert any(fault.partial for fault in faults)
    assert any(reply.tries > 1 for reply in replies if not isinstance(reply, Fault))
    assert any(reply.content == "" for reply in replies if not isinstance(reply, Fault))
    assert all("simulated" in fault.message for fault in faults)


async def test_without_scripted_answers_there_is_plausible_prose(seen):
    for text in ("Tell me something.", "Answer in <answer> tags."):
        asked = ChatRequest([{"role": "user", "content": text}], seed="s")
        reply = (await play("careful", [asked], seen))[0]
        assert reply.content
        assert len(reply.content) > 20
        assert reply.content.startswith("<answer>") == ("<answer>" in text)


JUDGED = [
    ("<question>q</question><answer>{}</answer> Give <coherence_score>", "coherence_score"),
    ("<answer1>{}</answer1><answer2>red green blue fish</answer2> Give <similarity_score>", "similarity_score"),
]


@pytest.mark.parametrize(("prompt", "tag"), JUDGED)
async def test_the_judge_answers_in_the_tag_that_is_asked_for(seen, prompt, tag):
    texts = ("red green blue fish", "x", "an entirely different sentence about mountains")
    asked = [ChatRequest([{"role": "user", "content": prompt.format(text)}], seed=text) for text in texts]
    replies = await play("judge", asked, seen)
    scores = [int(reply.content.removeprefix(f"<{tag}>").removesuffix(f"</{tag}>")) for reply in replies]
    assert all(0 <= score <= 100 for score in scores)
    assert scores[0] > scores[1]
    if tag == "similarity_score":
        assert scores == [100, 0, 0]


async def test_the_judge_follows_scripted_answers(seen):
    asked = request(1, right=Utterance("<coherence_score>61</coherence_score>"), tools=())
    assert (await play("judge", [asked], seen))[0].content == "<coherence_score>61</coherence_score>"


async def test_similar_texts_have_similar_vectors(seen):
    endpoint = open_endpoint(simulated_models()["sim/embedding"])
    texts = ["Trace the money to its source", "The source of the money, traced", "Bees dance in the dark hive"]
    first, second, third = await endpoint.embed(texts, seen)
    assert len(first) == 384
    assert first == (await endpoint.embed(texts[:1], seen))[0]

    def cosine(left, right):
        return sum(a * b for a, b in zip(left, right, strict=True))

    assert cosine(first, first) == pytest.approx(1)
    assert cosine(first, second) > 0.5 > cosine(first, third) + 0.2
    assert (await endpoint.embed([""], seen))[0] != []


async def test_human_pace_streams_and_takes_its_time(seen, monkeypatch):
    monkeypatch.delenv("EVAL_CONSOLE_SIM_PACE")
    endpoint = open_endpoint(simulated_models()["sim/careful"])
    began = time.monotonic()
    reply = await endpoint.ask(request(1), seen)
    assert time.monotonic() - began > 0.3
    assert reply.first_token_s is not None
    assert 0.2 < reply.first_token_s < reply.latency_s
    assert len(seen.texts) > 5
    assert seen.text("tool") == f"book {reply.tool_calls[0].arguments}"


def test_every_built_in_model_has_a_persona():
    from console.llm.simulated.personas import PERSONAS as PLAYED

    assert set(PERSONAS) == set(PLAYED)
