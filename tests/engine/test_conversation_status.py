"""What a stage says a conversation is doing, in words."""

from typing import Any

import pytest

from console.core.case import Key
from console.core.chat import ChatRequest, Reply
from console.engine.recorded_effects import ConversationEffects
from console.engine.stage import JournaledStage
from console.suites.suite import AFTER_REPLY

STATES = {"clock": "starting", "invoke": "running code", "validate": "validating", AFTER_REPLY: "running code"}


class SayingHost:
    """A host that keeps what is said, with an endpoint that answers at once."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def state(self, key: Key, state: str, why: str = "") -> None:
        self.said.append(state)

    def endpoint(self, role: str) -> "SayingHost":
        return self

    async def ask(self, request: ChatRequest, watch: Any) -> Reply:
        return Reply("x = 1")

    async def before_call(self, *args: Any) -> None: ...

    def append(self, record: Any) -> None: ...

    def began(self, frame: Any) -> None: ...

    def admit(self, record: Any) -> Any:
        return record

    def model_answered(self, role: str) -> None: ...

    def release_reservation(self, key: Key, n: int) -> None: ...


async def nothing() -> None: ...


async def test_code_runs_between_two_replies() -> None:
    host = SayingHost()
    stage = JournaledStage(Key("a"), ConversationEffects(), host, states=STATES)  # pyright: ignore[reportArgumentType]
    await stage.perform("clock", {"turn": 0}, nothing)
    await stage.ask([{"role": "user", "content": "hello"}])
    assert host.said == ["starting", "asking", "running code"]


async def test_without_code_a_reply_changes_nothing() -> None:
    host = SayingHost()
    stage = JournaledStage(Key("a"), ConversationEffects(), host)  # pyright: ignore[reportArgumentType]
    await stage.ask([{"role": "user", "content": "hello"}])
    assert host.said == ["asking"]


@pytest.mark.parametrize(("kind", "words"), [("invoke", "running code"), ("validate", "validating"), ("a_b", "a b")])
async def test_effects_have_words(kind: str, words: str) -> None:
    host = SayingHost()
    stage = JournaledStage(Key("a"), ConversationEffects(), host, states=STATES)  # pyright: ignore[reportArgumentType]
    await stage.perform(kind, {}, nothing)
    assert host.said == [words]
