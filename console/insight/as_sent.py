"""A recorded conversation as text to edit: requests and answers at each step, and the change made by an edited text.

Messages are written below lines such as `── user ──`, the calls of a reply below `── call NAME ──`. Control and
invisible characters are shown as marks; in unchanged lines they are restored.
"""

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from console.core.chat import Reply
from console.core.experiment import (
    OPENING,
    PARAMS,
    REPLY,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
    Applied,
    Arm,
    Beginning,
    Change,
    Request,
    description_of,
    instructions_in,
    last_of_user,
    read_kind,
    read_value,
)
from console.core.fault import UsageError
from console.core.text import visible_file
from console.insight.conversation import Conversation, Exchange

ROLES = ("system", "developer", "user", "assistant")
_HEAD = re.compile(r"^── (\w+)(?: (\S+))? ──[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Point:
    """A request to the model in a recorded conversation, from which the conversation can continue."""

    replies: int
    """Number of the model's replies before this point."""
    exchange: Exchange
    rollout: int = 0

    @property
    def beginning(self) -> Beginning:
        asked = self.exchange.asked
        return Beginning(self.replies, asked.turn, asked.step, self.rollout)

    @property
    def request(self) -> Request:
        return Request(self.exchange.messages, self.exchange.tools, self.exchange.asked.params)


def points_of(conversation: Conversation) -> list[Point]:
    """Return the points of a conversation, one for each reply of the model."""
    asked = conversation.model_calls
    asked.sort(key=lambda exchange: exchange.asked.n)
    return [Point(number, exchange, conversation.key.rollout) for number, exchange in enumerate(asked)]


def point_at(conversation: Conversation, at: str) -> Point:
    """Return the point that TURN.STEP names, both from 1 as in `show`.

    Raises:
        UsageError: another format, or the conversation has no such step.
    """
    points = points_of(conversation)
    if not points:
        raise UsageError("this case has no finished call, so there is nothing to continue from")
    match = re.fullmatch(r"(\d+)\.(\d+)", at.strip())
    place = (int(match[1]) - 1, int(match[2]) - 1) if match else None
    for point in points:
        if (point.exchange.asked.turn, point.exchange.asked.step) == place:
            return point
    places = [point.beginning.place for point in points]
    listed = ", ".join(places[:12]) + (", …" if len(places) > 12 else "")
    raise UsageError(f"there is no step {at}", where="--at", hint=f"This conversation has {listed}.")


def beginning_of(points: Sequence[Point], point: Point, arm: Arm) -> Beginning:
    """Return the part to repeat when continuing from a point; a changed result goes into the next request."""
    is_after = any(change.what == RESULT for change in arm)
    return points[point.replies + is_after].beginning


def opening_of(conversation: Conversation) -> list[dict[str, Any]]:
    """Return the messages of the first model request.

    Raises:
        UsageError: the model was never called.
    """
    points = points_of(conversation)
    if not points:
        raise UsageError("this case has no finished call, so there is no prompt to edit")
    return points[0].exchange.messages


def text_of(conversation: Conversation, point: Point, what: str) -> str:
    """Return the request or reply at a point, as text to edit.

    Args:
        conversation: the conversation.
        point: the point.
        what: name of the change, such as `system` or `tool.NAME.description`.

    Raises:
        UsageError: there is no such text at this point.
    """
    before = _before(conversation, point, what)
    if what == REPLY:
        return _reply_as_text(before)
    if what == OPENING:
        return as_text(before)
    if what == RESULT:
        return _results_as_text(before)
    return visible_file(before) if isinstance(before, str) else json.dumps(before, ensure_ascii=False)


def change_of(conversation: Conversation, point: Point, what: str, text: str) -> Change:
    """Return the change made by an edited text.

    Raises:
        UsageError: the text is malformed or changes nothing, or there is no such text at this point.
    """
    before: Any = _before(conversation, point, what)
    kind, name = read_kind(what)
    read = {REPLY: _reply_from_text, OPENING: from_text, RESULT: _results_from_text}.get(kind, _restored)
    after: Any = read_value(text) if kind == PARAMS else read(text, before)
    change = Change(kind, after, before, name)
    if after == before:
        raise UsageError(f"{what} was not edited, so nothing would change", where=what)
    return change


def check_change(point: Point, change: Change) -> None:
    """Check that a change to be made in many conversations affects a recorded request.

    Raises:
        UsageError: it would change nothing there.
    """
    request = point.request
    if change.what not in (REPLY, RESULT) and Applied((change,)).to(request) == request:
        names = ", ".join(description_of(tool)[0] for tool in request.tools)
        hint = f"Offered as tools: {names or 'none'}." if change.what == TOOL else ""
        raise UsageError("changes nothing in the recorded requests", where=change.label, hint=hint)


def with_recorded(change: Change, points: Sequence[Point]) -> tuple[Change, str]:
    """Return a change of many conversations with the recorded text that it edits, and a remark for the reader.

    If that text differs from case to case, the one most like the new text is chosen, and its edit is made in each.
    """
    if change.what not in (SYSTEM, USER):
        return change, ""
    recorded = dict.fromkeys(
        str(instructions_in(point.request.messages) or "") if change.what == SYSTEM else _last_words(point.request)
        for point in points
        if not point.replies
    )
    likeness = {text: _likeness(text, change.after) for text in recorded}
    nearest = max(likeness, key=lambda text: likeness[text], default="")
    if len(recorded) < 2:
        return msgspec.structs.replace(change, before=nearest or None), ""
    if likeness[nearest] < _LEAST_LIKENESS:
        words = f"{change.label} differs from case to case: the new text replaces all of it in each"
        return msgspec.structs.replace(change, before=None), words
    words = f"{change.label} differs from case to case: the lines that you changed are changed in each"
    return msgspec.structs.replace(change, before=nearest), words


_LEAST_LIKENESS = 0.5
"""Minimum share of equal lines for a text to count as an edit of another."""


def _likeness(text: str, other: str) -> float:
    return difflib.SequenceMatcher(None, text.split("\n"), other.split("\n"), autojunk=False).ratio()


def _last_words(request: Request) -> str:
    place = last_of_user(request.messages)
    return "" if place is None else str(request.messages[place].get("content") or "")


def diff_of(change: Change) -> list[str]:
    """Return a change as the lines of a diff, with three lines of context. Untrusted text."""
    before, after = (_lines(change, value) for value in (change.before, change.after))
    if change.before is None:
        return [f"+{line}" for line in after]
    lines = difflib.unified_diff(before, after, lineterm="", n=3)
    return [line for line in lines if not line.startswith(("---", "+++"))]


def _lines(change: Change, value: Any) -> list[str]:
    if value is None:
        return []
    if change.what == REPLY:
        return _reply_as_text(value).splitlines()
    if change.what in (OPENING, RESULT):
        return _results_as_text(value).splitlines()
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).splitlines()


