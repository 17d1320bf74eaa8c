"""Group the failures of a run: by reason (and subject), error type, parameter, category, function, tag, label, blame.

--filter takes the filter language of the app: reason:unit error:value_error func:get_weather tag:none time>30s
is:disputed, free text (searched in whole conversations), and ! before a term to invert it.
"""

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.history import read_played
from console.cli.listed_failures import label_words, listed_failures, none_words
from console.cli.output import Output
from console.cli.parser import Arguments
from console.core.annotation import NO_ANNOTATION, Annotation
from console.core.case import Slot
from console.core.outcome import Outcome
from console.exchange.json_kind import JsonKind
from console.insight.failures import Group, GroupBy, group, possible_grouping, with_cases
from console.insight.filter import read_filter
from console.insight.rollout import Rollout
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.suites.report import LETTERS

FAILURES = JsonKind(
    "failures",
    "failures",
    "Failures of a run by group.",
    {
        "run": "its name",
        "groups": "label, count, cases, messages of the grader and subgroups of each, and labels by models",
    },
)


class FailuresArguments(Arguments):
    which: str
    by: str
    filter: str
    diff: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("--by", choices=[item.value for item in GroupBy], default=GroupBy.REASON.value)
    parser.add_argument(
        "--filter", metavar="TERMS", default="", help="only matching failures, such as 'func:get_weather tag:none'"
    )
    parser.add_argument("--diff", action="store_true", help="also show expected and actual of each failure")


def run(args: FailuresArguments) -> int:
    """Group and list failed, broken and undecided rollouts."""
    folder = args.find_run(args.which)
    folder.manifest()
    annotations = Notes(folder.path).annotations()
    chosen, by = read_filter(args.filter), possible_grouping(GroupBy(args.by), annotations)
    rollouts, listed = listed_failures(folder, chosen, annotations)
    contested: Collection[str] = ()
    if by is GroupBy.BLAME:
        from console.exchange.score_columns import contested_cases

        contested = contested_cases(folder, args.data)
    groups = _groups(rollouts, listed, by, annotations, folder.manifest().rollouts, contested)
    if by.value != args.by:
        args.output.info(f"{folder.name} has no labels; grouped by {by}")
    if args.json:
        args.output.data(FAILURES, {"run": folder.name, "groups": [_as_json(item, annotations) for item in groups]})
    elif groups:
        show_difference = _differences(args, folder) if args.diff else None
        repeats = folder.manifest().rollouts
        has_cases = repeats > 1 and show_difference is None and by is not GroupBy.REPEATS
        for item in with_cases(groups) if has_cases else groups:
            _show(args.output, item, annotations, 0, show_difference, repeats=repeats)
    else:
        args.output.info(none_words(folder, chosen, rollouts))
    return Exit.OK


def _groups(
    rollouts: Sequence[Rollout],
    failures: Sequence[Rollout],
    by: GroupBy,
    annotations: Mapping[Slot, Annotation],
    repeats: int,
    contested: Collection[str],
) -> list[Group]:
    if by is GroupBy.REPEATS:  # a case with a failure is shown with all its outcomes
        cases = {rollout.key.case for rollout in failures}
        failures = [rollout for rollout in rollouts if rollout.key.case in cases]
    return group(failures, by, annotations, repeats=repeats, contested=contested)


def _differences(args: FailuresArguments, folder: RunFolder) -> Callable[[Rollout], None]:
    """Return a function that prints expected and actual of a rollout."""
    from console.cli.transcript import show_comparison
    from console.cli.verbs.show import run_suite

    suite = run_suite(args, folder.manifest())
    played_by_slot = {each.key.slot: each for each in read_played(folder)}

    def show(rollout: Rollout) -> None:
        played = played_by_slot[rollout.slot]
        comparison = suite.compare(played.case, played.finished)
        if comparison is not None:
            show_comparison(args.output, comparison)

    return show


def _show(
    output: Output,
    failure_group: Group,
    annotations: Mapping[Slot, Annotation],
    depth: int,
    show_difference: Callable[[Rollout], None] | None,
    *,
    repeats: int,
) -> None:
    if failure_group.is_case:
        marks = "".join(LETTERS[rollout.outcome or Outcome.NOT_RUN] for rollout in failure_group.rollouts)
        message = failure_group.lead.message if failure_group.lead.is_failure else ""
        count = marks if len(marks) == repeats else f"{len(marks)} of {repeats}"
        output.prose(f"{'  ' * depth}       {count}  {failure_group.label}  {message}".rstrip())
        _show_labels(output, failure_group.rollouts, annotations, depth)
        return
    parts = failure_group.parts
    output.text(f"{'  ' * depth}{failure_group.size:>5}  {failure_group.label}", "" if depth else "strong")
    for part in parts:
        _show(output, part, annotations, depth + 1, show_difference, repeats=repeats)
    if not parts:
        for rollout in failure_group.rollouts:
            output.prose(f"{'  ' * depth}         {rollout.key}  {rollout.message}".rstrip(), "faint")
            _show_labels(output, [rollout], annotations, depth)
            if show_difference is not None:
                show_difference(rollout)


def _show_labels(
    output: Output, rollouts: Iterable[Rollout], annotations: Mapping[Slot, Annotation], depth: int
) -> None:
    labels = (annotations.get(rollout.slot, NO_ANNOTATION).label for rollout in rollouts)
    for words in dict.fromkeys(label_words(label) for label in labels if label is not None):
        output.text(f"{'  ' * depth}           {words}", "warning")


def _as_json(failure_group: Group, annotations: Mapping[Slot, Annotation]) -> dict[str, Any]:
    labels = {
        str(rollout.key): msgspec.to_builtins(label)
        for rollout in failure_group.rollouts
        if (label := annotations.get(rollout.slot, NO_ANNOTATION).label) is not None
    }
    return {
        "label": failure_group.label,
        "count": failure_group.count,
        "cases": [str(rollout.key) for rollout in failure_group.rollouts],
        "messages": {str(rollout.key): rollout.message for rollout in failure_group.rollouts if rollout.message},
        **({"labels_by_model": labels} if labels else {}),
        "parts": [_as_json(part, annotations) for part in failure_group.parts],
    }
