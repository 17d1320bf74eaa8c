"""A case as it is played and judged: a row with the defaults of its suite. `Case.data` holds it as JSON."""

from collections.abc import Collection
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from console.benchmarks.dialogue.rules.row import CannedResult, Rubric, SimulatedAnswers
from console.core.case import Case
from console.core.chat import Message
from console.suites.simulated_user import SimulatedUser

VARIANT_MARK = "@"
"""Separates the name of the row from that of the version in an id."""


class Turn(Struct, frozen=True, omit_defaults=True):
    """One message of the user and the checks of the answer to it."""

    user: str
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class Script(Struct, frozen=True, omit_defaults=True):
    """What is asked in a case, and what is right."""

    turns: list[Turn] = field(default_factory=list[Turn])
    """Empty where the user is simulated."""
    system: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    """The chat before the first turn."""
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """As they are sent."""
    tool_results: list[CannedResult] = field(default_factory=list[CannedResult])
    user: SimulatedUser | None = None
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Checks at the end of the conversation."""
    rubric: Rubric | None = None
    simulated: SimulatedAnswers | None = None
    columns: dict[str, Any] = field(default_factory=dict[str, Any])
    """What else the row says."""
    variant: str = ""
    """Which of the varied prompts this is."""


def script_of(case: Case) -> Script:
    """Return the script of a case."""
    return msgspec.convert(case.data, Script)


def data_of(script: Script) -> dict[str, Any]:
    """Return a script as the data of a case."""
    return cast(dict[str, Any], msgspec.to_builtins(script))


def expectations(script: Script) -> list[dict[str, Any]]:
    """Return all checks of a script, those of its turns first."""
    return [check for turn in script.turns for check in turn.expect] + script.expect


def has_check(case: Case, *kinds: str) -> bool:
    """Whether a case has a check of one of these kinds, parts of `any` included; costs less than its script."""
    turns: list[dict[str, Any]] = case.data.get("turns", [])
    checks = [*case.data.get("expect", ()), *(check for turn in turns for check in turn.get("expect", ()))]
    return any(kind in part for check in checks for part in (check, *check.get("any", ())) for kind in kinds)


def needs_judge(case: Case) -> bool:
    """Whether a check of a case needs a judge."""
    return has_check(case, "judge")


class Variants(Struct, frozen=True):
    """One text of the suite in several versions."""

    field: str
    """`prompt` or `system`."""
    texts: dict[str, str]
    """The templates by the name of the version."""


def split_variant(case_id: str, names: Collection[str]) -> tuple[str, str]:
    """Return the row and the version that the id of a case names; the version is empty if there is none."""
    row, _, name = case_id.rpartition(VARIANT_MARK)
    return (row, name) if row and name in names else (case_id, "")
