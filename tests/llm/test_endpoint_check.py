"""The check of an endpoint, over HTTP: every planted fault of a server is named, and a sound server has none."""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from server.api_server import ApiServer, Said
from server.http1 import Connection
from server.openai_server import OpenAIServer, Scripted, last_text

from console.config.model import ModelConfig
from console.core.symptoms import written_call
from console.llm.servers.endpoint_check import REQUESTS, Answered, Mark, check_endpoint

Answer = Callable[[dict[str, Any]], Scripted]


def sound(request: dict[str, Any]) -> Scripted:
    """Answer every question of the check as a good model on a good server does."""
    text, messages = last_text(request), request["messages"]
    if "exactly these arguments: " in text:
        return Scripted(calls=[("store_note", json.loads(text.split("arguments: ")[1]))])
    if messages[-1]["role"] == "tool":
        return Scripted("They are 4711 and 8153.")
    if request.get("tools") and "No number" not in text:
        return Scripted(calls=[("look_up", {"number": int(number)}) for number in re.findall(r"\d+", text)])
    if request.get("max_tokens") == 5:
        return Scripted("1 2 3 4 5", finish="length")
    if request.get("stop"):
        return Scripted("1 2 3 4 ")
    if messages[0]["role"] == "system":
        return Scripted("BANANA")
    return Scripted("heron" if "to remember" in text else "Rhine, Rhone, Po")


def written(how: str) -> Answer:
    def answer(request: dict[str, Any]) -> Scripted:
        said = sound(request)
        if not said.calls:
            return said
        name, given = said.calls[0]
        return Scripted(how.replace("NAME", name).replace("ARGS", json.dumps(given)))

    return answer


def changed(change: Callable[[dict[str, Any], Scripted], Scripted | None]) -> Answer:
    def answer(request: dict[str, Any]) -> Scripted:
        said = sound(request)
        return change(request, said) or said

    return answer


def as_text(request: dict[str, Any], said: Scripted) -> Scripted:
    said.calls = [(name, {key: str(value) for key, value in given.items()}) for name, given in said.calls]
    return said


def cut(request: dict[str, Any], said: Scripted) -> Scripted | None:
    if not said.calls or "text" not in said.calls[0][1]:
        return None
    return Scripted(calls=[("store_note", {**said.calls[0][1], "text": said.calls[0][1]["text"][:1000]})])


def garbled(request: dict[str, Any], said: Scripted) -> Scripted | None:
    if not said.calls or "note" not in said.calls[0][1]:
        return None
    return Scripted(calls=[("store_note", {**said.calls[0][1], "note": "na?ve ? ?? ?"})])


def unfinished(request: dict[str, Any], said: Scripted) -> Scripted | None:
    return (
        Scripted("1 2 3 4 5", finish="stop", usage={"prompt_tokens": 9, "completion_tokens": 5})
        if (said.finish == "length")
        else None
    )


def unstopped(request: dict[str, Any], said: Scripted) -> Scripted | None:
    return Scripted("1 2 3 4 5 6 7 8 9") if request.get("stop") else None


def kept_stop(request: dict[str, Any], said: Scripted) -> Scripted | None:
    return Scripted("6 of 9: 1 2 3 4 5") if request.get("stop") else None


def forgetful(request: dict[str, Any], said: Scripted) -> Scripted | None:
    usage = {"prompt_tokens": 512, "completion_tokens": 3}
    return Scripted("Which word?", usage=usage) if "to remember" in last_text(request) else None


def deaf(request: dict[str, Any], said: Scripted) -> Scripted | None:
    usage = {"prompt_tokens": 96, "completion_tokens": 5}
    return Scripted("I have no results.", usage=usage) if request["messages"][-1]["role"] == "tool" else None


def unable(request: dict[str, Any], said: Scripted) -> Scripted | None:
    usage = {"prompt_tokens": 960, "completion_tokens": 5}
    return Scripted("ide mini ategory", usage=usage) if request["messages"][-1]["role"] == "tool" else None


