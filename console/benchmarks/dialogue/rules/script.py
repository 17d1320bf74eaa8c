"""`Script`: a row merged with its suite's defaults; `Case.data` stores it as JSON."""

from collections.abc import Collection
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from console.benchmarks.dialogue.rules.row import CannedResult, Kept, SimulatedAnswers
from console.core.case import Case
from console.core.chat import Message
from console.core.ready_type import ready_type
from console.suites.judging.rubric import Rubric
from console.suites.simulated_user import SimulatedUser

VARIANT_MARK = "@"
"""Separator between row name and variant name in a case id."""


class AttachedFile(Struct, frozen=True, omit_defaults=True):
    """An image, audio clip or other file that is sent with a message."""

    path: str
    """Path in the suite's folder."""
    digest: str
    """SHA-256 of the file."""


class Turn(Struct, frozen=True, omit_defaults=True):
    """A user message and the checks of the answer."""

    user: str
    files: list[AttachedFile] = field(default_factory=list[AttachedFile])
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Script(Struct, frozen=True, omit_defaults=True):
    """The conversation and the checks of one case."""

    turns: list[Turn] = field(default_factory=list[Turn])
    """Scripted turns; empty if a simulated user writes the messages."""
    system: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    """Messages before the first turn."""
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Tools in the OpenAI format."""
    tool_results: list[CannedResult] = field(default_factory=list[CannedResult])
    user: SimulatedUser | None = None
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Checks at the end of the conversation."""
    rubric: Rubric | None = None
    choices: list[str] = field(default_factory=list[str])
    shuffle: bool = False
    simulated: SimulatedAnswers | None = None
    columns: dict[str, Any] = field(default_factory=dict[str, Any])
    """Columns of the row that are not fields."""
    variant: str = ""
    """Name of the variant."""
    kept: Kept | None = None


def script_of(case: Case) -> Script:
    """Return the script of a case."""
    return msgspec.convert(case.data, ready_type(Script))


def data_of(script: Script) -> dict[str, Any]:
    """Convert a script to the data of a case."""
    return cast(dict[str, Any], msgspec.to_builtins(script))


def expectations(script: Script) -> list[dict[str, Any]]:
    """Return all checks of a script, first those of its turns."""
    return [check for turn in script.turns for check in turn.expect] + script.expect


def has_check(case: Case, *kinds: str) -> bool:
    """Return whether a case has a check of these kinds, including inside `any`, without parsing its script."""
    turns: list[dict[str, Any]] = case.data.get("turns", [])
    checks = [*case.data.get("expect", ()), *(check for turn in turns for check in turn.get("expect", ()))]
    return any(kind in part for check in checks for part in (check, *check.get("any", ())) for kind in kinds)


def needs_judge(case: Case) -> bool:
    """Return whether a case has a judged check."""
    return has_check(case, "judge")


class Variants(Struct, frozen=True):
    """Variants of one text."""

    field: str
    """`prompt` or `system`."""
    texts: dict[str, str]
    """Templates by variant name."""


def split_variant(case_id: str, names: Collection[str]) -> tuple[str, str]:
    """Split a case id into row name and variant, which may be empty."""
    row, _, name = case_id.rpartition(VARIANT_MARK)
    return (row, name) if row and name in names else (case_id, "")
