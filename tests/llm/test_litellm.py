"""litellm behind the same promises: tools work, its inventions are not believed, nothing is painted on the terminal.

One process for all, because its import takes seconds.
"""

import importlib.util
import json
import subprocess
import sys

import pytest

from console.core.chat import Usage
from console.core.fault import Fault, FaultKind

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning"),
]
K = FaultKind


@pytest.fixture
def ask(connect, question, seen):
    async def ask(text, limits=None, **settings):
        tools = settings.pop("tools", [])
        limits = {"timeout_s": 60, "first_token_s": 60} | (limits or {})  # its first question loads half of it
        endpoint = connect(limits, provider="litellm", model_id="openai/m", **settings)
        return await endpoint.ask(question(text, tools=tools), seen)

    return ask


async def test_text_streams_and_usage_is_the_servers(ask, seen):
    reply = await ask("hello")
    assert reply.content == seen.text() == "You said: hello"
    assert reply.finish == "stop"
    assert reply.usage is not None
    assert reply.usage.output == len("You said: hello") // 4


async def test_a_call_with_tools_works(ask):
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}}
    reply = await ask("hello", tools=[tool])
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [("f", {"a": "x"})]
    assert reply.finish == "tool_calls"


async def test_the_key_is_sent_and_the_address_is_ours(ask, key, server):
    await ask("hello")
    assert server.heads[-1]["authorization"] == f"Bearer {key}"


@pytest.mark.parametrize("name", ["usage_missing", "usage_zero"])
async def test_usage_that_litellm_counts_itself_is_not_believed(ask, name):
    reply = await ask(f"fault:{name}")
    assert reply.content == "The weather is fine"
    assert reply.usage is None


async def test_full_usage_is_kept(ask):
    reply = await ask("fault:usage_full")
    assert isinstance(reply.usage, Usage)
    assert (reply.usage.input, reply.usage.output, reply.usage.cached, reply.usage.reasoning) == (100, 20, 64, 12)


FAULTS = [
    ("r401", K.AUTH),
    ("r404", K.NOT_FOUND),
    ("r402", K.QUOTA),
    ("r429_quota", K.QUOTA),
    ("ctx", K.CONTEXT),
    ("r400", K.BAD_REQUEST),
    ("r500", K.SERVER),
    ("s_nodone", K.TRUNCATED),
    ("s_cut", K.BROKEN_STREAM),
    ("html200", K.BAD_ANSWER),
    ("s_only_done", K.BAD_ANSWER),
]


@pytest.mark.parametrize(("name", "kind"), FAULTS)
async def test_faults_are_typed_as_elsewhere(ask, seen, key, server, name, kind):
    before = server.counts["chat"]
    with pytest.raises(Fault) as caught:
        await ask(f"fault:{name}")
    assert caught.value.kind is kind, caught.value
    assert server.counts["chat"] - before == 1, "litellm retried on its own"
    assert key not in f"{caught.value.message}{caught.value.partial}{caught.value.args}"
    if kind in (K.TRUNCATED, K.BROKEN_STREAM):
        assert caught.value.partial == "The weather is fine"


async def test_a_stalled_stream_meets_our_own_limit(ask):
    with pytest.raises(Fault) as caught:
        await ask("fault:s_ping", {"idle_s": 0.3})
    assert caught.value.kind is K.STALLED


async def test_a_rate_limit_is_waited_for(ask, seen):
    reply = await ask("fault:r429_msx1")
    assert reply.tries == 2
    assert [fault.kind for fault, _ in seen.failed] == [K.RATE_LIMIT]


async def test_embeddings(connect, seen):
    from server.vectors import vector

    endpoint = connect(provider="litellm", model_id="openai/e-floats")
    found = await endpoint.embed(["one two", "three"], seen)
    assert found == [pytest.approx(vector("one two")), pytest.approx(vector("three"))]


def test_importing_it_is_silent_and_asks_no_network():
    program = (
        "import socket, sys\n"
        "socket.socket.connect = lambda *a: sys.exit('network at import')\n"
        "from console.llm.litellm_client import load_litellm\n"
        "assert 'litellm' not in sys.modules\n"
        "module = load_litellm()\n"
        "import logging\n"
        "logging.getLogger('LiteLLM').error('must not be seen')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
