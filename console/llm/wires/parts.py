"""Strict reading of the parts of an answer: a part of the wrong type is a fault and never skipped.

Null counts as missing, because servers send either. An unreadable part may have contained anything, so its reply proves
nothing.
"""

from collections.abc import Callable, Collection, Mapping, Set
from typing import Any, NamedTuple, cast

from console.core.fault import Fault, FaultKind

_TYPES: dict[type[Any], str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
}
_OTHER_ROLES = frozenset({"user", "system", "developer", "tool", "function"})


def unread(what: str) -> Fault:
    """Return the fault for a part that is unreadable or contradicts another."""
    return Fault(FaultKind.BAD_ANSWER, what, hint="The server or a gateway in front of it violates its API; update it.")


class Accepted(NamedTuple):
    """Finish reasons and types of parts unknown to this program but accepted by the user."""

    words: Collection[str] = ()
    """Case-insensitive."""
    redact: Callable[[str], str] = str

    def require(self, word: str, sentence: str, condition: str) -> None:
        """Check that a word is accepted.

        Args:
            word: as the server sent it.
            sentence: describes the problem, with `{}` for the word.
            condition: requirement for accepting the word.

        Raises:
            Fault: `bad_answer`, with the entry that accepts the word.
        """
        if word.strip().lower() in (accepted.strip().lower() for accepted in self.words):
            return
        shown = " ".join(self.redact(word).split())[:60]
        entry = f"if {condition}, write accept = [{shown!r}] into models.toml"
        hint = "A newer version of this program may know it."
        raise Fault(FaultKind.BAD_ANSWER, f"{sentence.format(repr(shown))}; {entry}", hint=hint)

    def skip(self, kind: str) -> None:
        """Skip a part of an unknown type.

        Raises:
            Fault: `bad_answer`, if the type is not accepted.
        """
        self.require(kind, "the answer has a part of the unknown type {}", "such parts hold no content")


NONE_ACCEPTED = Accepted()


def text_in(fields: Mapping[str, Any], name: str) -> str | None:
    """Return a text, or None if it is missing."""
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _wrong(name, value, "a text")


def name_in(fields: Mapping[str, Any], name: str) -> str:
    """Return a required text that is not empty."""
    value = text_in(fields, name)
    if not value:
        raise unread(f"the answer has a part without {name}")
    return value


def object_in(fields: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Return an object, or None if it is missing."""
    value = fields.get(name)
    if value is None or isinstance(value, dict):
        return cast(dict[str, Any] | None, value)
    raise _wrong(name, value, "an object")


def objects_in(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a list of objects; empty if it is missing."""
    value = fields.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, value, "a list")
    items = cast(list[Any], value)
    for item in items:
        if not isinstance(item, dict):
            raise _wrong(f"an item of {name}", item, "an object")
    return items


def place_in(fields: Mapping[str, Any], name: str) -> int:
    """Return the required index of a part."""
    value = fields.get(name)
    if type(value) is not int:
        raise _wrong(name, value, "a number")
    return value


class Choices:
    """The choices of an answer, of which only the first is read.

    Others may have been requested, as with `n = 2`, and have a finish reason of their own. A choice without one is a
    piece of the first choice under a wrong index.
    """

    def __init__(self, *, by_place: bool) -> None:
        """Begin an answer; with `by_place`, a choice without an index gets that of its position, else 0."""
        self._by_place = by_place
        self._others: dict[int, bool] = {}
        """True for each choice that has ended, by index."""

    def first_of(self, choices: list[dict[str, Any]]) -> dict[str, Any] | None:
        """Return the first choice in a chunk, or None if it is missing."""
        first: dict[str, Any] | None = None
        for place, choice in enumerate(choices):
            index = place_in(choice, "index") if choice.get("index") is not None else place * self._by_place
            if index:
                ends = bool(choice.get("finish_reason") or choice.get("finishReason"))
                self._others[index] = ends or self._others.get(index, False)
            elif first is not None:
                raise unread("the answer has its first choice twice")
            else:
                first = choice
        return first

    def check_ended(self) -> None:
        """Raise a fault if a choice other than the first has not ended."""
        if not all(self._others.values()):
            raise unread("the answer has a piece of another choice, which never ends")


def refuse_other_roles(message: Mapping[str, Any]) -> None:
    """Raise a fault if a message names another author, such as the user echoed by a gateway."""
    role = message.get("role")
    if isinstance(role, str) and role.strip().lower() in _OTHER_ROLES:
        raise unread(f"the answer is a message of the role {role.strip().lower()}")


def refuse_unknown(fields: Mapping[str, Any], known: Set[str], what: str) -> None:
    """Raise a fault if unknown fields contain text or a structure: content that is not read may be the answer."""
    for name, value in fields.items():
        if name not in known and value and isinstance(value, str | list | dict):
            raise unread(f"{what} has the unknown field {name[:40]!r}")


def _wrong(what: str, value: object, wanted: str) -> Fault:
    kind = _TYPES.get(type(value), "an object")
    return unread(f"a part of the answer cannot be read: {what} is {kind}, not {wanted}")
