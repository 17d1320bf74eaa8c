"""Small agents with a tool, one for each dialect, whole and as events: our models see the same from all.

They give the same answers as alone with a server that speaks their dialect.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from server.api_server import ApiServer, Said
from server.openai_server import OpenAIServer, Scripted

from console.core.record import Asked, Finished
from console.store.runs import RunFolder

COMMON = """\
import json, os, sys, urllib.request
STREAM = bool(int(sys.argv[1]))
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}

def post(address, path, body):
    headers = {"Content-Type": "application/json"}
    body = json.dumps(body | {"stream": STREAM}).encode()
    request = urllib.request.Request(os.environ[address] + path, body, headers)
    with urllib.request.urlopen(request) as answer:
        text = answer.read().decode()
    if not STREAM:
        return json.loads(text)
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]
    return [json.loads(line) for line in lines]

case = json.load(sys.stdin)
"""
CHAT = """
def ask(messages):
    tools = [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}}]
    answer = post("OPENAI_BASE_URL", "/chat/completions", {"model": "m", "messages": messages, "tools": tools})
    if not STREAM:
        return answer["choices"][0]["message"]
    message = {"role": "assistant", "content": "", "tool_calls": []}
    for chunk in answer:
        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        message["content"] += delta.get("content") or ""
        for call in delta.get("tool_calls") or ():
            if call.pop("index") == len(message["tool_calls"]):
                message["tool_calls"].append(call)
            else:
                message["tool_calls"][-1]["function"]["arguments"] += call["function"]["arguments"]
    return message

messages = [{"role": "user", "content": case["input"]}]
while (reply := ask(messages)).get("tool_calls"):
    for call in reply["tool_calls"]:
        numbers = json.loads(call["function"]["arguments"])
        result = {"role": "tool", "tool_call_id": call["id"], "content": str(numbers["x"] + numbers["y"])}
    messages += [reply, result]
print(reply["content"])
"""
RESPONSES = """
def ask(items):
    tools = [{"type": "function", "name": "add", "description": "Adds.", "parameters": SCHEMA}]
    answer = post("OPENAI_BASE_URL", "/responses", {"model": "m", "input": items, "tools": tools, "store": False})
    return (answer[-1]["response"] if STREAM else answer)["output"]

items = [{"role": "user", "content": case["input"]}]
while (made := ask(items))[-1]["type"] == "function_call":
    numbers = json.loads(made[-1]["arguments"])
    result = str(numbers["x"] + numbers["y"])
    items += [*made, {"type": "function_call_output", "call_id": made[-1]["call_id"], "output": result}]
print(made[-1]["content"][0]["text"])
"""
ANTHROPIC = """
def ask(messages):
    tools = [{"name": "add", "description": "Adds.", "input_schema": SCHEMA}]
    body = {"model": "claude", "max_tokens": 500, "messages": messages, "tools": tools}
    answer = post("ANTHROPIC_BASE_URL", "/v1/messages", body)
    if not STREAM:
        return answer["content"]
    blocks = [event["content_block"] for event in answer if event["type"] == "content_block_start"]
    for event in answer:
        if event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            else:
                block["written"] = block.get("written", "") + delta["partial_json"]
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block.pop("written"))
    return blocks

messages = [{"role": "user", "content": case["input"]}]
while (blocks := ask(messages))[-1]["type"] == "tool_use":
    numbers = blocks[-1]["input"]
    result = {"type": "tool_result", "tool_use_id": blocks[-1]["id"], "content": str(numbers["x"] + numbers["y"])}
    messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
print(blocks[-1]["text"])
"""
CASE = {"id": "sum", "input": "Add 2 and 3, and 2 again.", "target": "7"}
AGENTS = {"chat": CHAT, "responses": RESPONSES, "anthropic": ANTHROPIC}


def answer(request: dict[str, Any]) -> Scripted:
    """Call the tool twice, and then say what it gave last."""
    results = [str(message["content"]) for message in request["messages"] if message["role"] == "tool"]
    if len(results) < 2:
        return Scripted(calls=[("add", {"x": 2, "y": int((results or ["3"])[-1])})])
    return Scripted(f"It is {results[-1]}.")


@pytest.mark.parametrize("stream", [pytest.param(0, marks=pytest.mark.slow), 1])
@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_with_a_tool_plays_in_its_own_dialect(console: Any, home: Path, agent: str, stream: int) -> None:
    folder = home / "data" / "agents"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(COMMON + AGENTS[agent])
    command = json.dumps([sys.executable, "-S", "agent.py", str(stream)])
    (folder / "suite.toml").write_text(f'format = "program"\ncommand = {command}\n')
    (folder / "cases.jsonl").write_text(json.dumps(CASE) + "\n")
    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        console("allow", "agents")
        assert console("run", "-m", "m", "-s", "agents", "--quiet").code == 0
    (run,) = (home / "runs").iterdir()
    records = list(RunFolder(run).reader().iter_all())
    (finished,) = [record for record in records if isinstance(record, Finished)]
    assert (finished.verdict.outcome.value, finished.output["answer"]) == ("passed", "It is 7.")
    assert sum(isinstance(record, Asked) for record in records) == len(server.requests) == 3
    said = [(message["role"], message.get("content") or "") for message in server.requests[-1]["messages"]]
    assert said == [
        ("user", "Add 2 and 3, and 2 again."),
        ("assistant", ""),
        ("tool", "5"),
        ("assistant", ""),
        ("tool", "7"),
    ]
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["add"]


@pytest.mark.parametrize("agent", AGENTS)
def test_alone_with_a_server_of_its_dialect_an_agent_gives_the_same(home: Path, agent: str) -> None:
    (home / "agent.py").write_text(COMMON + AGENTS[agent])
    calls = [Said(calls=[("add", {"x": 2, "y": number})]) for number in (3, 5)]
    with ApiServer([*calls, Said("It is 7.")]) as server:
        addresses = {"OPENAI_BASE_URL": server.base_url, "ANTHROPIC_BASE_URL": server.base_url.removesuffix("/v1")}
        command = [sys.executable, "-S", str(home / "agent.py"), "1"]
        alone = subprocess.run(
            command, input=json.dumps(CASE), env=addresses, capture_output=True, text=True, check=True
        )
    assert alone.stdout == "It is 7.\n"
    results = json.dumps(server.requests[-1].get("messages") or server.requests[-1]["input"])
    assert (len(server.requests), '"5"' in results, '"7"' in results) == (3, True, True)
