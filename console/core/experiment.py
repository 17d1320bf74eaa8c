"""Experiments: changes in selected recorded conversations, from a given step on. Pure data.

An experiment is a run of its own. Each of its conversations repeats the beginning of a recorded one at no cost, and
continues live from a reply of the model, with the changes of its arm.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from console.core.fault import UsageError
from console.core.json_text import read_json
from console.core.ranges import Amount, Count
from console.core.suggestion import suggest

if TYPE_CHECKING:
    from console.core.statistics.stratified import DrawnStratum

OPENING = "opening"
SYSTEM = "system"
USER = "user"
TOOL = "tool"
PARAMS = "params"
REPLY = "reply"
RESULT = "result"
_INSTRUCTIONS = ("system", "developer")


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of a recorded request or reply."""

    what: str
    """`opening`, `system`, `user`, `tool` (its description), `params`, `reply` or `result`."""
    after: Any
    """A text; messages of an opening or of results; `content` and `tool_calls` of a reply; a parameter's value."""
    before: Any = None
    """The original of `after`, as sent or received."""
    name: str = ""
    """Name of the tool or parameter."""

    @property
    def label(self) -> str:
        """The change, as written on the command line."""
        if self.what == TOOL:
            return f"tool.{self.name}.description"
        return f"params.{self.name}" if self.what == PARAMS else self.what


Arm = tuple[Change, ...]
"""Changes made together; empty for an arm without changes."""