def _before(conversation: Conversation, point: Point, what: str) -> Any:
    """Return the request or reply at a point: a text, messages, a reply, or a parameter's value."""
    kind, name = read_kind(what)
    request = point.request
    match kind:
        case "opening":
            if point.replies:
                raise UsageError("the opening is sent at the first step", where="--at", hint="Omit --at.")
            return request.messages
        case "reply":
            reply = point.exchange.asked.reply
            return {"content": reply.content, "tool_calls": [msgspec.to_builtins(call) for call in reply.tool_calls]}
        case "result":
            return results_after(conversation, point)
        case "system":
            return instructions_in(request.messages) or ""
        case "user":
            place = last_of_user(request.messages)
            if place is None:
                raise UsageError("there is no user message at this step")
            return str(request.messages[place].get("content") or "")
        case "tool":
            offered = dict(map(description_of, request.tools))
            if name not in offered:
                names = ", ".join(offered) or "none"
                raise UsageError(f"no tool {name!r} is offered at this step", hint=f"Offered as tools: {names}.")
            return offered[name]
        case _:
            return request.params.get(name)


def results_after(conversation: Conversation, point: Point) -> list[dict[str, Any]]:
    """Return the messages with the results of a reply's calls, from the end of the next request in the same turn.

    Raises:
        UsageError: the reply was the last of its turn.
    """
    points = points_of(conversation)
    following = points[point.replies + 1] if point.replies + 1 < len(points) else None
    asked = point.exchange.asked
    if following is None or following.exchange.asked.turn != asked.turn:
        raise UsageError(f"step {point.beginning.place} has no result that was sent back")
    messages = following.exchange.messages
    spoken = [index for index, message in enumerate(messages) if message.get("role") in ("assistant", "model")]
    return messages[spoken[-1] + 1 if spoken else len(point.exchange.messages) :]


