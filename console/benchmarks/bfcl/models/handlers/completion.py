"""Handler for local models behind `/v1/completions`, which renders the whole conversation with a template."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn, UnreadableAnswer, answers_may_break
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.models.templates.template import PromptInput, Template
from console.core.chat import Message, Reply


def recorded_thought(template: Template, completion: str) -> str:
    """Return the reasoning that the official handler of a local row records for a completion.

    It is in tags in the server's text, and only some families extract it.
    """
    try:
        with answers_may_break():
            return template.read(completion).reasoning
    except UnreadableAnswer:
        return ""


PROMPT_ROLE = "prompt"
"""Role of a piece of a rendered prompt; pieces are joined without a separator."""


@dataclass(frozen=True, slots=True)
class CompletionHandler:
    """Handler with a template, its release texts, and a decode family."""

    template: Template
    texts: ReleaseTexts
    executable: Callable[[Any], list[str]]
    call_format: str
    """Name of the template."""
    native: bool = False
    """All local models use the official prompting loop."""

    @property
    def described_in_prompt(self) -> bool:
        return self.template.described_in_prompt

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        del docs, long
        return self.template.request

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        del docs
        turn = [cast(Turn, message) for message in messages]
        return turn if number and self.template.first_turn_only else self.template.open_turn(turn)

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        pieces = self.template.render(PromptInput(history, docs, self.texts, asked_before))
        return [{"role": PROMPT_ROLE, "content": piece} for piece in pieces if piece]

    def read(self, reply: Reply) -> Answer:
        completion = self.template.read(reply.content or "")
        return Answer(completion.output, completion.message)

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        return self.template.show_results(calls, results, answer)
