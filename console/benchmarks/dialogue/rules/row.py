"""The form of a row: what `cases.*` says of one case, and `[defaults]` of suite.toml of all of them.

These types are the contract: rows are converted to them, and the JSON schema for editors is made of them. What is right
of an answer is a check, and each kind of check is a type whose first field is named like it.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from console.suites.simulated_user import SimulatedUser

Text = Annotated[str, Meta(min_length=1)]
Texts = Text | Annotated[list[Text], Meta(min_length=1)]
Number = float | str
"""A number, or a text that is one, as columns of a table hold them."""


class Equals(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer is this text, or one of several; blanks around it do not count."""

    equals: Texts
    ignore_case: bool = False


class Contains(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer holds this text, or all of several."""

    contains: Texts
    ignore_case: bool = False


class Regex(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A regular expression matches somewhere in the answer."""

    regex: Text
    ignore_case: bool = False


class NumberIs(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number in the answer is this one."""

    number: Number
    tolerance: Number = 0.0
    """How far it may be off: an amount, or a share of the right number such as "2%"."""
    which: Literal["last", "first", "any"] = "last"
    """Which number of the answer counts."""


class Choice(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer chooses this letter."""

    choice: Annotated[str, Meta(pattern="^[A-Za-z]$")]


class JsonSchema(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer is JSON that a JSON schema (draft 2020-12) accepts; a code fence around it does not count."""

    json: dict[str, Any]


class Calls(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The tool calls are these, in any order, and no others: by name the allowed values of each argument.

    A list is always a list of allowed values, and "" in it says that the argument may be left out.
    """

    calls: list[Annotated[dict[str, dict[str, Any]], Meta(min_length=1, max_length=1)]]


class NotCalled(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool, or each of several, was not called; true: none was."""

    not_called: Literal[True] | Texts


class Criterion(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that a judge grades."""

    name: Text
    about: str = ""
    """What is meant by it, and by its grades."""
    weight: Annotated[float, Meta(gt=0, le=1e6)] = 1.0
    threshold: float | None = None
    """The least grade; below it the check fails whatever the others are."""


class Rubric(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the model of the role `judge` is asked: a rubric in words, or several criteria."""

    rubric: str = ""
    criteria: list[Criterion] = field(default_factory=list[Criterion])
    scale: Annotated[list[float], Meta(min_length=2, max_length=2)] = field(default_factory=lambda: [1.0, 5.0])
    """The worst and the best grade."""
    threshold: float | None = None
    """The least weighted mean that passes; without one three quarters of the way up the scale."""
    wording: str = ""
    """The judge's instructions; `{conversation}` and `{answer}` stand for what is judged, `{criteria}` for the rubric.

    The form of the reply is added to them.
    """


class Judged(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A judge grades the answer; true: by the rubric of the row."""

    judge: Literal[True] | Text | Rubric


class AnyOf(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """At least one of these checks holds."""

    any: Annotated[list[dict[str, Any]], Meta(min_length=1)]


class ChatMessage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One message of a chat so far."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tool_call_id: str = ""


class ScriptedTurn(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the user says in one turn, and what is right of the answer to it."""

    user: Text
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


class CannedResult(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a call of a tool gets back; the first one that fits a call is taken."""

    tool: Text
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the call must have; arguments that are not named here may be anything."""
    result: Any = None
    """What is given back: a text as it is, anything else as JSON."""
    error: str = ""
    """In place of a result: what went wrong in the tool."""


class SimulatedAnswers(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the simulated models say in this case, where it does not follow from the checks."""

    right: list[str] = field(default_factory=list[str])
    """By turn; the last one is said again in later turns."""
    wrong: list[str] = field(default_factory=list[str])
    """Any of them, in any turn."""


class Row(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case. Exactly one of `prompt`, `messages`, `turns` and `user` says how it begins."""

    id: Text = ""
    """Without one it is made of the number of the row."""
    category: Text = "cases"
    """What `--category` picks."""
    cluster: str = ""
    """What the case shares with others, such as a text they all are about, so that they are not independent."""
    prompt: str = ""
    """What the user asks."""
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    """A chat so far; it ends with a message of the user."""
    turns: list[Text | ScriptedTurn] = field(default_factory=list[str | ScriptedTurn])
    user: SimulatedUser | None = None
    system: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Tools in JSON schema: name, description, parameters."""
    tool_results: list[CannedResult] = field(default_factory=list[CannedResult])
    expect: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Checks of the last answer, and of all calls of the conversation; all must hold."""
    judge: Text | Rubric | None = None
    """The rubric; the case is then judged by it, even where no check says so."""
    simulated: SimulatedAnswers | None = None


CHECKS: dict[str, type[Struct]] = {
    "equals": Equals,
    "contains": Contains,
    "regex": Regex,
    "number": NumberIs,
    "choice": Choice,
    "json": JsonSchema,
    "calls": Calls,
    "not_called": NotCalled,
    "judge": Judged,
    "any": AnyOf,
}
"""The kinds of checks by the field that names them."""
AnyCheck = Equals | Contains | Regex | NumberIs | Choice | JsonSchema | Calls | NotCalled | Judged | AnyOf
SHORTHANDS = tuple(name for name in CHECKS if name not in ("judge", "any"))
"""Checks that may stand in a row as fields of their own, as the columns of a table do."""
