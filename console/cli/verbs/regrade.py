"""Grade runs again, each as a run of its own: the old answers are kept, and the model is not called.

The answers are graded by today's code and ground truths. The judge is called again only if it or the question has
changed, or with --judge. A conversation that would now send the model other requests ends broken. The table shows which
verdicts flipped; for several runs of a suite, also their ranks before and after.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from console.cli.budget_arguments import BudgetArguments, add_budget_arguments, budget_of
from console.cli.exitcode import Exit
from console.cli.sections import show_section
from console.core.run import Budget, Summary
from console.exchange.json_kind import JsonKind

if TYPE_CHECKING:  # engine code is imported when needed, which keeps `regrade --help` fast
    from console.insight.comparison_side import ComparisonSide
    from console.store.runs import RunFolder

REGRADED = JsonKind(
    "regraded",
    "regrade",
    "One run that was graded again.",
    {
        "run": "the new run",
        "regraded": "the old run",
        "graded_differently": "differences of the graders, as text; empty if they are equal or not recorded",
        "calls": "number of calls made, all to judges and embeddings",
        "cost_usd": "their cost; null if a price is unknown",
        "flips": "changed verdicts by outcomes, reason and category",
        "unchanged": "number of verdicts that did not change",
        "difference": "new minus old score, paired by case, with interval and p",
        "people": "both gradings against people's labels, the old one first; empty without labels",
    },
    is_stream=True,
)


class RegradeArguments(BudgetArguments):
    which: list[str]
    judge: str
    option: list[str]
    filter: str
    repeats: int
    batch: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="+", help="name, part of a name, or latest; --data PATH gives "
                        "other ground truths")  # fmt: skip
    parser.add_argument(
        "--judge", metavar="NAME", default="", help="judge model, called even if it judged these answers before"
    )
    parser.add_argument("--option", action="append", default=[], metavar="K=V",
                        help="a suite option that replaces the old one; V is JSON or text")  # fmt: skip
    parser.add_argument("--filter", metavar="TERMS", default="", help="only matching cases, such as 'is:failed cat:x'")
    parser.add_argument("-r", "--repeats", type=int, metavar="N", default=1,
                        help="grade each answer N times, to measure the judge's own noise")  # fmt: skip
    parser.add_argument("--batch", action="store_true",
                        help="ask judges through batch APIs at half price; answers come within a day")  # fmt: skip
    add_budget_arguments(parser)


def run(args: RegradeArguments) -> int:
    """Grade the runs again, one after another; the exit code is 3 if a conversation could not be graded."""
    from console.cli.foreground import play
    from console.cli.listed_failures import chosen_cases
    from console.cli.selection import read_options
    from console.engine.regrade import prepare_regrade
    from console.store.runs import create_run

    folders = [args.find_run(name) for name in args.which]
    prepared_runs = [
        prepare_regrade(
            folder,
            judge=args.judge,
            options=read_options(args.option),
            case_ids=chosen_cases(folder, args.filter, passed_too=True) if args.filter else None,
            repeats=args.repeats,
            is_batched=args.batch,
            paths=args.workspace,
        )
        for folder in folders
    ]
    pairs: list[tuple[Summary, Summary]] = []
    worst = Exit.OK
    for folder, planned in zip(folders, prepared_runs, strict=True):
        manifest = msgspec.structs.replace(planned.manifest, budget=budget_of(args, Budget()))
        prepared = dataclasses.replace(planned, manifest=manifest)
        for warning in prepared.warnings:
            args.output.warn(warning)
        ending = play(create_run(prepared.runs_root, manifest), prepared, args.output)
        pairs.append((folder.summary(), ending.folder.summary()))
        _show(args, folder, ending.folder)
        if ending.signal is not None:
            return 128 + ending.signal
        worst = max(worst, _code(pairs[-1][1]))
    _show_ranks(args, pairs)
    return worst


def _code(summary: Summary) -> Exit:
    if summary.state == "budget":
        return Exit.BUDGET
    left = summary.tally.graded + summary.tally.setup < summary.planned
    return Exit.INCONCLUSIVE if left else Exit.OK


def _show(args: RegradeArguments, old: "RunFolder", new: "RunFolder") -> None:
    from console.cli.history import read_overview
    from console.core.grading import NOT_RECORDED, grading_differences
    from console.exchange.exports.comparison import difference_fields
    from console.insight.comparison import compare
    from console.insight.comparison_report import verdict_words
    from console.insight.comparison_side import ComparisonSide
    from console.insight.reader_labels import evidence, evidence_words, judged_answers, reader_object
    from console.insight.regrading import flips
    from console.store.notes import Notes

    comparison = compare(*(ComparisonSide(run.manifest(), read_overview(run)) for run in (old, new)))
    changed, summary = flips(comparison), new.summary()
    labels = Notes(old.path).annotations()
    gradings = [judged_answers(side.rollouts.values(), side.manifest) for side in (comparison.a, comparison.b)]
    scores = evidence(gradings, labels, comparison.b.manifest.judge_repeats)
    differs = grading_differences(comparison.a.manifest, comparison.b.manifest)
    if args.json:
        args.output.data(
            REGRADED,
            {
                "run": new.name,
                "regraded": old.name,
                "graded_differently": differs,
                "calls": summary.tally.calls,
                "cost_usd": None if summary.tally.cost_unknown else summary.tally.cost_usd,
                "flips": [dict(zip(changed.headings, row.cells, strict=True)) for row in changed.rows],
                "unchanged": sum(pair.a.outcome is pair.b.outcome for pair in comparison.pairs),
                "difference": difference_fields(comparison.counts.difference),
                "people": [reader_object(each) for each in scores],
            },
        )
        return
    output, mark = args.output, f"  ({summary.simulated_note})" if summary.simulated else ""
    output.text(f"{new.name}{mark}", "strong")
    output.text(f"regraded from {old.name}: {_asked_words(summary)}")
    is_known = comparison.a.manifest.grader is not None
    alike = "graded alike: the same grader on the same answers" if is_known else f"{NOT_RECORDED} for the old run"
    for words in differs or [alike]:
        output.prose(words, "faint")
    output.text(verdict_words(comparison).replace("B − A", "new − old"), "strong")
    show_section(output, changed)
    _show_noise(args, comparison.b)
    for which, each in zip(("old", "new"), scores, strict=False):
        output.prose(f"{which} grading {evidence_words(each)}")
    output.info(f"compare: eval-console compare {old.name} {new.name}")


def _asked_words(summary: Summary) -> str:
    from console.insight.number_format import money, plural

    if not summary.tally.calls:
        return "no calls were made"
    cost = money(summary.tally.cost_usd, at_least=bool(summary.tally.cost_unknown))
    return f"{plural(summary.tally.calls, 'call')} of the judge, {cost}; none of the model"


def _show_noise(args: RegradeArguments, new: "ComparisonSide") -> None:
    from console.insight.judging import judging_of, noise_lines

    judging = judging_of(new.manifest, new.rollouts.values(), {})
    for line in noise_lines(judging) if judging is not None else ():
        args.output.prose(line)


def _show_ranks(args: RegradeArguments, pairs: Sequence[tuple[Summary, Summary]]) -> None:
    from console.insight.regrading import ranks

    if args.json or len({new.suite for _, new in pairs}) > 1:
        return
    section = ranks(pairs)
    if section is not None:
        args.output.text()
        show_section(args.output, section)
