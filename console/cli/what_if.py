"""Shared parts of `branch` and `try`: reading changes, showing them, and estimating their cost."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.cli.output import Output
from console.cli.parser import Arguments, read_input
from console.core.experiment import PARAMS, Change, read_kind
from console.core.fault import UsageError
from console.insight.as_sent import diff_of

if TYPE_CHECKING:
    from console.engine.experiment_use import Use

ASK_ABOVE_USD = 5.0
CHANGES_HELP = (
    "a change: system, user, opening, tool.NAME.description or params.NAME; a text is read from a file, - is stdin"
)


def read_settings(settings: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the name and the values of each `--set`: texts of files, separated by commas, or a parameter's value."""
    read: list[tuple[str, list[str]]] = []
    for setting in settings:
        what, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"{setting!r} has no value", where="--set", hint="Write system=FILE or params.NAME=VALUE.")
        kind, _ = read_kind(what)
        values = [value] if kind == PARAMS else [read_input(Path(name)) for name in value.split(",")]
        read.append((what, values))
    return read


def show_changes(output: Output, changes: Iterable[Change]) -> None:
    """Show changes as a diff."""
    for change in changes:
        output.text(change.label, "strong")
        for line in diff_of(change):
            output.text(f"  {line}", {"+": "good", "-": "bad"}.get(line[:1], "faint"))


def change_fields(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Return changes as JSON."""
    return [{"what": change.label, "diff": diff_of(change)} for change in changes]


def accept_cost(args: Arguments, words: str, most: "Use", max_cost: float | None) -> None:
    """Show the expected cost of an experiment, and ask for confirmation if it may be high and has no cap."""
    args.output.info(words)
    is_much = not most.is_free and (most.cost_usd is None or most.cost_usd > ASK_ABOVE_USD)
    if is_much and not args.yes and max_cost is None:
        args.output.confirm(f"{words}.", hint="Add --max-cost USD, or --yes.", unasked=f"this will take {words}.")
