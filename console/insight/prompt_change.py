"""Line differences between the prompts, or first requests, of two conversations. Pure."""

import difflib
import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from console.core.fault import UsageError
from console.insight.as_sent import opening_of
from console.insight.conversation import Conversation

_BEFORE, _AFTER = 40, 24
"""Characters of common text kept before and after a change within a line."""


class ChangedLine(NamedTuple):
    """A line that is only in one prompt or differs from its counterpart. Untrusted text."""

    sign: str
    """`-` for the first conversation, `+` for the second."""
    role: str
    """Role of its message."""
    before: str
    """End of the common prefix."""
    text: str
    """Differing text; the whole line if it has no counterpart."""
    after: str
    """Beginning of the common suffix."""


def prompt_changes(a: Conversation, b: Conversation) -> list[ChangedLine]:
    """Return the changed lines in order, replaced ones next to their replacement.

    Empty if the prompts are equal or one model was never called.
    """
    try:
        lines_a, lines_b = (_prompt_lines(conversation) for conversation in (a, b))
    except UsageError:
        return []
    changes: list[ChangedLine] = []
    matcher = difflib.SequenceMatcher(None, lines_a, lines_b, autojunk=False)
    for what, from_a, to_a, from_b, to_b in matcher.get_opcodes():
        if what != "equal":
            changes += _changes(lines_a[from_a:to_a], lines_b[from_b:to_b])
    return [change for change in changes if any(change[2:])] or changes  # ignore added or removed empty lines


def _changes(a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]) -> Iterator[ChangedLine]:
    for old, new in zip_longest(a, b):
        if old is None or new is None or old[0] != new[0]:
            yield from (ChangedLine(sign, line[0], "", line[1], "") for sign, line in (("-", old), ("+", new)) if line)
            continue
        start = _alike(old[1], new[1])
        end = _alike(old[1][start:][::-1], new[1][start:][::-1])
        for sign, (role, line) in (("-", old), ("+", new)):
            before, after = line[:start], line[len(line) - end :]
            yield ChangedLine(sign, role, _end_of(before), line[start : len(line) - end], _beginning_of(after))


def _alike(a: str, b: str) -> int:
    """Return the length of the common prefix."""
    return next(
        (place for place, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b))
    )


def _end_of(text: str) -> str:
    return text if len(text) <= _BEFORE else f"… {text[-_BEFORE:].partition(' ')[2]}"


def _beginning_of(text: str) -> str:
    return text if len(text) <= _AFTER else f"{text[:_AFTER].rpartition(' ')[0]} …"


def _prompt_lines(conversation: Conversation) -> list[tuple[str, str]]:
    """Return the role and text of each line of the first request.

    Raises:
        UsageError: the model was never called.
    """
    prompt_lines: list[tuple[str, str]] = []
    for message in opening_of(conversation):
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        prompt_lines += [(str(message.get("role", "")), line) for line in text.split("\n")]
    return prompt_lines
