"""Rows that describe the functions in a prompt of their own: DM-Cito and Nemotron, over a chat service.

Source: BFCL v4, `mining.py` and `nemotron.py`; the wording is read from the pulled release.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.core.chat import Message, Reply
from console.suites.bfcl.handlers.handler import Answer, Turn
from console.suites.bfcl.handlers.services import Service
from console.suites.bfcl.rendering import Doc
from console.suites.bfcl.templates.release_texts import ReleaseTexts
from console.suites.bfcl.templates.template import system_as_user, users_merged

_FOLDER = "model_handler/api_inference"
_DM_CITO_CALLS = re.compile(r"<tool_calls>\n(.*?)\n</tool_calls>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DMCitoHandler:
    """The prompting loop with a long system prompt; an answer's JSON is its result."""

    service: Service
    texts: ReleaseTexts
    executable: Callable[[Any], list[str]]
    native: bool = False
    described_in_prompt: bool = False
    calls_form: str = "dm_cito"

    def params(self, *, long: bool) -> Mapping[str, Any]:
        del long
        return self.service.prompting

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        turn = [cast(Turn, message) for message in messages]
        if number:
            return turn
        before, after = self.texts.of("mining", "MiningHandler.mining_system_prompt_pre_processing_chat_model")[:2]
        prompt = before.replace("{}", str(list(docs))) + after
        if turn and turn[0]["role"] == "system":
            return [{**turn[0], "content": f"{prompt}\n\n{turn[0]['content']}"}, *turn[1:]]
        return [{"role": "system", "content": prompt}, *turn]

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del docs, asked_before
        return cast(list[Message], history)

    def read(self, reply: Reply) -> Answer:
        text = reply.content or ""
        block = _DM_CITO_CALLS.search(text)
        output: Any = block[1].strip() if block else text
        with contextlib.suppress(ValueError, RecursionError):
            output = json.loads(output)
        return Answer(output, {"role": "assistant", "content": text})

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer
        shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=False)]
        return [{"role": "user", "content": repr(shown)}]


@dataclass(frozen=True, slots=True)
class NemotronHandler:
    """The native loop without tools; the first question moves into the system prompt, results are not sent."""

    service: Service
    texts: ReleaseTexts
    executable: Callable[[Any], list[str]]
    native: bool = True
    described_in_prompt: bool = False
    calls_form: str = "nemotron"

    def params(self, *, long: bool) -> Mapping[str, Any]:
        del long
        return self.service.prompting

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        turn = users_merged(system_as_user([cast(Turn, message) for message in messages]))
        if number:
            return turn
        template = self.texts.of("nemotron", "NemotronHandler._format_system_prompt")[0]
        first = next((index for index, message in enumerate(turn) if message["role"] == "user"), None)
        question = "" if first is None else turn.pop(first)["content"]
        values = {"functions": str(list(docs)), "user_prompt": question}
        prompt = re.sub(r"\{(functions|user_prompt)\}", lambda slot: values[slot[1]], template)
        return [{"role": "system", "content": prompt}, *turn]

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
        del answer, calls, results
        return []


def own_prompt_texts(package: Path | None) -> ReleaseTexts:
    """Return the literals of the release's modules that hold these prompts."""
    return ReleaseTexts(package, _FOLDER)
