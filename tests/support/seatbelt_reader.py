"""Reads a Seatbelt profile and says what it allows: our own reading of the language, independent of what writes it.

The last rule that matches an operation decides. A word that is not known here is an error, as it is on macOS.
"""

import re
from dataclasses import dataclass
from typing import Any

Expression = str | list["Expression"]
OPERATIONS = {
    "default", "process-exec", "process-fork", "process-info*", "signal", "sysctl-read", "system-socket",
    "file-read*", "file-read-data", "file-read-metadata", "file-write*", "file-write-data", "file-map-executable",
    "network*", "mach-lookup",
}  # fmt: skip
"""Operations of rules that public profiles for macOS use."""
_TOKEN = re.compile(r'\s+|;[^\n]*|(?P<paren>[()])|"(?P<string>(?:[^"\\]|\\.)*)"|(?P<word>[^\s()";]+)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Text(str):
    """A quoted string, in contrast to a bare word."""

    __slots__ = ()


@dataclass(frozen=True)
class Rule:
    allows: bool
    operations: tuple[str, ...]
    filters: tuple[Any, ...]


def read_profile(text: str) -> list[Rule]:
    """Return the rules of a profile, in order."""
    version, *forms = parse(text)
    assert version == ["version", "1"]
    return [_rule(form) for form in forms]


def parse(text: str) -> list[Any]:
    """Return the expressions of a text."""
    levels: list[list[Any]] = [[]]
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        assert token is not None, f"not a token: {text[position : position + 40]!r}"
        position = token.end()
        if token["paren"] == "(":
            levels.append([])
        elif token["paren"] == ")":
            closed = levels.pop()
            levels[-1].append(closed)
        elif token["string"] is not None:
            levels[-1].append(Text(re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), token["string"], flags=re.S)))
        elif token["word"] is not None:
            levels[-1].append(token["word"])
    assert len(levels) == 1, "parentheses do not match"
    return levels[0]


def _rule(form: list[Any]) -> Rule:
    action, *rest = form
    assert action in ("allow", "deny"), action
    operations = tuple(part for part in rest if isinstance(part, str))
    assert set(operations) <= OPERATIONS, f"unknown operations: {set(operations) - OPERATIONS}"
    return Rule(action == "allow", operations, tuple(part for part in rest if isinstance(part, list)))


def is_allowed(rules: list[Rule], operation: str, **facts: str) -> bool:
    """Return whether an operation is allowed, such as `file-read-data` with its `path`."""
    decided = [rule.allows for rule in rules if _concerns(rule, operation) and _matches(rule, facts)]
    return decided[-1]


def _concerns(rule: Rule, operation: str) -> bool:
    return any(
        name in ("default", operation) or (name.endswith("*") and operation.startswith(name[:-1]))
        for name in rule.operations
    )


def _matches(rule: Rule, facts: dict[str, str]) -> bool:
    return not rule.filters or any(_holds(each, facts) for each in rule.filters)


def _holds(condition: list[Any], facts: dict[str, str]) -> bool:
    name, *values = condition
    if name == "require-all":
        return all(_holds(each, facts) for each in values)
    (value,) = values
    is_text = name in ("literal", "subpath", "sysctl-name", "sysctl-name-prefix")
    assert isinstance(value, Text) == is_text, condition
    match name:
        case "literal":
            return facts.get("path") == value
        case "subpath":
            return facts.get("path", "") == value or facts.get("path", "").startswith(f"{value}/")
        case "sysctl-name":
            return facts.get("sysctl") == value
        case "sysctl-name-prefix":
            return facts.get("sysctl", "").startswith(value)
        case "vnode-type":
            assert value == "DIRECTORY"
            return facts.get("kind") == "folder"
        case "target":
            assert value == "self"
            return facts.get("target") == "self"
        case "socket-domain":
            return facts.get("domain") == value
        case _:
            raise AssertionError(f"unknown filter: {name}")
