"""Common representation of other tools' logs: a header, then samples one by one.

Readers fill in the fields that exist here and keep the rest verbatim in `rest`. Nothing in a log is executed or
fetched, and its texts stay untrusted.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol, cast

import msgspec

from console.core.chat import Reply
from console.exchange.imports.recipe import Recipe

Table = dict[str, Any]
"""A JSON object in a log."""


class LogScore(msgspec.Struct, frozen=True):
    """One scorer's result for a sample."""

    value: Any
    """As recorded: a letter, number or boolean; or an object or list of them."""
    answer: str = ""
    """Answer that the scorer extracted."""
    explanation: str = ""


class LogCall(msgspec.Struct, frozen=True):
    """One model call of a sample."""

    messages: list[Table]
    """The request in the OpenAI chat format."""
    reply: Reply
    tools: list[Table] = []
    params: Table = {}
    role: str = "model"
    """`model`, `judge` for a model that scores, or `user` for one that plays the user."""
    at: float | None = None
    """Time of the answer, seconds since the epoch."""


class LogSample(msgspec.Struct, frozen=True):
    """One attempt at a sample."""

    id: str
    epoch: int = 0
    """Number of the repeat, from 0."""
    title: str = ""
    category: str = ""
    target: Any = None
    """Expected result, JSON."""
    data: Table = {}
    """Other data of the sample, such as metadata and choices."""
    calls: tuple[LogCall, ...] = ()
    tail: tuple[Table, ...] = ()
    """Messages after the last reply, such as unread tool results."""
    answer: Any = None
    """Scored answer, JSON."""
    scores: dict[str, LogScore] = {}
    """Scores by scorer, in order."""
    passed: bool | None = None
    """The tool's own verdict; if None, the decisive score decides."""
    unscored: str = ""
    """Reason why the tool gave no score; empty if unknown, or if it gave one."""
    invalidated: str = ""
    """Who declared its result invalid, and why; empty if it is valid."""
    error: str = ""
    """Reason why it did not finish; empty if it did."""
    earlier_errors: tuple[str, ...] = ()
    """Errors of the previous attempts."""
    limit: str = ""
    """Limit that ended it, such as `message`."""
    at: float | None = None
    """Time of its end, seconds since the epoch."""
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    rest: Table = {}
    """Data without a field here, exactly as recorded."""


class LogHead(msgspec.Struct, frozen=True):
    """A log's data about all its samples."""

    tool: str
    """Tool that wrote it, such as `inspect_ai`."""
    task: str
    model: str
    version: str = ""
    """Version of the tool."""
    at: float | None = None
    """Start of the evaluation, seconds since the epoch."""
    params: Table = {}
    """Model parameters, such as the temperature."""
    repeats: int = 1
    samples: int | None = None
    """Number of attempts planned according to the log; None if not given."""
    ended: str = "completed"
    """`completed`, `stopped` or `halted`."""
    message: str = ""
    """Reason why the evaluation did not complete."""
    decisive: str = ""
    """Name of the score that decides whether a sample passed; empty to use the first score of each sample."""
    reported: dict[str, dict[str, float]] = {}
    """Aggregates reported by the tool, by score and metric."""
    no_judge: str = ""
    """Reason why no judge can grade the answers; empty if a judge can."""
    has_counts: bool = False
    """True if scores may be counts, such as turns, so that only the deciding one and accuracies are rates."""
    recipes: dict[str, dict[str, Recipe]] = {}
    """How the aggregates are computed, by score and metric; if it is missing, only means are compared with ours."""
    simulated: bool = False
    rest: Table = {}
    """Data without a field here, exactly as recorded."""


class Problem(msgspec.Struct, frozen=True):
    """Something in a log that could not be read or was changed."""

    where: str
    """Archive member, line or sample."""
    why: str


class Log(Protocol):
    """One evaluation in a log file."""

    @property
    def head(self) -> LogHead:
        """Data about all samples."""
        ...

    @property
    def problems(self) -> list[Problem]:
        """Problems found so far; complete once `samples` is exhausted."""
        ...

    def samples(self) -> Iterator[LogSample]:
        """Yield the samples, each read on demand; unreadable ones become problems.

        Raises:
            UsageError: the file cannot be read at all.
        """
        ...


class LogFormat(msgspec.Struct, frozen=True):
    """A log format."""

    name: str
    meaning: str
    recognizes: Callable[[Path, bytes], bool]
    """Test a file by its path and first bytes."""
    open: Callable[[Path], list[Log]]
    """Return the evaluations of a file; raises UsageError for files of another format."""
    keep: Callable[[Path, IO[bytes]], None] | None = None
    """Writes the log as an `.eval` for the run to keep; None for formats other than Inspect's."""


def table(value: object) -> Table:
    """Return a JSON object, or an empty one for anything else."""
    return cast(Table, value) if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """Return a JSON list, or an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def tables(value: object) -> list[Table]:
    """Return the objects in a JSON list."""
    return [cast(Table, item) for item in listed(value) if isinstance(item, dict)]


def first_table(value: object) -> Table:
    """Return the first object in a JSON list; an empty one if there is none."""
    return next(iter(tables(value)), cast(Table, {}))


def text(value: object) -> str:
    """Return a string unchanged, None as an empty one, and other JSON values encoded."""
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode("utf-8", "replace")


def without(record: Table, *names: str) -> Table:
    """Return the non-empty members except the named ones."""
    return {name: value for name, value in record.items() if name not in names and value not in (None, "", [], {})}
