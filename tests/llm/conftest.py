"""A test server, endpoints to it with short limits, and a watch that remembers."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from server.openai_server import OpenAIServer

from console.config.model import Limits, ModelConfig
from console.core.chat import ChatRequest
from console.core.fault import Fault
from console.llm.endpoint import Endpoint
from console.llm.providers import open_endpoint


class Seen:
    """Remembers all that a watch is told."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.failed: list[tuple[Fault, float | None]] = []
        self.waits: list[tuple[str, float | None]] = []
        self.addresses: list[str] = []
        self.resent = 0

    def on_resent(self) -> None:
        self.resent += 1

    def on_text(self, kind: str, text: str) -> None:
        self.texts.append((kind, text))

    def on_failed_try(self, fault: Fault, wait_s: float | None) -> None:
        self.failed.append((fault, wait_s))

    def on_address(self, address: str) -> None:
        self.addresses.append(address)

    def on_tokens(self, count: int) -> None:
        self.tokens = count

    def on_wait(self, why: str, until: float | None) -> None:
        self.waits.append((why, until))

    async def wait_to_retry(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)

    async def pause_run(self, fault: Fault) -> None:
        raise fault

    def text(self, kind: str = "text") -> str:
        return "".join(text for told, text in self.texts if told == kind)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
async def connect(server: OpenAIServer) -> AsyncIterator[Callable[..., Endpoint]]:
    """Return a maker of endpoints: one try, no waits, limits of a fraction of a second."""
    opened: list[Endpoint] = []

    def make(limits: dict[str, Any] | None = None, **settings: Any) -> Endpoint:
        limits = {"timeout_s": 5, "first_token_s": 5, "idle_s": 5, "max_tries": 1, "backoff_s": 0.01} | (limits or {})
        settings = {"model_id": "m", "base_url": server.base_url, "api_key_env": "TEST_KEY"} | settings
        opened.append(open_endpoint(ModelConfig(name="tested", limits=Limits(**limits), **settings)))
        return opened[-1]

    yield make
    for endpoint in opened:
        await endpoint.aclose()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """Set a key of this test's own, and so a limiter of its own."""
    value = f"sk-canary-{uuid.uuid4().hex}"
    monkeypatch.setenv("TEST_KEY", value)
    return value


@pytest.fixture
def question() -> Callable[..., ChatRequest]:
    def make(text: str = "hello", **more: Any) -> ChatRequest:
        return ChatRequest([{"role": "user", "content": text}], **more)

    return make
