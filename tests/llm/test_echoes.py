"""A key that a server gives back is in no reply, no fault and no live text, whole or in pieces."""

import importlib.util
import json
import random
import string
from itertools import product

import pytest
from server.openai_server import OpenAIServer
from support.echoes import ANSWERS, ERRORS, install, pieces_in

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.llm.servers.model_list import served_models

KEY = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=64))
CLIENTS = {
    "streamed": {},
    "plain": {"params": {"stream": False}},
    "litellm": {"provider": "litellm", "model_id": "openai/m"},
}


@pytest.fixture
def echoing(connect, question, seen, monkeypatch):
    """Ask for an echo under the key; return everything of it that could be kept or shown."""
    install(monkeypatch)
    monkeypatch.setenv("ECHOED_KEY", KEY)

    async def ask(name, client, **settings):
        limits = {"timeout_s": 60, "first_token_s": 60, "max_wait_s": 0}
        endpoint = connect(limits, api_key_env="ECHOED_KEY", **CLIENTS[client], **settings)
        try:
            outcome = await endpoint.ask(question(f"fault:echo_{name}"), seen)
        except Fault as fault:
            outcome = fault
        told = f"{outcome!r} {outcome}" if not isinstance(outcome, Fault) else f"{outcome.__dict__} {outcome.args}"
        return outcome, told + json.dumps(seen.texts) + seen.text() + seen.text("reasoning") + seen.text("tool")

    return ask


def skip_without_litellm(client):
    if client == "litellm" and importlib.util.find_spec("litellm") is None:
        pytest.skip("litellm is not installed")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("client", "name"),
    [
        pytest.param(client, name, marks=[pytest.mark.slow] * (client == "litellm"))
        for client, name in product(CLIENTS, ANSWERS)
        if (client, name) != ("litellm", "refusal")  # litellm drops refusals
    ],
)
async def test_an_answer_that_holds_the_key_is_kept_without_it(echoing, name, client):
    skip_without_litellm(client)
    reply, told = await echoing(name, client)
    assert not isinstance(reply, Fault), reply
    assert pieces_in(told, KEY) == []
    if (client, name) != ("litellm", "model"):  # litellm gives the name that was asked for
        assert "[redacted]" in told
        assert "a secret was removed" in reply.flags


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("client", ["streamed", "plain", pytest.param("litellm", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_that_holds_the_key_is_told_without_it(echoing, name, client):
    skip_without_litellm(client)
    fault, told = await echoing(name, client)
    assert isinstance(fault, Fault), fault
    assert fault.kind is not FaultKind.INTERNAL
    assert pieces_in(told, KEY) == []


async def test_text_around_an_echoed_key_is_whole(echoing):
    for name in ("content", "content_by_one"):
        reply, _ = await echoing(name, "streamed")
        assert reply.content.removesuffix(".") == "Your key is [redacted], is it not?"


async def test_embeddings_and_lists_of_models_hold_no_key(connect, seen, monkeypatch):
    install(monkeypatch)
    monkeypatch.setenv("ECHOED_KEY", KEY)
    for name in ("refused", "body_cut_by_the_server", "page", "error_with_status_200", "redirect"):
        with pytest.raises(Fault) as caught:
            await connect(model_id=f"fault:echo_{name}", api_key_env="ECHOED_KEY").embed(["x"], seen)
        assert pieces_in(f"{caught.value.__dict__}", KEY) == []
    with OpenAIServer(models=(f"a-{KEY}", KEY[:30])) as server:
        model = ModelConfig(name="x", model_id="m", base_url=server.base_url, api_key_env="ECHOED_KEY")
        assert await served_models(model) == ["a-[redacted]", "[redacted]"]
