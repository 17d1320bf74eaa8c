"""What is sent to services for the rows of the official registry, and what their answers mean."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.handlers.handler import UnreadableAnswer
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.benchmarks.bfcl.models.handlers.table import handler_for
from console.benchmarks.bfcl.models.profile import find_profile
from console.benchmarks.bfcl.request_check import RequestChecker, ServiceExchange
from console.core.fault import UsageError
from console.core.provider import PROVIDERS

CHECKOUT = Path(__file__).resolve().parents[3]
CASES = CHECKOUT / ".." / "shared" / "conformance" / "bfcl" / "requests-public.jsonl.gz"
DATA = CHECKOUT / "data" / "bfcl"
STARTER = CHECKOUT / "data" / "bfcl-starter"
needs_cases = pytest.mark.skipif(not (CASES.is_file() and DATA.is_dir()), reason="no recorded requests, or no data")

Row = dict[str, Any]


def condensed(value: Any) -> Any:
    """Return a value with long texts as the recordings hold them."""
    if isinstance(value, str) and len(value) > 200:
        return {"sha256": hashlib.sha256(value.encode()).hexdigest(), "chars": len(value)}
    if isinstance(value, Mapping):
        return {key: condensed(inner) for key, inner in cast(Mapping[str, Any], value).items()}
    return [condensed(inner) for inner in cast(list[Any], value)] if isinstance(value, list) else value


def unseeded(body: Row) -> Any:
    """Return a body as the recordings hold it, which drew their seeds."""
    return condensed(body) | ({"seed": {"$any": "integer"}} if isinstance(body.get("seed"), int) else {})


def is_condensed(value: Any) -> bool:
    """Whether a recorded reply lacks a long text, without which nobody can tell what is sent next."""
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return fields.keys() == {"sha256", "chars"} or any(map(is_condensed, fields.values()))
    return any(map(is_condensed, cast(list[Any], value))) if isinstance(value, list) else False


def recorded() -> list[Row]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answers_to(rows: list[Row], data: Path = STARTER) -> list[Row | UsageError]:
    with RequestChecker(data, ServiceExchange()) as checker:
        return checker.check(rows)


@needs_cases
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["each tenth", "all"])
def test_requests_are_the_official_ones(every: int):
    shortened = {(row["model"], row["id"]) for row in recorded() if is_condensed(row["reply"])}
    offered = [row for row in recorded() if row["handler"] in SERVICES]
    rows = [row for row in offered if (row["model"], row["id"]) not in shortened]
    assert len(rows) > 900
    conversations = sorted({(row["model"], row["id"]) for row in rows})
    tried = set(conversations[::every])
    rows = [row for row in rows if (row["model"], row["id"]) in tried]
    different = [
        (row["model"], row["id"], row["step"])
        for row, answer in zip(rows, answers_to(rows, DATA), strict=True)
        if isinstance(answer, UsageError) or (answer["path"], unseeded(answer["body"])) != (row["path"], row["body"])
    ]
    assert different == []


def test_addresses_of_services_are_those_that_their_providers_ask():
    providers = {
        "OpenAIResponses": "responses",
        "Claude": "anthropic",
        "Gemini": "gemini",
        "Cohere": "cohere",
        "Nova": "bedrock",
        "Writer": "writer",
    }
    for handler, provider in providers.items():
        assert SERVICES[f"{handler}Handler"].base_url == PROVIDERS[provider].address


def test_a_service_that_is_not_offered_is_refused_by_name():
    row = {"model": "qwen3-4b-nothink-FC", "category": "simple_python", "id": "simple_python_0", "step": 0, "reply": []}
    first, later = answers_to([row, row | {"step": 1}])
    for answer in (first, later):
        assert isinstance(answer, UsageError)
        assert "QwenAgentNoThinkHandler" in answer.message


def step(model: str, number: int, reply: Any) -> Row:
    return {"model": model, "category": "multi_turn_base", "id": "multi_turn_base_1", "step": number, "reply": reply}


def test_results_of_cohere_are_rewritten_and_its_turns_end_with_a_user():
    handler = handler_for(find_profile("command-a-03-2025-FC"), Dataset(STARTER))
    calls = [{"id": f"c{number}", "type": "function", "function": {"name": "f"}} for number in range(5)]
    results = ["{'id': 1, 'b': None}", '{"b": true}', "[1]", "{'a': 'x'", "{'é': 2.0}"]
    shown = handler.show_results({"role": "assistant", "tool_calls": calls}, ["f()"] * 5, results)
    texts = ['{"b": null, "ID": 1}', '{"b": true}', "[1]", "{'a': 'x'", '{"\\u00e9": 2.0}']
    assert [message["content"] for message in shown] == texts
    with pytest.raises(UnreadableAnswer):
        handler.show_results({"role": "assistant", "tool_calls": calls}, ["f()"], ["{'a': {1}}"])
    assert handler.open_turn([], 1, []) == [{"role": "user", "content": ""}]
    assert handler.open_turn([], 0, []) == []


def test_parameters_of_writer_are_described_in_words():
    parameter = {"type": "string", "enum": ["a", "b"], "default": "a", "format": "date"}
    schema = {"type": "dict", "properties": {"p": parameter}, "required": [], "optional": ["p"]}
    doc = {"name": "f.g", "description": "D.", "parameters": schema, "response": {"type": "string"}}
    handler = handler_for(find_profile("palmyra-x-004"), Dataset(STARTER))
    (tool,) = handler.tools([doc])
    words = " Default is: a. Enum values: ['a', 'b']. Format: date."
    assert tool["function"]["name"] == "f.g"
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"p": {"type": "string", "description": words}},
        "required": [],
    }
    assert tool["function"]["description"].endswith("schema: " + json.dumps({"type": "string"}))
    assert handler.params([doc], long=False) == {"tool_choice": "auto"}
    assert handler.params([], long=False) == {}


def test_documents_go_to_gorilla_as_they_are():
    first, second = answers_to([step("gorilla-openfunctions-v2", n, chat_reply("f(a=1)")) for n in range(2)])
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["body"].keys() == {"model", "messages", "functions", "temperature"}
    assert all(doc["parameters"]["type"] == "dict" for doc in first["body"]["functions"])
    assert second["body"]["messages"][1] == {"role": "assistant", "content": "f(a=1)"}


def chat_reply(text: str) -> Row:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def test_encrypted_reasoning_goes_back_as_it_came():
    output = [
        {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "sealed"},
        {
            "type": "function_call",
            "id": "f",
            "call_id": "c",
            "name": "get_balance",
            "arguments": "{}",
            "status": "completed",
        },
    ]
    reply = {"status": "completed", "output": output}
    first, second = answers_to([step("gpt-5.2-2025-12-11-FC", 0, reply), step("gpt-5.2-2025-12-11-FC", 1, reply)])
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["body"]["include"] == ["reasoning.encrypted_content"]
    assert "temperature" not in first["body"]
    assert second["body"]["input"][1:3] == output
    assert second["body"]["input"][3]["type"] == "function_call_output"


def test_only_the_last_two_questions_are_marked_for_the_cache():
    reply = {
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t", "name": "get_balance", "input": {}}],
    }
    rows = [step("claude-opus-4-5-20251101-FC", number, reply) for number in range(3)]
    *_, last = answers_to(rows)
    assert isinstance(last, dict)
    users = [message["content"] for message in last["body"]["messages"] if message["role"] == "user"]
    assert ["cache_control" in content[0] for content in users] == [False, True, True]
    assert "cache_control" in last["body"]["tools"][-1]
    assert "prompt_cache" not in last["body"]


@pytest.mark.parametrize(
    "reply", [None, "text", {"status": "failed", "error": {"message": "x"}}, {"status": "completed"}, {}]
)
def test_an_answer_that_is_none_is_an_error_of_its_line(reply: Any):
    rows = [
        step("gpt-5.2-2025-12-11-FC", 0, reply),
        step("gpt-5.2-2025-12-11-FC", 0, {"status": "completed", "output": []}),
    ]
    bad, good = answers_to(rows)
    assert isinstance(bad, UsageError)
    assert isinstance(good, dict)
