"""What logs of other tools say, in one neutral form: a head, and samples one after another.

A reader of a format fills in what has a place here and leaves the rest, verbatim, in `rest`. Nothing of a log is
executed or fetched, and its texts stay foreign.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from console.core.chat import Reply

Table = dict[str, Any]
"""A JSON object of a log."""


class LogScore(msgspec.Struct, frozen=True):
    """What one scorer said of a sample."""

    value: Any
    """As recorded: a letter, a number, a truth value; or an object or a list of them."""
    answer: str = ""
    """What the scorer took for the answer."""
    explanation: str = ""


class LogCall(msgspec.Struct, frozen=True):
    """One model call of a sample."""

    messages: list[Table]
    """The request in the OpenAI chat form."""
    reply: Reply
    tools: list[Table] = []
    params: Table = {}
    role: str = "model"
    """`model`, or `judge` for a model that scores."""
    at: float | None = None
    """When it was answered, seconds since the epoch."""


class LogSample(msgspec.Struct, frozen=True):
    """One try of one sample."""

    id: str
    epoch: int = 0
    """Number of the repeat, from 0."""
    title: str = ""
    category: str = ""
    target: Any = None
    """What was expected, JSON."""
    data: Table = {}
    """What else belongs to the sample itself, such as its metadata and choices."""
    calls: tuple[LogCall, ...] = ()
    tail: tuple[Table, ...] = ()
    """Messages after the last reply, such as results of tools that nobody read any more."""
    answer: Any = None
    """What was scored, JSON."""
    scores: dict[str, LogScore] = {}
    """By scorer, in order."""
    error: str = ""
    """Why it was not finished; empty: it was."""
    earlier_errors: tuple[str, ...] = ()
    """Why the tries before this one failed."""
    limit: str = ""
    """The limit that ended it, such as `message`."""
    at: float | None = None
    """When it ended, seconds since the epoch."""
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    rest: Table = {}
    """What has no place here, as it was recorded."""


class LogHead(msgspec.Struct, frozen=True):
    """What a log says of all its samples."""

    tool: str
    """The tool that wrote it, such as `inspect_ai`."""
    task: str
    model: str
    version: str = ""
    """Of the tool."""
    at: float | None = None
    """When the evaluation began, seconds since the epoch."""
    params: Table = {}
    """How the model was set, such as its temperature."""
    repeats: int = 1
    samples: int | None = None
    """How many tries the log says it holds; None: it does not say."""
    ended: str = "completed"
    """`completed`, `stopped` or `halted`."""
    message: str = ""
    """Why it did not complete."""
    decisive: str = ""
    """Name of the score that says whether a sample passed; empty: the first one of each sample."""
    reported: dict[str, dict[str, float]] = {}
    """Numbers that the tool gives, by score and metric."""
    simulated: bool = False
    rest: Table = {}
    """What has no place here, as it was recorded."""


class Problem(msgspec.Struct, frozen=True):
    """Something of a log that could not be read, or was changed."""

    where: str
    """Member, line or sample."""
    why: str


class Log(Protocol):
    """One evaluation of a log file."""

    @property
    def head(self) -> LogHead:
        """What is said of all samples."""
        ...

    @property
    def problems(self) -> list[Problem]:
        """What could not be read so far; complete after `samples` has ended."""
        ...

    def samples(self, skip: int = 0) -> Iterator[LogSample]:
        """Yield the samples, each read when it is asked for; one that cannot be read becomes a problem.

        Args:
            skip: how many of the first are not wanted, because they were yielded another time.

        Raises:
            UsageError: the file cannot be read at all.
        """
        ...


class LogFormat(msgspec.Struct, frozen=True):
    """One format of logs."""

    name: str
    meaning: str
    recognizes: Callable[[Path, bytes], bool]
    """Whether a file is of this format, by its path and its first bytes."""
    open: Callable[[Path], list[Log]]
    """Return the evaluations of a file; raises UsageError when it is not of this format."""


def table(value: object) -> Table:
    """Return a JSON object, or an empty one for anything else."""
    return cast(Table, value) if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """Return a JSON list, or an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def tables(value: object) -> list[Table]:
    """Return the objects of a JSON list."""
    return [cast(Table, item) for item in listed(value) if isinstance(item, dict)]


def first_table(value: object) -> Table:
    """Return the first object of a JSON list; an empty one when there is none."""
    return next(iter(tables(value)), cast(Table, {}))


def text(value: object) -> str:
    """Return a text as it is, nothing for nothing, and any other JSON value written out."""
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(value).decode("utf-8", "replace")


def without(record: Table, *names: str) -> Table:
    """Return the members that are not named and not empty."""
    return {name: value for name, value in record.items() if name not in names and value not in (None, "", [], {})}
