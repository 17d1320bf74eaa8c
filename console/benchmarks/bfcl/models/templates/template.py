"""What a template is: how a conversation becomes one prompt text, and how a completion becomes a result.

Official behaviour throughout (BFCL v4, local handlers): the fixed wording comes from the pulled release, all else is
described here. A prompt is given as pieces, one a message, so that a growing conversation shares what it has in
common with the step before when it is journaled.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.benchmarks.bfcl.conversation.rendering import Doc
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts

Turn = dict[str, Any]
"""One message as templates see it: `role`, `content`, and what a family adds (`reasoning`, `calls`)."""


class TemplateError(ValueError):
    """A model's answer cannot be put into the next prompt; officially the entry ends with an error text."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """What a prompt is made of."""

    messages: Sequence[Turn]
    docs: Sequence[Doc]
    """Function documents as loaded: types of the dataset, dots in names."""
    texts: ReleaseTexts
    asked_before: int = 0
    """How many prompts of this conversation were formed before; Hammer changes its documents each time."""

    @property
    def system(self) -> str | None:
        """The text of a leading system message; None without one."""
        first = self.messages[0] if self.messages else None
        return first["content"] if first is not None and first["role"] == "system" else None

    @property
    def after_system(self) -> Sequence[Turn]:
        """The messages behind a leading system message."""
        return self.messages if self.system is None else self.messages[1:]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a completion means."""

    output: Any
    """The value of the result file."""
    message: Turn
    """What the following prompts show of it."""
    reasoning: str = ""


Render = Callable[[PromptInput], Iterable[str]]


def as_text(text: str) -> Completion:
    """Take a completion as it is."""
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
    """Join user messages that follow each other, with a blank line between them."""
    out: list[Turn] = []
    for message in turn:
        if message["role"] == "user" and out and out[-1]["role"] == "user":
            out[-1] = {**out[-1], "content": f"{out[-1]['content']}\n\n{message['content']}"}
        else:
            out.append(message)
    return out


def system_as_user(turn: Sequence[Turn]) -> list[Turn]:
    """Give system messages to the user, for models that know no system role."""
    return [{**message, "role": "user"} if message["role"] == "system" else message for message in turn]


@dataclass(frozen=True, slots=True)
class Template:
    """One family's way to ask a completion endpoint."""

    render: Render
    described_in_prompt: bool = False
    """Whether the benchmark's own system prompt describes the functions; else the template does."""
    open_turn: Callable[[Sequence[Turn]], list[Turn]] = unchanged
    """Changes the dataset's messages when a turn begins."""
    first_turn_only: bool = False
    """Whether `open_turn` is applied to the first turn alone."""
    read: Callable[[str], Completion] = as_text
    show_results: Callable[[Sequence[str], Sequence[str], Turn], list[Turn]] = as_tool_messages
    """From executed call texts, their results and the answer's message to the messages that show them."""
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the request, such as `stop_token_ids`."""


def json_lines(docs: Sequence[Doc]) -> str:
    """Return each document as JSON (ASCII, default separators) with a newline before it."""
    return "".join(f"\n{json.dumps(doc)}" for doc in docs)


def indented_docs(docs: Sequence[Doc]) -> str:
    """Return each document as indented JSON with a blank line after it."""
    return "".join(f"{json.dumps(doc, indent=4)}\n\n" for doc in docs)


def runs_of_tools(messages: Sequence[Turn]) -> Iterator[tuple[Turn, bool, bool]]:
    """Yield each message with whether it begins and ends a run of tool messages (both False for others)."""
    for index, message in enumerate(messages):
        tool = message["role"] == "tool"
        begins = tool and (index == 0 or messages[index - 1]["role"] != "tool")
        ends = tool and (index == len(messages) - 1 or messages[index + 1]["role"] != "tool")
        yield message, begins, ends
