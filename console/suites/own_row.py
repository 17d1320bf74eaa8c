"""Conversion of a played case to a row of a suite of questions, as docs/extending.md describes them.

A row contains the conversation, its tools and checks, and under `simulated.recorded` the model's answers, for the
simulated models to repeat.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from console.core.case import Case, Setting
from console.core.chat import Message, Reply
from console.core.fault import UsageError
from console.core.outcome import Verdict

Row = dict[str, Any]
CHECKS = ("expect", "judge")
"""Fields of a row with its checks; those of a turn are in `turns`."""


class RecordedRequest(NamedTuple):
    """A request to the model as it was sent, and its reply."""

    turn: int
    messages: list[Message]
    tools: list[dict[str, Any]]
    reply: Reply


class RecordedCase(NamedTuple):
    """A finished conversation of a run."""

    case: Case
    setting: Setting
    output: Any
    verdict: Verdict
    requests: list[RecordedRequest]
    """Requests in the role `model`, in order."""


class OwnRow(NamedTuple):
    """A case in the format of a row."""

    row: Row
    why_unchecked: str = ""
    """Reason why a reader must write the checks, as a sentence; empty if the row has checks."""


class AddedRow(NamedTuple):
    """A row in a file of cases."""

    file: Path
    line: int
    id: str
    is_new: bool = True
    """False if the file already has the same case."""
    outcome: str = ""
    """Outcome of the recorded answers by the row's checks; empty if there are no answers."""
    note: str = ""
    """A sentence on missing parts of the row; empty if complete."""


def conversation_row(recorded: RecordedCase) -> Row:
    """Return a row without checks from a conversation as it was sent: opening, tools, tool results and answers.

    Raises:
        UsageError: a row cannot express the conversation; says why.
    """
    if not recorded.requests:
        raise UsageError("no request to the model is recorded")
    by_turn: dict[int, list[RecordedRequest]] = {}
    for request in recorded.requests:
        by_turn.setdefault(request.turn, []).append(request)
    first, *later = (requests[0].messages for requests in by_turn.values())
    row = opening(first)
    if later:
        turns = [row.get("prompt"), *map(_last_user_text, later)]
        if None in turns:
            raise UsageError("not every turn begins with a single user message")
        row = {**{name: value for name, value in row.items() if name != "prompt"}, "turns": turns}
    if tools := recorded.requests[0].tools:
        if any(request.tools != tools for request in recorded.requests):
            raise UsageError("its tools change in the middle of the conversation")
        row["tools"] = [tool.get("function", tool) for tool in tools]
        row["tool_results"] = tool_results(_results(recorded.requests))
    return {**row, "simulated": {"recorded": recorded_answers(recorded.requests)}}


def recorded_answers(requests: Sequence[RecordedRequest]) -> list[list[Row]]:
    """Return the replies by turn and step, as `simulated.recorded`."""
    by_turn: dict[int, list[Row]] = {}
    for request in requests:
        by_turn.setdefault(request.turn, []).append(_answer(request.reply))
    return list(by_turn.values())


def opening(messages: Sequence[Message]) -> Row:
    """Return the fields of a row that open a conversation with these messages.

    Raises:
        UsageError: they do not end with a user message.
    """
    row: Row = {}
    rest = list(messages)
    if rest and rest[0]["role"] in ("system", "developer"):
        row["system"] = str(rest.pop(0).get("content") or "")
    if not rest or _last_user_text(rest) is None or rest[-1]["role"] != "user":
        raise UsageError("the conversation does not begin with a user message")
    if len(rest) == 1:
        return {**row, "prompt": str(rest[0].get("content"))}
    kept = ("role", "content", "tool_calls", "tool_call_id")
    chat = [{name: value for name, value in message.items() if name in kept} for message in rest]
    return {**row, "messages": chat}


def _last_user_text(messages: Sequence[Message]) -> str | None:
    content = next((message.get("content") for message in reversed(messages) if message["role"] == "user"), None)
    return content if isinstance(content, str) and content else None


def _results(requests: Sequence[RecordedRequest]) -> Iterable[tuple[str, Any, str]]:
    """Yield the name, arguments and result of each call that was answered."""
    seen: set[str] = set()
    called: dict[str, tuple[str, Any]] = {}
    for message in (message for request in requests for message in request.messages):
        for call in message.get("tool_calls") or ():
            called[call["id"]] = call["function"]["name"], _arguments(call["function"]["arguments"])
        if message["role"] == "tool" and (id := message.get("tool_call_id", "")) in called and id not in seen:
            seen.add(id)
            yield *called[id], str(message.get("content") or "")


def tool_results(results: Iterable[tuple[str, Any, str]]) -> list[Row]:
    """Return the name, arguments and result of calls as the field `tool_results`.

    Raises:
        UsageError: equal calls had different results, which a row cannot express.
    """
    listed: list[Row] = []
    for name, arguments, result in results:
        same = next((item for item in listed if (item["tool"], item["arguments"]) == (name, arguments)), None)
        if same is not None and same["result"] != result:
            call = f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
            raise UsageError(f"its tools have state: {call:.200} had different results, but a row has one per call")
        if same is None and isinstance(arguments, dict):
            listed.append({"tool": name, "arguments": cast(Row, arguments), "result": result})
    return sorted(listed, key=lambda item: -len(item["arguments"]))  # the first match is used, so the closest first


def _answer(reply: Reply) -> Row:
    return recorded_answer(reply.content or "", [(call.name, _arguments(call.arguments)) for call in reply.tool_calls])


def recorded_answer(text: str, calls: Iterable[tuple[str, Any]] = ()) -> Row:
    """Return a reply as an item of `simulated.recorded`; a call whose arguments are not a JSON object becomes text."""
    listed = list(calls)
    unread = [f"{name}({arguments})" for name, arguments in listed if not isinstance(arguments, dict)]
    row: Row = {"text": "\n".join(part for part in (text, *unread) if part)}
    kept = [{name: cast(Row, arguments)} for name, arguments in listed if isinstance(arguments, dict)]
    return {**row, "calls": kept} if kept else row


def _arguments(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def is_checked(row: Row) -> bool:
    """Return whether a row has any check."""
    return any(row.get(name) for name in CHECKS) or any(
        isinstance(turn, dict) and cast(Row, turn).get("expect") for turn in row.get("turns", ())
    )
