"""Rows of the official registry, asked over each protocol in conversations with calls, by real HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.api_server import ApiServer, Said

from console.cli.exitcode import Exit
from console.core.live import Deltas
from console.engine.attach import EngineLink

ROWS = {
    "chat": ("openai", "kimi-k2-0905-preview-FC"),
    "mistral": ("openai", "mistral-large-2411-FC"),
    "responses": ("responses", "gpt-5-mini-2025-08-07-FC"),
    "anthropic": ("anthropic", "claude-haiku-4-5-20251001-FC"),
    "gemini": ("gemini", "gemini-2.5-flash-FC"),
    "completions": ("completions", "meta-llama/Llama-3.1-8B-Instruct"),
}
"""A row of each api, with the provider that asks it."""
APIS = tuple(ROWS)
KILLED = ("chat", "anthropic")
"""What `make test` kills in mid conversation; `make test-all` kills them all."""
REPLAYED = {"chat": "I look", "responses": "sealed==", "anthropic": "signed==", "gemini": "signed=="}
"""What the next request must hold of the reasoning before it."""
REFUSALS = {"responses": "", "anthropic": "refusal", "gemini": "SAFETY"}
HELD = {"chat": 4, "mistral": 2, "responses": 5, "anthropic": 9, "gemini": 3, "completions": 2}
"""Events of an answer with reasoning and one call, up to where the call stands but nothing proves the answer whole."""
MODEL = """
[m]
model_id = "m-1"
provider = "{provider}"
base_url = "{address}"
bfcl_name = "{row}"
api_key_env = "API_KEY"
limits = {{ backoff_s = 0.01, max_tries = 4 }}
"""
CASE = "multi_turn_base_0"
STEPS: list[list[tuple[str, dict[str, Any]]]] = [
    [("take", {"item": "flour", "amount": 400}), ("take", {"item": "eggs", "amount": 3})],
    [],
    [("list_stock", {})],
    [],
    [("add_to_shopping_list", {"item": "eggs"})],
    [],
]
"""The right calls of the case, an answer without any after each."""


def answer(api: str, calls: list[tuple[str, dict[str, Any]]], **more: Any) -> Said:
    if not calls:
        return Said("That is done.", **more)
    if api == "completions":
        texts = [f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls]
        return Said(f"[{', '.join(texts)}]", **more)
    reasoning = "" if api == "mistral" else "I look it up."
    return Said("", calls, reasoning, **more)


def answers(api: str) -> list[Said]:
    return [answer(api, calls) for calls in STEPS]


@pytest.fixture
def serve(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a maker of a server that models.toml names as the row of a api."""
    monkeypatch.setenv("API_KEY", "key-for-the-apis-0123456789")
    running: list[ApiServer] = []

    def start(api: str, script: list[Said]) -> ApiServer:
        running.append(ApiServer(script).__enter__())
        provider, row = ROWS[api]
        (home / "models.toml").write_text(MODEL.format(provider=provider, row=row, address=running[-1].base_url))
        return running[-1]

    yield start
    for server in running:
        server.__exit__(None)


ARGUMENTS = ("run", "-m", "m", "-s", "bfcl-starter", "--ids", CASE, "--json", "--quiet")


def play(console: Any) -> dict[str, Any]:
    ended = console(*ARGUMENTS)
    assert ended.code == Exit.OK, ended.err
    return ended.data


async def watch(run: Path, expected: dict[str, str]) -> None:
    """Attach to a run and read until its text in flight holds what is expected, by kind."""
    link = await EngineLink.connect(run)
    assert link is not None
    seen: dict[str, str] = defaultdict(str)
    async with asyncio.timeout(60):
        async for frame in link.frames():
            if isinstance(frame, Deltas):
                for item in frame.items:
                    seen[item.kind] += item.text
            if all(text in seen[kind] for kind, text in expected.items()):
                link.close()
                return
    raise AssertionError(dict(seen))


@pytest.mark.parametrize(
    "api", [*KILLED, *(pytest.param(api, marks=pytest.mark.slow) for api in APIS if api not in KILLED)]
)
def test_a_conversation_is_watched_killed_and_resumed(api, console, home, serve):
    undisturbed = serve(api, answers(api))
    assert play(console)["summary"]["tally"]["passed"] == 1
    expected = undisturbed.requests
    assert len(expected) == len(STEPS)
    assert REPLAYED.get(api, "") in json.dumps(expected[1])
    held = answer(api, STEPS[2], held_after=HELD[api])
    script = answers(api)
    server = serve(api, [*script[:2], held, *script[2:]])
    before = set((home / "runs").iterdir())
    engine = subprocess.Popen([sys.executable, "-m", "console", *ARGUMENTS], env={**os.environ}, cwd=home)
    live = {"text": "[list_s"} if api == "completions" else {"tool": "list_stock"}
    if api in REPLAYED:
        live["reasoning"] = "I look"
    try:
        assert server.holds.wait(60)
        (run,) = (path for path in set((home / "runs").iterdir()) - before if path.name != ".index")
        asyncio.run(watch(run, live))
    finally:
        os.kill(engine.pid, signal.SIGKILL)
        engine.wait()
    ended = console("resume", run.name, "--json", "--quiet")
    assert ended.code == Exit.OK, ended.err
    assert ended.data["summary"]["tally"]["passed"] == 1
    assert server.requests[2] == server.requests[3]  # the one that is paid twice
    assert server.requests[:2] + server.requests[3:] == expected


@pytest.mark.parametrize("api", APIS)
def test_limits_and_cut_streams_are_waited_for_in_mid_conversation(api, console, serve):
    script = answers(api)
    error = {"error": {"message": "slow down"}}
    limited = Said(status="429 Too Many Requests", error=error, headers={"retry_after": "0"})
    cut = answer(api, STEPS[2], cut_after=1)
    server = serve(api, [*script[:2], limited, cut, *script[2:]])
    assert play(console)["summary"]["tally"]["passed"] == 1
    assert server.requests[2] == server.requests[3] == server.requests[4]
    assert len(server.requests) == len(STEPS) + 2


@pytest.mark.parametrize("api", REFUSALS)
def test_a_refusal_is_an_answer_and_ends_its_turn(api, console, serve):
    server = serve(api, [Said("I will not." if api == "responses" else "", end=REFUSALS[api])])
    assert play(console)["summary"]["tally"]["failed"] == 1
    assert len(server.requests) == 3  # one for each turn


def test_an_answer_that_breaks_the_handler_is_a_result_and_not_broken(console, home, serve):
    ROWS["broken"] = ("anthropic", "claude-haiku-4-5-20251001")
    try:
        server = serve("broken", [Said("", [("take", {"item": "flour"})])])
    finally:
        del ROWS["broken"]
    data = play(console)
    assert data["summary"]["tally"]["failed"] == 1
    assert len(server.requests) == 1
    finished = console("show", f"{data['run']}#{CASE}", "--json").data["finished"]
    assert finished["output"].startswith("Error during inference: ")
    assert finished["verdict"]["reason"] == "multi_turn:inference_error"