def as_text(messages: Sequence[dict[str, Any]]) -> str:
    """Format messages for editing.

    Raises:
        UsageError: a message holds more than a role and text, such as a call or an image.
    """
    for message in messages:
        if not isinstance(message.get("content"), str) or set(message) - {"role", "content"}:
            raise UsageError("a message of this prompt contains more than text", hint="Replay it without editing.")
    return _results_as_text(messages)


def _results_as_text(messages: Sequence[dict[str, Any]]) -> str:
    parts = [(message.get("role", "result"), _content(message).rstrip("\n")) for message in messages]
    return visible_file("".join(f"── {role} ──\n{content}\n" for role, content in parts))


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _reply_as_text(reply: dict[str, Any]) -> str:
    text = "" if reply["content"] is None else f"── assistant ──\n{reply['content'].rstrip(chr(10))}\n"
    calls = "".join(f"── call {call['name']} ──\n{call['arguments']}\n" for call in reply["tool_calls"])
    return visible_file(text + calls)


def from_text(text: str, before: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Parse edited messages.

    Args:
        text: edited text.
        before: original messages, used to restore marked characters in unchanged lines.

    Raises:
        UsageError: there is no message, or a role is unknown.
    """
    texts = "\n".join(_content(message) for message in before)
    messages = [{"role": role, "content": _restored(content, texts)} for role, _, content in _sections(text)]
    for message in messages:
        if message["role"] not in ROLES:
            raise UsageError(f"no message has the role {message['role']!r}", hint=f"One of: {', '.join(ROLES)}.")
    if not any(message["role"] == "user" and message["content"].strip() for message in messages):
        raise UsageError("the user's message is empty", hint="Write something under ── user ──.")
    return messages


def _results_from_text(text: str, before: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parse edited results: a single one as text without a heading, several as the same number of sections."""
    contents = [text] if len(before) == 1 and not _HEAD.match(text) else [content for _, _, content in _sections(text)]
    if len(contents) != len(before):
        raise UsageError(f"there are {len(contents)} results instead of {len(before)}", hint="Keep the lines ── … ──.")
    return [
        {**message, "content": _restored(content, _content(message))}
        for message, content in zip(before, contents, strict=True)
    ]


def _reply_from_text(text: str, before: dict[str, Any]) -> dict[str, Any]:
    """Parse an edited reply: its text, or its text and calls in sections; calls keep their ids by position."""
    content: str | None = None
    calls: list[dict[str, Any]] = []
    ids = [call["id"] for call in before["tool_calls"]]
    sections = _sections(text) if _HEAD.match(text) else [("assistant", "", text)]
    for role, name, section in sections:
        if role == "call" and name:
            number = len(calls)
            call_id = ids[number] if number < len(ids) else f"call_edited_{number}"
            calls.append({"id": call_id, "name": name, "arguments": section.strip()})
        elif role == "assistant" and content is None:
            content = _restored(section, before["content"] or "")
        else:
            raise UsageError(f"a reply has no section ── {role} ──", hint="Write ── assistant ── and ── call NAME ──.")
    return {"content": content, "tool_calls": calls}


def _sections(text: str) -> list[tuple[str, str, str]]:
    head, *parts = _HEAD.split(text)
    if head.strip() or not parts:
        raise UsageError("the text does not begin with a line such as ── user ──", hint="Keep these lines.")
    return list(zip(parts[::3], (name or "" for name in parts[1::3]), parts[2::3], strict=True))


def _restored(text: str, before: str) -> str:
    """Return an edited text with marked characters restored in unchanged lines, without the final newline."""
    original = {visible_file(line): line for line in before.split("\n")}
    return "\n".join(original.get(line, line) for line in text.strip("\n").split("\n"))


def called_words(reply: Reply) -> str:
    """Return a summary of a reply in a few words. Untrusted text."""
    names = [call.name for call in reply.tool_calls]
    if names:
        counts = {name: names.count(name) for name in names}
        return "called " + ", ".join(
            f"{name} {number} times" if number > 1 else name for name, number in counts.items()
        )
    words = " ".join((reply.content or "").split())
    return f"said “{words[:57]}…”" if len(words) > 60 else f"said “{words}”"