class Beginning(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a recorded conversation that a new one repeats."""

    replies: Count | None = None
    """Number of repeated model replies; None for the whole conversation, if other cases depend on it."""
    turn: Count = 0
    """Position of the first reply that is not repeated."""
    step: Count = 0
    rollout: Count = 0
    """Number of the repeated rollout of the case."""

    @property
    def place(self) -> str:
        """Turn and step as shown, from 1."""
        return f"{self.turn + 1}.{self.step + 1}"


class Stratum(msgspec.Struct, frozen=True):
    """Cases of a recorded run that were drawn in the same way."""

    name: str
    """`chosen`, `other failures` or `passed`."""
    size: Count
    """Number of its cases in the recorded run."""
    cases: tuple[str, ...]
    """Ids of the drawn cases."""


class Experiment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change that a run makes in its parent's conversations."""

    arms: tuple[Arm, ...] = ((),)
    """Arms, among which rollouts alternate."""
    beginnings: dict[str, Beginning] = {}
    """By case id; conversations of other cases are played from the start."""
    strata: tuple[Stratum, ...] = ()
    """Filter that the cases were drawn from; empty if they were named individually."""
    seed: Count = 0
    """Seed of random draws and of simulated models, which would otherwise repeat themselves."""
    label: str = ""
    """The filter that selected its cases, as typed."""
    luck: Amount = 0.0
    """Variance of the recorded mean due to chance; 0 if no effect on the whole run is estimated."""

    @property
    def control(self) -> int | None:
        """Index of the unchanged arm, if the experiment has one in addition to others."""
        return self.arms.index(()) if len(self.arms) > 1 and () in self.arms else None

    def drawn(
        self, now: Mapping[str, float], base: Mapping[str, float], clusters: Mapping[str, tuple[str, str]]
    ) -> "list[DrawnStratum]":
        """Return the changes of drawn cases by stratum, for cases with a value both before and after.

        Args:
            now: mean of each case in an arm.
            base: the same for the basis of the comparison.
            clusters: category and cluster of each case.
        """
        from console.core.statistics.sample import Observation  # imported late: every kind of run loads this module
        from console.core.statistics.stratified import DrawnStratum

        return [
            DrawnStratum(
                stratum.size,
                [
                    Observation(case, now[case] - base[case], *clusters.get(case, ("", "")))
                    for case in stratum.cases
                    if case in now and case in base
                ],
            )
            for stratum in self.strata
        ]

    def arm(self, rollout: int) -> Arm:
        """Return the changes made in a rollout."""
        return self.arms[rollout % len(self.arms)]

    @property
    def words(self) -> str:
        """Describe the change and its place in a few words. May contain untrusted text."""
        labels = dict.fromkeys(change.label for arm in self.arms for change in arm)
        changed = f"{', '.join(labels)} changed" if labels else "nothing changed"
        starts = [start for start in self.beginnings.values() if start.replies is not None]
        return changed + (f" from {starts[0].place}" if len(starts) == 1 else "")


class Request(msgspec.Struct, frozen=True):
    """The parts of a model request that can be changed."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    params: dict[str, Any]


class Applied:
    """The changes of one conversation, as they are applied to its requests in order."""

    def __init__(self, changes: Arm) -> None:
        self._changes = changes
        self._places: dict[int, int] = {}
        """Index of the first changed message, by number of the change; set by the first request."""

    def to(self, request: Request) -> Request:
        """Return a request with the changes applied; a change whose target is missing has no effect."""
        for number, change in enumerate(self._changes):
            request = self._with(request, change, number)
        return request

    def _with(self, request: Request, change: Change, number: int) -> Request:
        match change.what:
            case "opening":
                messages = _replaced(request.messages, change.before or [], change.after, 0)
            case "system":
                messages = _with_instructions(request.messages, change)
            case "user":
                messages = self._with_user(request.messages, change, number)
            case "result":
                place = self._places.setdefault(number, len(request.messages) - len(change.before))
                messages = _replaced(request.messages, change.before, change.after, place)
            case "tool":
                return msgspec.structs.replace(
                    request, tools=[_described(tool, change.name, change.after) for tool in request.tools]
                )
            case "params":
                return msgspec.structs.replace(request, params={**request.params, change.name: change.after})
            case _:
                return request
        return msgspec.structs.replace(request, messages=messages)

    def _with_user(self, messages: list[dict[str, Any]], change: Change, number: int) -> list[dict[str, Any]]:
        if number not in self._places:
            place = last_of_user(messages)
            if place is None:
                return messages
            self._places[number] = place
        place = self._places[number]
        if place >= len(messages) or messages[place].get("role") != "user":
            return messages
        return _with_content(messages, place, change)


def last_of_user(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the last message of the user; None if there is none."""
    return next((index for index in reversed(range(len(messages))) if messages[index].get("role") == "user"), None)


def instructions_in(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text of the system prompt; None if there is none."""
    instructions = next((message for message in messages if message.get("role") in _INSTRUCTIONS), None)
    return None if instructions is None else str(instructions.get("content") or "")


def _with_instructions(messages: list[dict[str, Any]], change: Change) -> list[dict[str, Any]]:
    place = next((index for index, message in enumerate(messages) if message.get("role") in _INSTRUCTIONS), None)
    if place is None:
        return [{"role": "system", "content": change.after}, *messages]
    return _with_content(messages, place, change)


def _with_content(messages: list[dict[str, Any]], place: int, change: Change) -> list[dict[str, Any]]:
    """Apply a change to the content of one message."""
    before, after = messages[place].get("content"), change.after
    if isinstance(before, str) and isinstance(change.before, str):
        after = edited(before, change.before, change.after)
    return [*messages[:place], {**messages[place], "content": after}, *messages[place + 1 :]]


def edited(text: str, before: str, after: str) -> str:
    """Apply the line changes of an edit to a similar text.

    Prompts may differ from case to case, such as in the functions they describe, and still get the same edit. Changed
    lines that the text lacks are skipped; a text that lacks all of them is replaced.
    """
    if text == before:
        return after
    lines, old, new = text.split("\n"), before.split("\n"), after.split("\n")
    for tag, first, last, begin, end in reversed(difflib.SequenceMatcher(None, old, new, False).get_opcodes()):
        if tag == "insert":
            place = len(lines) if first == len(old) else _place_after(lines, old[:first])
            lines[place:place] = new[begin:end]
        elif tag != "equal":
            part = old[first:last]
            place = next((n for n in range(len(lines)) if lines[n : n + len(part)] == part), None)
            if place is not None:
                lines[place : place + len(part)] = new[begin:end]
    result = "\n".join(lines)
    return after if result == text else result


def _place_after(lines: list[str], before: list[str]) -> int:
    """Return the position after the nearest line that precedes an insertion and is in the text."""
    return next((lines.index(line) + 1 for line in reversed(before) if line in lines), 0)


def _replaced(
    messages: list[dict[str, Any]], before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]], place: int
) -> list[dict[str, Any]]:
    """Replace consecutive messages at their position, or earlier if older ones were dropped from the conversation."""
    for index in range(min(place, len(messages) - len(before)), -1, -1):
        if list(messages[index : index + len(before)]) == list(before):
            return [*messages[:index], *after, *messages[index + len(before) :]]
    return messages


def description_of(tool: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name and description of an offered tool, in either of the two usual formats."""
    function = tool.get("function")
    held = cast("Mapping[str, Any]", function) if isinstance(function, dict) else tool
    return str(held.get("name", "")), str(held.get("description", ""))


def _described(tool: dict[str, Any], name: str, text: str) -> dict[str, Any]:
    if description_of(tool)[0] != name:
        return tool
    if isinstance(tool.get("function"), dict):
        return {**tool, "function": {**tool["function"], "description": text}}
    return {**tool, "description": text}


_DESCRIPTION = re.compile(r"tool\.(?P<name>.+)\.description\Z")
_KINDS = (OPENING, SYSTEM, USER, REPLY, RESULT, "tool.NAME.description", "params.NAME")


def read_kind(what: str) -> tuple[str, str]:
    """Parse the part of `--set` before the equals sign into kind and name.

    Raises:
        UsageError: nothing with that name can be changed.
    """
    if match := _DESCRIPTION.match(what):
        return TOOL, match["name"]
    kind, _, name = what.partition(".")
    if (kind == PARAMS) == bool(name) and kind in (OPENING, SYSTEM, USER, REPLY, RESULT, PARAMS):
        return kind, name
    raise UsageError(f"{what!r} cannot be changed", where="--set", hint=suggest(what, _KINDS, f"One of: {_KINDS}."))


def shared_change(what: str, value: Any) -> Change:
    """Return a change to be shared by many conversations.

    Args:
        what: its name, such as `system`.
        value: a text, a table of the texts `before` and `after` an edit, or the value of a parameter.

    Raises:
        UsageError: such a change applies to a single conversation.
    """
    kind, name = read_kind(what)
    if kind in (OPENING, REPLY, RESULT):
        raise UsageError(f"{what} applies to one conversation only", where="--set", hint="Change it with `branch`.")
    if kind == PARAMS:
        return Change(kind, read_value(value) if isinstance(value, str) else value, name=name)
    if isinstance(value, dict):
        edit = cast("dict[str, Any]", value)
        return Change(kind, str(edit.get("after", "")), str(edit.get("before", "")), name)
    return Change(kind, str(value).rstrip("\n"), name=name)


def read_value(text: str) -> Any:
    """Return the value of a parameter: JSON, or text."""
    try:
        return read_json(text)
    except ValueError:
        return text.strip()
