"""Compare two runs: cases lost, cases gained, and whether the difference may be chance. More runs: a grid.

Only cases graded in both runs are counted; cases broken or undecided in either are excluded.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.gate_arguments import (
    add_gate_arguments,
    gate_code,
    gate_of,
    margin_of,
    show_gate,
    with_gate,
)
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.sections import show_section
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.run import Summary, reroll_words
from console.exchange.exports.comparison import (
    COMPARISON,
    comparison_csv,
    comparison_fields,
    comparison_junit,
    comparison_markdown,
)
from console.exchange.exports.files import require_folder, write_file
from console.exchange.json_kind import JsonKind
from console.exchange.run_reader import RunReader
from console.exchange.score_columns import columns_fields, columns_section, score_columns
from console.insight.comparison import RunComparison, compare
from console.insight.comparison_report import (
    change_words,
    comparability_notes,
    comparison_sections,
    served_words,
    verdict_words,
)
from console.insight.gate import Gate
from console.insight.grid import Grid, GridCase, grid
from console.insight.number_format import plural, score
from console.insight.prompt_change import prompt_changes
from console.insight.rollout import outcome_word
from console.store.endpoint_checks import difference_notice

GRID = JsonKind(
    "grid",
    "compare A B C",
    "More than two runs side by side.",
    {"runs": "their names", "rows": "outcomes of each case, in the order of the runs"},
)

_MARKS = {
    Outcome.PASSED: "P",
    Outcome.FAILED: "F",
    Outcome.BROKEN: "!",
    Outcome.UNDECIDED: "?",
    Outcome.NOT_RUN: "-",
    None: "",
}


class CompareArguments(Arguments):
    which: list[str]
    form: str
    out: Path | None
    fail_if_worse: bool
    margin: str | None
    metric: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which", metavar="RUN", nargs="+", help="A and B (names, parts of names, or latest), or more runs"
    )
    parser.add_argument("--format", dest="form", choices=("text", *_FORMS), default="text", help="format for two runs")
    parser.add_argument("-o", "--out", type=Path, metavar="PATH", help="file to write")
    add_gate_arguments(parser)


def run(args: CompareArguments) -> int:
    """Compare the runs."""
    _check(args)
    readers, summaries = _readers(args)
    sides = [reader.side for reader in readers]
    if len(sides) > 2:
        if args.form != "text":
            raise UsageError("only works with two runs", where="--format", hint="Use --json for more.")
        if args.fail_if_worse:
            raise UsageError(
                "only works with two runs", where="--fail-if-worse", hint="Give the baseline and the new run."
            )
        _show_grid(args.output, grid(sides))
        return Exit.OK
    comparison = compare(*sides)
    if not comparison.pairs:
        raise UsageError(
            "the two runs have no case in common",
            where=f"{sides[0].name}, {sides[1].name}",
            hint="Compare runs of the same suite and categories; `eval-console runs` lists them.",
        )
    gate = gate_of(args, comparison, *summaries)
    if args.form != "text":
        text = _FORMS[args.form](comparison, gate)
        if args.out is None:
            args.output.file(text)
        else:
            write_file(args.out, text.encode())
    elif args.json:
        a, b = (score_columns(reader.folder, args.data) for reader in readers)
        args.output.data(COMPARISON, with_gate(comparison_fields(comparison) | columns_fields(a, b), gate))
    else:
        _show(args.output, comparison, readers)
        named = zip("AB", readers, strict=True)
        columns = [(letter, score_columns(reader.folder, args.data)) for letter, reader in named]
        if (section := columns_section(columns)) is not None:
            args.output.text()
            show_section(args.output, section)
        if gate is not None:
            args.output.text()
            show_gate(args.output, gate)
    return gate_code(gate)


_FORMS: dict[str, Callable[[RunComparison, Gate | None], str]] = {
    "markdown": comparison_markdown,
    "csv": lambda comparison, gate: comparison_csv(comparison),
    "junit": comparison_junit,
}


def _check(args: CompareArguments) -> None:
    """Reject conflicting options, and a file in a missing folder, before anything is read."""
    margin_of(args)
    if args.out is not None:
        require_folder(args.out)
    if args.json and args.form != "text":
        raise UsageError("the file name already gives the format", where="--json", hint="Remove it or --format.")


def _readers(args: CompareArguments) -> tuple[list[RunReader], list[Summary]]:
    if len(args.which) < 2:
        raise UsageError(
            "two runs are needed", hint="Write `eval-console compare A B`; `eval-console runs` lists them."
        )
    folders = [args.find_run(name) for name in args.which]
    if len({folder.path for folder in folders}) < len(folders):
        raise UsageError(f"{folders[-1].name} is given twice", hint="Name different runs.")
    readers = [RunReader(folder) for folder in folders]
    for reader in readers:
        if reader.damages:
            args.output.warn(f"{reader.folder.name}: {reader.damages} damaged journal lines were skipped")
    return readers, [folder.summary() for folder in folders]


def _show(output: Output, comparison: RunComparison, readers: Sequence[RunReader]) -> None:
    part = comparison.counts
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        mark = f"  ({side.manifest.simulated_note})" if side.manifest.simulated else ""
        output.text(f"{letter}  {side.name}  {side.model}{mark}", "strong")
    left = f", {part.left_out} left out without two grades" if part.left_out else ""
    unpaired = (("A", comparison.only_a), ("B", comparison.only_b))
    only = "".join(f", {plural(count, 'rollout')} only in {letter}" for letter, count in unpaired if count)
    rollouts = f"{part.rollouts} rollouts of " if part.rollouts > part.cases else ""
    sameness = f"{comparison.data.words('case')}, {comparison.prompts.words('prompt')}"
    output.text(f"{rollouts}{plural(part.cases, 'case')} compared{left}{only}; {sameness}")
    if served := served_words(comparison):
        output.prose(served)
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        if found := difference_notice(side.manifest.model):
            output.prose(f"{letter}: {found}", "warning")
    for words in comparability_notes(comparison):
        output.prose(words, "warning")
    output.text()
    _show_prompt_changes(output, comparison, readers)
    output.text(verdict_words(comparison), "strong")
    for section in comparison_sections(comparison):
        output.text()
        show_section(output, section)
    if listed := comparison.changes() or comparison.cases[: comparison.single is not None]:
        output.text()
        output.rows(("case", "change", "why"), [(case.name, *change_words(case)) for case in listed])


def _show_prompt_changes(output: Output, comparison: RunComparison, readers: Sequence[RunReader]) -> None:
    """Print the prompt differences of the only case in a comparison."""
    pair = comparison.single
    if pair is None:
        return
    a, b = (reader.conversation(rollout.key) for reader, rollout in zip(readers, (pair.a, pair.b), strict=True))
    if changes := prompt_changes(a, b):
        output.text("the prompt differs   - A   + B", "strong")
        for change in changes:
            output.text(f"{change.sign} {change.role}: {change.before}{change.text}{change.after}")
        output.text()


def _show_grid(output: Output, runs_grid: Grid) -> None:
    if output.machine:
        rows = [
            {
                "case": row.slot[0],
                "rollout": row.slot[1],
                "category": row.category,
                "differs": row.differs,
                "outcomes": [outcome_word(outcome) if outcome else None for outcome in row.outcomes],
            }
            for row in runs_grid.rows
        ]
        output.data(GRID, {"runs": [side.name for side in runs_grid.sides], "rows": rows})
        return
    for number, side in enumerate(runs_grid.sides, 1):
        mark = f"  ({side.manifest.simulated_note})" if side.manifest.simulated else ""
        graded = f"{score(runs_grid.rate(number - 1))} of {runs_grid.basis} graded in all"
        output.text(f"{number}  {side.name}  {side.model}{mark}  {graded}", "strong")
        if words := reroll_words(side.overview.fold.rerolled_rollouts):
            output.prose(f"   {words}", "warning")
    output.text()
    headings = ("case", *(str(number + 1) for number in range(len(runs_grid.sides))), "")
    places = range(len(runs_grid.sides))
    rows = [
        (case.slot[0], *(_mark(case, place) for place in places), "differs" if case.differs else "")
        for case in runs_grid.cases
    ]
    output.rows(headings, rows)


def _mark(case: GridCase, place: int) -> str:
    """Return the outcome of a case in a run, or the number of its passing repeats, such as `3/4`."""
    passed, graded = case.passed(place)
    if len(case.repeats) > 1 and graded:
        return f"{passed}/{graded}"
    return _MARKS[case.shown_in(place).outcomes[place]]
