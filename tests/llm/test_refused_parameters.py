"""Parameters that a server refuses: what is said, what is asked otherwise, and the entry that goes through."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.config.model import ModelConfig
from console.config.model_entry import entry_of
from console.config.models import load_models
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind
from console.llm.providers import open_endpoint
from console.llm.servers import parameter_trial
from console.llm.servers.parameter_trial import try_model
from console.llm.servers.refused_parameters import RefusedParameter, refused_parameter, what_to_write
from console.llm.transport.faults import provider_error_of
from console.llm.wires.chat import chat_body

BODY = {"model": "m", "messages": [], "temperature": 0.7, "max_tokens": 9, "stream": True, "store": False, "top_p": 1}
SAID: list[tuple[dict[str, Any], RefusedParameter | None]] = [
    (
        {"message": "Unsupported value: 'temperature' does not support 0.7", "code": "unsupported_value"},
        RefusedParameter("temperature"),
    ),
    ({"message": "not this one", "param": "store", "code": "unsupported_parameter"}, RefusedParameter("store")),
    (
        {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "param": "max_tokens"},
        RefusedParameter("max_tokens", "max_completion_tokens"),
    ),
    ({"message": "`temperature` and `top_p` cannot both be set: unsupported"}, RefusedParameter("temperature")),
    ({"message": "extra inputs are not permitted", "param": "top_p"}, RefusedParameter("top_p")),
    ({"message": "Unknown parameter: 'messages[0].name'.", "param": "messages[0].name"}, None),
    ({"message": "unknown field: stream_options"}, None),
    ({"message": "temperature must be at most 2"}, None),
    ({"message": "the model is unknown"}, None),
    ({"message": "tools are not supported"}, None),
]


@pytest.mark.parametrize(("error", "refused"), SAID)
def test_which_parameter_an_error_is_about(error: dict[str, Any], refused: RefusedParameter | None) -> None:
    assert refused_parameter(provider_error_of({"error": error}), BODY) == refused


async def test_the_first_refusal_says_what_to_write(connect, question, seen) -> None:
    endpoint = connect(temperature=0.7)
    with pytest.raises(Fault) as caught:
        await endpoint.ask(question("fault:newer_model"), seen)
    assert caught.value.kind is FaultKind.BAD_REQUEST
    assert caught.value.hint == 'Write omit = ["temperature"] into [tested] of models.toml.'


async def test_what_changes_no_question_is_asked_otherwise_and_said_once(connect, question, seen, server) -> None:
    endpoint = connect(max_tokens=9)
    replies = await asyncio.gather(*(endpoint.ask(question("fault:newer_model"), seen) for _ in range(5)))
    assert {reply.content for reply in replies} == {"yes"}
    assert [fault.hint for fault, _ in seen.failed] == [
        'Write rename = { max_tokens = "max_completion_tokens" } into [tested] of models.toml.',
        'Write omit = ["stream_options"] into [tested] of models.toml.',
    ]
    before = server.counts["newer_model"]
    await endpoint.ask(question("fault:newer_model"), seen)
    assert server.counts["newer_model"] == before + 1
    assert len(seen.failed) == 2


def test_nobody_sends_what_is_to_be_omitted() -> None:
    model = ModelConfig(
        name="x", model_id="m", temperature=0.1, omit=("temperature", "store"), rename={"max_tokens": "most"}
    )
    body = chat_body(model, ChatRequest([], params={"temperature": 0.7, "store": False, "max_tokens": 5}))
    assert {"temperature", "store", "max_tokens"} & body.keys() == set()
    assert body["most"] == 5


async def test_a_trial_finds_the_entry_that_goes_through(tmp_path: Path, key: str) -> None:
    with OpenAIServer(lambda request: Scripted(fault="newer_model")) as server:
        model = ModelConfig(
            name="new.est", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY", temperature=0.5
        )
        adapted, trials = await try_model(model)
        assert [(trial.name, trial.text) for trial in trials] == [
            ("without tools", "answers"),
            ("with tools", "answers, with 1 call"),
        ]
        path = tmp_path / "models.toml"
        path.write_text(entry_of(adapted))
        written = load_models(path).models["new.est"]
        assert key not in path.read_text()
        before = server.counts["newer_model"]
        assert await try_model(written) == (written, trials) or server.counts["newer_model"] == before + 2
        endpoint = open_endpoint(written)
        request = ChatRequest([{"role": "user", "content": "?"}], params={"temperature": 0.7, "max_tokens": 4000})
        assert (await endpoint.ask(request, _Silent())).content == "yes"
        await endpoint.aclose()
        assert server.counts["newer_model"] == before + 3, "nothing is refused any more"


class _Silent:
    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


async def test_a_trial_of_a_server_that_refuses_everything_says_so(key: str) -> None:
    with OpenAIServer(lambda request: Scripted(fault="r401")) as server:
        model = ModelConfig(name="x", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY")
        adapted, trials = await try_model(model)
    assert adapted == model
    assert [trial.fault.kind for trial in trials if trial.fault is not None] == [FaultKind.AUTH] * 2
    assert server.counts["chat"] == 2


async def test_a_trial_does_not_wait_for_a_server_that_drips(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameter_trial, "_LONGEST_S", 0.3)
    with OpenAIServer(lambda request: Scripted("word " * 10_000, itl_s=0.1)) as server:
        model = ModelConfig(name="x", model_id="m", base_url=server.base_url, api_key_env="TEST_KEY")
        async with asyncio.timeout(60):
            adapted, trials = await try_model(model)
    assert adapted == model
    assert [trial.fault.kind for trial in trials if trial.fault is not None] == [FaultKind.DEADLINE] * 2


def test_a_sentence_for_every_form() -> None:
    model = ModelConfig(name="x", model_id="m", omit=("store",))
    assert what_to_write(model, RefusedParameter("stream")) == (
        "Write params = { stream = false } into [x] of models.toml."
    )
    assert 'omit = ["store", "top_p"]' in what_to_write(model, RefusedParameter("top_p"))