def lossy_stream(request: dict[str, Any], said: Scripted) -> Scripted | None:
    return Scripted("") if request.get("stream") and said.calls and len(request["tools"]) == 1 else None


def strict_template(request: dict[str, Any], said: Scripted) -> Scripted | None:
    roles = [message["role"] for message in request["messages"]]
    return Scripted(fault="r400") if roles[-2:] == ["user", "user"] else None


def without_alternatives(request: dict[str, Any], said: Scripted) -> Scripted | None:
    return Scripted("B", logprobs=[("B", -0.1, {})]) if request.get("logprobs") else None


async def check(answer: Answer) -> tuple[dict[str, Answered], int]:
    with OpenAIServer(answer) as server:
        model = ModelConfig(name="m", model_id="m", base_url=server.base_url)
        found = {item.name: item async for item in check_endpoint(model)}
        return found, server.counts["chat"]


async def test_a_sound_server_has_no_fault() -> None:
    found, asked = await check(sound)
    assert {name: item.mark for name, item in found.items() if item.mark is not Mark.OK} == {}
    assert asked <= REQUESTS


@pytest.mark.parametrize(
    "how",
    [
        '<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>',
        '[TOOL_CALLS][{"name": "NAME", "arguments": ARGS}]',
        'Sure!\n```json\n{"name": "NAME", "parameters": ARGS}\n```',
        "[NAME(number=7)]",
    ],
)
async def test_a_missing_tool_parser_is_named(how: str) -> None:
    found, _ = await check(written(how))
    assert found["a call"].mark is Mark.WRONG
    assert "the server has no tool parser" in found["a call"].text
    assert "--tool-call-parser" in found["a call"].effect
    assert found["no fitting tool"].mark is Mark.OK


@pytest.mark.parametrize(
    ("change", "name", "mark", "words"),
    [
        (as_text, "a call", Mark.WRONG, "a number arrives as text"),
        (cut, "arguments", Mark.WRONG, "cut after 1,000 characters"),
        (garbled, "arguments", Mark.WRONG, "Unicode is garbled"),
        (unfinished, "max_tokens", Mark.WRONG, "ends with 'stop' after 5 tokens of 5"),
        (unstopped, "stop", Mark.WRONG, "goes on after the stop sequence"),
        (kept_stop, "stop", Mark.DIFFERS, "not before it"),
        (forgetful, "30,000 characters", Mark.WRONG, "only 512 tokens were read"),
        (deaf, "results of two calls", Mark.WRONG, "only 96 tokens were read"),
        (unable, "results of two calls", Mark.DIFFERS, "0 of the two"),
        (lossy_stream, "streamed or not", Mark.WRONG, "0 calls streamed, 1 otherwise"),
        (strict_template, "roles", Mark.REFUSES, "bad_request"),
    ],
)
async def test_a_planted_fault_is_found(
    change: Callable[[dict[str, Any], Scripted], Scripted | None], name: str, mark: Mark, words: str
) -> None:
    found, _ = await check(changed(change))
    assert (found[name].mark, words in found[name].text) == (mark, True), found[name]
    elsewhere = {other for other, item in found.items() if item.mark is Mark.WRONG} - {name}
    assert elsewhere <= ({"arguments", "a forced call", "a call"} if change in (as_text, lossy_stream) else set())


async def test_a_model_that_never_stops_is_cut_soon() -> None:
    written = list[int]()

    def endless(request: dict[str, Any]) -> Scripted:
        written.append(request.get("max_tokens", 100_000))
        return Scripted("word " * written[-1], finish="length")

    await check(endless)
    assert sum(written) < 5_000


@pytest.mark.parametrize("thoughts", [{"reasoning": "Hm. " * 50}, {"content": "<think>Hm. "}, {}], ids=str)
async def test_a_model_that_thinks_first_is_no_fault_of_the_server(thoughts: dict[str, str]) -> None:
    def thinking(request: dict[str, Any], said: Scripted) -> Scripted | None:
        return Scripted(**thoughts, finish="length") if request.get("max_tokens", 5) > 5 else None

    found, asked = await check(changed(thinking))
    assert {name: item for name, item in found.items() if item.mark is not Mark.OK} == {}
    assert asked <= REQUESTS, "only the first question was asked twice"


