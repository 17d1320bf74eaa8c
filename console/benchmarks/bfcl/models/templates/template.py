"""`Template`: renders a conversation as one prompt and parses the completion.

Follows the official local handlers of BFCL v4; their fixed texts are read from the pulled release. A prompt is a
sequence of pieces, one per message, so that journaled steps of a growing conversation share their common beginning.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts

Turn = dict[str, Any]
"""One message in a template: `role`, `content`, and optional fields of the family (`reasoning`, `calls`)."""


class TemplateError(ValueError):
    """A model's answer cannot be rendered in the next prompt; in the official code, an error text ends the entry."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """Input of a prompt."""

    messages: Sequence[Turn]
    docs: Sequence[Doc]
    """Function documents as loaded: types of the dataset, dots in names."""
    texts: ReleaseTexts
    asked_before: int = 0
    """Number of earlier prompts in this conversation; Hammer changes its documents each time."""

    @property
    def system(self) -> str | None:
        """Text of the leading system message; None if there is none."""
        first = self.messages[0] if self.messages else None
        return first["content"] if first is not None and first["role"] == "system" else None

    @property
    def after_system(self) -> Sequence[Turn]:
        """Messages after the leading system message."""
        return self.messages if self.system is None else self.messages[1:]


@dataclass(frozen=True, slots=True)
class Completion:
    """A parsed completion."""

    output: Any
    """Value for the result file."""
    message: Turn
    """Message that stands for the completion in later prompts."""
    reasoning: str = ""


Render = Callable[[PromptInput], Iterable[str]]


def as_text(text: str) -> Completion:
    """Return a completion unchanged."""
    return Completion(text, {"role": "assistant", "content": text})


def as_tool_messages(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    """Return one tool message for each executed call, named by its text."""
    del answer
    return [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=False)]


def as_ipython(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    """Return one message of the role `ipython` for each result (Llama)."""
    del calls, answer
    return [{"role": "ipython", "content": text} for text in results]


def unchanged(turn: Sequence[Turn]) -> list[Turn]:
    """Return the dataset's messages of a turn as they are."""
    return list(turn)


def users_merged(turn: Sequence[Turn]) -> list[Turn]:
    """Join consecutive user messages with a blank line."""
    out: list[Turn] = []
    for message in turn:
        if message["role"] == "user" and out and out[-1]["role"] == "user":
            out[-1] = {**out[-1], "content": f"{out[-1]['content']}\n\n{message['content']}"}
        else:
            out.append(message)
    return out


def system_as_user(turn: Sequence[Turn]) -> list[Turn]:
    """Convert system messages to user messages, for models without a system role."""
    return [{**message, "role": "user"} if message["role"] == "system" else message for message in turn]


@dataclass(frozen=True, slots=True)
class Template:
    """Prompt format of one model family."""

    render: Render
    described_in_prompt: bool = False
    """True if the benchmark's own system prompt describes the functions; otherwise the template does."""
    open_turn: Callable[[Sequence[Turn]], list[Turn]] = unchanged
    """Converts the dataset's messages of a turn."""
    first_turn_only: bool = False
    """True if `open_turn` applies to the first turn only."""
    read: Callable[[str], Completion] = as_text
    show_results: Callable[[Sequence[str], Sequence[str], Turn], list[Turn]] = as_tool_messages
    """Returns the messages with the results of calls, given the call strings, results and answer."""
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional fields of the request, such as `stop_token_ids`."""


def json_lines(docs: Sequence[Doc]) -> str:
    """Return each document as JSON (ASCII, default separators), preceded by a newline."""
    return "".join(f"\n{json.dumps(doc)}" for doc in docs)


def indented_docs(docs: Sequence[Doc]) -> str:
    """Return each document as indented JSON, followed by a blank line."""
    return "".join(f"{json.dumps(doc, indent=4)}\n\n" for doc in docs)


def runs_of_tools(messages: Sequence[Turn]) -> Iterator[tuple[Turn, bool, bool]]:
    """Yield each message and two flags: it begins, and it ends, a sequence of tool messages."""
    for index, message in enumerate(messages):
        tool = message["role"] == "tool"
        begins = tool and (index == 0 or messages[index - 1]["role"] != "tool")
        ends = tool and (index == len(messages) - 1 or messages[index + 1]["role"] != "tool")
        yield message, begins, ends
