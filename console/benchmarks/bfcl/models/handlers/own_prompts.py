"""Handlers that put functions elsewhere than in the API's tools, over a chat service.

Source: BFCL v4, `mining.py`, `nemotron.py`, `gorilla.py` and `qwen_agent.py` with the prompt of qwen-agent's `nous`
format; the texts are read from the pulled release.
"""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.data.tools import native_tools
from console.benchmarks.bfcl.models.handlers.generic import written_results
from console.benchmarks.bfcl.models.handlers.handler import Answer, Turn
from console.benchmarks.bfcl.models.handlers.services import Service
from console.benchmarks.bfcl.models.templates.release_texts import HANDLERS, ReleaseTexts
from console.benchmarks.bfcl.models.templates.template import system_as_user, users_merged
from console.core.chat import Message, Reply

_SERVICES = "model_handler/api_inference"
_DM_CITO_CALLS = re.compile(r"<tool_calls>\n(.*?)\n</tool_calls>", re.DOTALL)

Show = Callable[[Sequence[str], Sequence[str]], list[Turn]]
"""Returns the messages with the results of calls, given the call strings and results."""


def _unopened(turn: Sequence[Turn], number: int, docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    del number, docs, texts
    return list(turn)


def _unprompted(history: Sequence[Turn], docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    del docs, texts
    return list(history)


def _as_text(content: str | None) -> tuple[Any, str | None]:
    return content, content


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """Specific behavior of one such handler."""

    native: bool
    """Use the official native loop, though without sending tools."""
    call_format: str
    show_results: Show
    read: Callable[[str | None], tuple[Any, str | None]] = _as_text
    """Parses an answer to the value for the result file, and its text in later requests."""
    open_turn: Callable[[Sequence[Turn], int, Sequence[Doc], ReleaseTexts], list[Turn]] = _unopened
    request: Callable[[Sequence[Turn], Sequence[Doc], ReleaseTexts], list[Turn]] = _unprompted
    """Completes the conversation for a request."""
    field: str = ""
    """Field of the request with the documents, if any."""
    folder: str = _SERVICES
    """Folder of the release's module with its texts."""


@dataclass(frozen=True, slots=True)
class OwnPromptHandler:
    """Handler for a row with its own prompt."""

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
        del long
        return {**self.service.prompting, **({self.own.field: list(docs)} if self.own.field else {})}

    def open_turn(self, messages: Sequence[Message], number: int, docs: Sequence[Doc]) -> list[Turn]:
        return self.own.open_turn([cast(Turn, message) for message in messages], number, docs, self.texts)

    def tools(self, docs: Sequence[Doc]) -> list[dict[str, Any]]:
        del docs
        return []

    def request(self, history: Sequence[Turn], docs: Sequence[Doc], asked_before: int) -> list[Message]:
        del asked_before
        return cast(list[Message], self.own.request(history, docs, self.texts))

    def read(self, reply: Reply) -> Answer:
        output, content = self.own.read(reply.content)
        return Answer(output, {"role": "assistant", "content": content})

    def calls(self, output: Any) -> list[str]:
        return self.executable(output)

    def show_results(self, answer: Turn, calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
        del answer
        return self.own.show_results(calls, results)


def _open_dm_cito(turn: Sequence[Turn], number: int, docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    if number:
        return list(turn)
    before, after = texts.of("mining", "MiningHandler.mining_system_prompt_pre_processing_chat_model")[:2]
    prompt = before.replace("{}", str(list(docs))) + after
    if turn and turn[0]["role"] == "system":
        return [{**turn[0], "content": f"{prompt}\n\n{turn[0]['content']}"}, *turn[1:]]
    return [{"role": "system", "content": prompt}, *turn]


def _read_dm_cito(content: str | None) -> tuple[Any, str | None]:
    text = content or ""
    block = _DM_CITO_CALLS.search(text)
    output: Any = block[1].strip() if block else text
    with contextlib.suppress(ValueError, RecursionError):
        output = json.loads(output)
    return output, content


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


def _with_qwen_tools(history: Sequence[Turn], docs: Sequence[Doc], texts: ReleaseTexts) -> list[Turn]:
    """Add the functions to the system message; the text is that of the local Qwen handler."""
    if not docs:
        return list(history)
    literals = texts.of("qwen_fc", "QwenFCHandler._format_prompt")
    tools = "".join(f"\n{json.dumps(tool, ensure_ascii=False)}" for tool in native_tools(docs))
    prompt = f"{literals[6]}{tools}{literals[8].removesuffix('<|im_end|>' + chr(10))}"
    if history and history[0]["role"] == "system":
        return [{**history[0], "content": f"{history[0]['content']}\n\n{prompt}"}, *history[1:]]
    return [{"role": "system", "content": prompt}, *history]


def _read_qwen(content: str | None) -> tuple[Any, str | None]:
    """Return the calls after the thought; the official code drops text without calls, and formats calls again."""
    text = content or ""
    thought, mark, answer = text.rpartition("</think>")
    before, *blocks = answer.split("<tool_call>")
    if not blocks:
        return [], text
    calls = list(_qwen_calls(blocks))
    again = thought + mark + (before if before.strip() else "")
    for name, arguments in calls:
        call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        again += ("" if not again or again.endswith("\n") else "\n") + f"<tool_call>\n{call}\n</tool_call>"
    return [{name: json.dumps(arguments, ensure_ascii=False)} for name, arguments in calls], again


def _qwen_calls(blocks: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for block in blocks:
        with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
            call = json.loads(block.partition("</tool_call>")[0])
            yield str(call["name"]), call["arguments"]


def _as_responses(calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
    del calls
    shown = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in results)
    return [{"role": "user", "content": shown}]


def _unnamed(calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
    del calls
    return [{"role": "tool", "content": text} for text in results]


def _unshown(calls: Sequence[str], results: Sequence[str]) -> list[Turn]:
    del calls, results
    return []


OWN_PROMPTS: Mapping[str, OwnPrompt] = {
    "DMCitoHandler": OwnPrompt(False, "dm_cito", written_results, _read_dm_cito, _open_dm_cito),
    "GorillaHandler": OwnPrompt(True, "gorilla", _unnamed, field="functions"),
    "NemotronHandler": OwnPrompt(True, "nemotron", _unshown, open_turn=_open_nemotron),
    "QwenAgentThinkHandler": OwnPrompt(
        True, "qwen_agent", _as_responses, _read_qwen, request=_with_qwen_tools, folder=HANDLERS
    ),
}
"""Behavior by official class."""


def own_prompt_handler(
    name: str, service: Service, package: Path | None, executable: Callable[[Any], list[str]]
) -> OwnPromptHandler:
    """Return the handler of an official class, which reads its texts from the release's package."""
    own = OWN_PROMPTS[name]
    return OwnPromptHandler(own, service, ReleaseTexts(package, own.folder), executable)
