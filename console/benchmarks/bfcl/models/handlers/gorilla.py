"""Handler of Gorilla's own server: chat with documents as `functions`, and calls as text.

Source: BFCL v4, `gorilla.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn
from console.core.chat import Message, Reply

GORILLA = "GorillaHandler"
"""The official class."""


@dataclass(frozen=True, slots=True)
class GorillaHandler:
    """Handler of the only row with this server; none of its calls is ever executed."""

    executable: Callable[[Any], list[str]]
    call_format: str = "gorilla"
    native: bool = True
    described_in_prompt: bool = False

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        del long
        return {"functions": list(docs)}

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del number, docs
        return [cast(Turn, message) for message in messages]

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        return Answer(reply.content, {"role": "assistant", "content": reply.content})

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer, calls
        return [{"role": "tool", "content": text} for text in results]
