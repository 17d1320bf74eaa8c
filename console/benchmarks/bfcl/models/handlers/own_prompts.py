"""Handlers with their own prompts for functions: DM-Cito and Nemotron, over a chat service.

Source: BFCL v4, `mining.py` and `nemotron.py`; the texts are read from the pulled release.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.handlers.generic import written_results
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn
from console.benchmarks.bfcl.models.handlers.services import Service
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.models.templates.template import system_as_user, users_merged
from console.core.chat import Message, Reply

_FOLDER = "model_handler/api_inference"
_DM_CITO_CALLS = re.compile(r"<tool_calls>\n(.*?)\n</tool_calls>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """Specific behavior of one such handler."""

    native: bool
    """Use the official native loop, though without sending tools."""
    call_format: str
    open_turn: Callable[[Sequence[Turn], int, Sequence[Doc], ReleaseTexts], list[Turn]]
    read: Callable[[str | None], Any]
    """Parses an answer to the value for the result file."""
    shows_results: bool
    """Send the results of calls to the model."""


@dataclass(frozen=True, slots=True)
class OwnPromptHandler:
    """Handler of a row with its own prompt."""

    own: OwnPrompt
    service: Service
    texts: ReleaseTexts
    executable: Callable[[Any], list[str]]
    described_in_prompt: bool = False

    @property
    def native(self) -> bool:
        return self.own.native

    @property
    def call_format(self) -> str:
        return self.own.call_format

    def params(self, docs: Sequence[Doc], *, long: bool) -> Mapping[str, Any]:
        del docs, long
        return self.service.prompting

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        return self.own.open_turn([cast(Turn, message) for message in messages], number, docs, self.texts)

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        return Answer(self.own.read(reply.content), {"role": "assistant", "content": reply.content})

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer
        return written_results(calls, results) if self.own.shows_results else []


def _open_dm_cito(turn: Sequence[Turn], number: int, docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    if number:
        return list(turn)
    before, after = texts.of("mining", "MiningHandler.mining_system_prompt_pre_processing_chat_model")[:2]
    prompt = before.replace("{}", str(list(docs))) + after
    if turn and turn[0]["role"] == "system":
        return [{**turn[0], "content": f"{prompt}\n\n{turn[0]['content']}"}, *turn[1:]]
    return [{"role": "system", "content": prompt}, *turn]


def _read_dm_cito(content: str | None) -> Any:
    text = content or ""
    block = _DM_CITO_CALLS.search(text)
    output: Any = block[1].strip() if block else text
    with contextlib.suppress(ValueError, RecursionError):
        output = json.loads(output)
    return output


def _open_nemotron(turn: Sequence[Turn], number: int, docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    """Move the first question to the system prompt."""
    merged = users_merged(system_as_user(turn))
    if number:
        return merged
    template = texts.of("nemotron", "NemotronHandler._format_system_prompt")[0]
    first = next((index for index, message in enumerate(merged) if message["role"] == "user"), None)
    question = "" if first is None else merged.pop(first)["content"]
    values = {"functions": str(list(docs)), "user_prompt": question}
    prompt = re.sub(r"\{(functions|user_prompt)\}", lambda slot: values[slot[1]], template)
    return [{"role": "system", "content": prompt}, *merged]


OWN_PROMPTS: Mapping[str, OwnPrompt] = {
    "DMCitoHandler": OwnPrompt(False, "dm_cito", _open_dm_cito, _read_dm_cito, shows_results=True),
    "NemotronHandler": OwnPrompt(True, "nemotron", _open_nemotron, lambda content: content, shows_results=False),
}
"""Behavior by official class."""


def own_prompt_texts(package: Path | None) -> ReleaseTexts:
    """Return the reader of the release's modules with these prompts."""
    return ReleaseTexts(package, _FOLDER)
