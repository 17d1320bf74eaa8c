"""Types of the rows in `cases.*` and of `[defaults]` in suite.toml.

The JSON schema for editors is generated from these types. Each kind of check is a type named by its first field.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from console.core.chat import MessageToolCall
from console.suites.judging.rubric import Rubric, Text
from console.suites.simulated_user import SimulatedUser

Texts = Text | Annotated[list[Text], Meta(min_length=1)]
Number = float | str
"""A number, or a string with a number, as in table columns."""


class Equals(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer equals this string or one of several, ignoring surrounding whitespace."""

    equals: Texts
    ignore_case: bool = False


class Contains(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer contains this string, or all of several."""

    contains: Texts
    ignore_case: bool = False


class Regex(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A regular expression matches anywhere in the answer."""

    regex: Text
    ignore_case: bool = False


class NumberIs(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A number in the answer equals this one."""

    number: Number
    tolerance: Number = 0.0
    """Absolute tolerance, or relative such as "2%"."""
    which: Literal["last", "first", "any"] = "last"
    """The number of the answer to compare: last, first or any."""


class Choice(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer chooses this letter."""

    choice: Annotated[str, Meta(pattern="^[A-Za-z]$")]
    by: Literal["text", "logprob"] = "text"
    """`logprob`: the letter to which the model gives the highest probability counts, regardless of its text."""


class JsonSchema(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer is JSON that matches a JSON schema (draft 2020-12); it may be in a code fence."""

    json: dict[str, Any]


class Range(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bounds of a count, both included."""

    min: Annotated[int, Meta(ge=0)] = 0
    max: Annotated[int, Meta(ge=0)] | None = None


Amount = Annotated[int, Meta(ge=0)] | Range
"""An exact count, or its bounds."""


class Instructions(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Instructions about the format of an answer; all must be followed, and the score is the share that is followed."""

    words: Amount | None = None
    sentences: Amount | None = None
    paragraphs: Amount | None = None
    """Number of paragraphs, separated by lines of `***` if there are any, otherwise by blank lines."""
    bullets: Amount | None = None
    highlights: Amount | None = None
    """Parts in *asterisks*."""
    placeholders: Amount | None = None
    """Parts in [brackets]."""
    capital_words: Amount | None = None
    contains: list[Text] = []
    """Texts that must occur, ignoring case."""
    without: list[Text] = []
    """Words that must not occur, ignoring case."""
    times: dict[Text, Amount] = {}
    """Number of occurrences by text, ignoring case."""
    letters: dict[Annotated[str, Meta(min_length=1, max_length=1)], Amount] = {}
    """Number of occurrences by letter, ignoring case."""
    sections: dict[Text, Amount] = {}
    """Number of numbered headings by their word, such as `Section`."""
    paragraph_starts: dict[Annotated[str, Meta(pattern="^[1-9][0-9]?$")], Text] = {}
    """First word of each listed paragraph, by its number; paragraphs are separated by blank lines."""
    case: Literal["", "upper", "lower"] = ""
    no_commas: bool = False
    json: bool = False
    """The whole answer is JSON, which may be in a code fence."""
    quoted: bool = False
    """The whole answer is in quotation marks."""
    title: bool = False
    """A title in <<double angle brackets>>."""
    postscript: str = ""
    """Mark of a postscript, such as `P.S.`."""
    two_answers: bool = False
    """Two different answers separated by `******`."""
    starts_with: str = ""
    ends_with: str = ""
    one_of: list[Text] = []
    language: Annotated[str, Meta(pattern="^([a-z]{2})?$")] = ""
    """ISO 639-1 code; needs the extra `language`."""
    loose: bool = False
    """Also accept the answer without its first or last line, or without asterisks."""


class Instructed(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer follows instructions about its format."""

    instructions: Instructions


class PythonTests(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The code in the answer passes hidden tests, which run in the sandbox."""

    python_tests: Text
    """Path of a file with tests in the suite's folder; `{id}` is the id of the row."""
    timeout: Annotated[float, Meta(gt=0, le=600)] = 10.0
    """Seconds for the code, and for each test."""
    packages: str = ""
    """Folder with wheels that the code may import, in the suite's folder."""
    digest: str = ""
    """SHA-256 of the tests, set when the row is read."""


class Calls(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The tool calls are exactly these, in any order; each has the allowed values of its arguments by name.

    A list is always a list of allowed values; "" in it makes the argument optional.
    """

    calls: list[Annotated[dict[str, dict[str, Any]], Meta(min_length=1, max_length=1)]]


class NotCalled(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool, or each of several, was not called; true: no tool was called."""

    not_called: Literal[True] | Texts


class Judged(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A judge grades the answer; true: with the rubric of the row."""

    judge: Literal[True] | Text | Rubric


class AnyOf(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """At least one of these checks holds."""

    any: Annotated[list[dict[str, Any]], Meta(min_length=1)]


class ChatMessage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One message of an existing chat."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[MessageToolCall] = []
    tool_call_id: str = ""


class ScriptedTurn(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A user message and the checks of the answer."""

    user: Text
    expect: list[dict[str, Any]] = []
    images: Texts | None = None
    files: Texts | None = None


class CannedResult(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Result of a tool call; the first matching one is used."""

    tool: Text
    arguments: dict[str, Any] = {}
    """Required argument values; other arguments can have any value."""
    result: Any = None
    """The result: a string, or any other value sent as JSON."""
    error: str = ""
    """Error message of the tool, instead of a result."""


class RecordedReply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A recorded reply of a model."""

    text: str = ""
    calls: list[Annotated[dict[str, dict[str, Any]], Meta(min_length=1, max_length=1)]] = []
    """Tool calls: arguments by name."""


class SimulatedAnswers(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Answers of the simulated models, if they cannot be derived from the checks."""

    right: list[str] = []
    """Right answers by turn; the last one is repeated."""
    wrong: list[str] = []
    """Wrong answers for any turn."""
    recorded: list[list[RecordedReply]] = []
    """Replies by turn and step, recorded when the case was kept; every simulated model repeats them."""
    judge: dict[str, str | float | dict[str, str | float]] = {}
    """Replies of simulated judges, one per answer: a grade, a category, a table of grades by criterion, or any text."""


class Kept(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Origin of a row that was kept from a run."""

    run: str
    case: str
    digest: str
    """First hex digits of the SHA-256 of suite and case, the same in every run."""
    repeat: int = 1
    suite: str = ""
    model: str = ""
    simulated: bool = False
    """True if a simulated model gave the answers."""
    outcome: str = ""
    reason: str = ""
    at: str = ""
    """Day on which the row was kept."""


class Row(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case. It starts with exactly one of `prompt`, `messages`, `turns` and `user`."""

    id: Text = ""
    """Default: derived from the row number."""
    category: Text = "cases"
    """Category for `--category`."""
    cluster: str = ""
    """Cluster of dependent cases, such as questions about one text."""
    prompt: str = ""
    """The user's message."""
    messages: list[ChatMessage] = []
    """An existing chat that ends with a user message."""
    turns: Annotated[list[Text | ScriptedTurn], Meta(max_length=1000)] = []
    user: SimulatedUser | None = None
    images: Texts | None = None
    """Images below the question: paths in the suite's folder."""
    files: Texts | None = None
    """Audio (.wav, .mp3) and other files below the question: paths in the suite's folder."""
    choices: Annotated[list[Text], Meta(min_length=2, max_length=26)] | None = None
    """Choices listed below the question with letters; `choice` is the letter of the right one in this order."""
    shuffle: bool = True
    """Shuffle the choices in each rollout."""
    system: str = ""
    tools: list[dict[str, Any]] = []
    """Tools in JSON schema: name, description, parameters."""
    tool_results: list[CannedResult] = []
    expect: list[dict[str, Any]] = []
    """Checks of the last answer and of all calls in the conversation; all must hold."""
    judge: Text | Rubric | None = None
    """Rubric; the case is judged by it even without a `judge` check."""
    simulated: SimulatedAnswers | None = None
    kept: Kept | None = None


CHECKS: dict[str, type[Struct]] = {
    "equals": Equals,
    "contains": Contains,
    "regex": Regex,
    "number": NumberIs,
    "choice": Choice,
    "json": JsonSchema,
    "instructions": Instructed,
    "python_tests": PythonTests,
    "calls": Calls,
    "not_called": NotCalled,
    "judge": Judged,
    "any": AnyOf,
}
"""Check types by field name."""
TextCheck = Equals | Contains | Regex | NumberIs | Choice | JsonSchema | Instructed
AnyCheck = TextCheck | PythonTests | Calls | NotCalled | Judged | AnyOf

SHORTHANDS = tuple(name for name in CHECKS if name not in ("judge", "any"))
"""Checks that can be fields of a row, such as columns of a table."""
OPTIONS = {
    name: tuple(check for check in SHORTHANDS if name in CHECKS[check].__struct_fields__)
    for name in ("ignore_case", "tolerance", "which", "timeout", "packages")
}
"""Checks that have an option, by its name."""