async def test_logprobs_are_said_to_be_given_or_not() -> None:
    given = changed(
        lambda request, said: (
            Scripted("B", logprobs=[("B", -0.1, {"B": -0.1, "A": -3.0})]) if request.get("logprobs") else None
        )
    )
    refusing = changed(lambda request, said: Scripted(fault="r400") if request.get("logprobs") else None)
    for answer, words in (
        (given, "given, with alternatives"),
        (sound, "not given:"),
        (refusing, "not given (bad_request)"),
    ):
        found, _ = await check(answer)
        assert (found["logprobs"].mark, words in found["logprobs"].text) == (Mark.OK, True), found["logprobs"]
    found, _ = await check(changed(without_alternatives))
    assert found["logprobs"].mark is Mark.DIFFERS


def test_prose_about_a_tool_is_no_call() -> None:
    assert not written_call("I could use look_up to find number 7, but need not.", ["look_up"])
    assert not written_call('{"name": "Ada", "role": "pilot"}', ["look_up"])
    assert not written_call("<tool_call>", ["look_up"])
    assert written_call("look_up(number=7)", ["look_up"]) == "Python"


@pytest.mark.parametrize(
    ("provider", "sent"),
    [
        ("responses", {"max_output_tokens": 5, "tool_choice": {"type": "function", "name": "look_up"}}),
        ("anthropic", {"stop_sequences": ["5"], "tool_choice": {"type": "tool", "name": "look_up"}}),
        ("gemini", {"stopSequences": ["5"], "allowedFunctionNames": ["look_up"]}),
        ("ollama", {"stop": ["5"], "num_predict": 5}),
    ],
)  # fmt: skip
async def test_each_api_is_asked_in_its_own_words(provider: str, sent: dict[str, Any]) -> None:
    with ApiServer([Said("They are 4711 and 8153, heron.")]) as server:
        model = ModelConfig(name="m", model_id="m", provider=provider, base_url=server.base_url)
        found = {item.name: item async for item in check_endpoint(model)}
    bodies = json.dumps(server.requests)
    for name, value in sent.items():
        assert f"{json.dumps(name)}: {json.dumps(value)}" in bodies
    if provider != "ollama":
        assert '"seed"' not in bodies or provider == "gemini"
        assert '"stop":' not in bodies
    assert not [item for item in found.values() if item.mark is Mark.REFUSES]


@pytest.mark.parametrize("fault", ["cut_head", "r529", "html502", "s_cut"])
async def test_a_lost_answer_is_no_finding(fault: str) -> None:
    """Only a server that read a question can refuse it."""
    lossy = changed(lambda request, said: Scripted(fault=fault) if request["messages"][0]["role"] == "system" else None)
    found, _ = await check(lossy)
    assert found["roles"].mark is Mark.UNCHECKED, found["roles"]
    assert "template" not in found["roles"].effect


async def test_a_server_that_closes_its_connections_is_sound(monkeypatch) -> None:
    monkeypatch.setattr(Connection, "most_requests", 1)
    found, asked = await check(sound)
    assert {name: item.mark for name, item in found.items() if item.mark is not Mark.OK} == {}
    assert asked <= REQUESTS


async def test_one_differing_pair_of_answers_is_not_the_stream_s_fault() -> None:
    """As where a prompt cache changed the last bits of the second answer."""
    free = itertools.count()

    def uneven(request: dict[str, Any], said: Scripted) -> Scripted | None:
        return Scripted("No.") if last_text(request).startswith("Look up number 7 with") and next(free) == 1 else None

    found, asked = await check(changed(uneven))
    assert found["streamed or not"].mark is Mark.DIFFERS, found["streamed or not"]
    assert asked <= REQUESTS
