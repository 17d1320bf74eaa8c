"""List the cases of a suite whose ground truth may be wrong, and record what readers decide.

Cases are ranked by the number of good models that agree on another answer, in the newest finished run of each model,
and by whether weak models pass a case that good ones fail. A decision is an erratum: it is bound to that version of the
case, signed with reader and date, and kept in `errata/SUITE.toml` of your data folder. Errata change no score: the
official one is shown next to the score without contested cases and the one with corrected keys.
"""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.cli.run_lookup import listed_runs
from console.core.fault import UsageError
from console.core.suggestion import suggest
from console.exchange.exports.files import require_folder, write_file
from console.exchange.json_kind import JsonKind
from console.exchange.suspects import (
    SuiteAnswers,
    decision_on,
    errata_file,
    errata_markdown,
    read_answers,
    scores_of_models,
    valid_errata,
)
from console.insight.number_format import plural, rate
from console.insight.suspects import Suspect, suspects
from console.store.errata import (
    AMBIGUOUS,
    RIGHT,
    WRONG,
    Erratum,
    add_errata,
    errata_text,
    read_errata,
)
from console.store.runs import RunFolder

SUSPECTS = JsonKind(
    "suspects",
    "suspects",
    "Cases whose ground truth may be wrong.",
    {
        "suite": "its name",
        "runs": "the run of each model",
        "suspects": "cases, the most suspect first: agreement against the key, answer, key and decision",
        "errata": "decisions; `stale` if the case has changed since",
        "scores": "of each model: official, without contested cases, with corrected keys",
    },
)
_MOST = 20
_LONGEST = 60


class SuspectsArguments(Arguments):
    suite: str
    of: list[str]
    limit: int
    right: str | None
    wrong: str | None
    ambiguous: str | None
    answer: str
    reason: str
    reader: str
    export: Path | None
    import_: Path | None
    markdown: Path | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="name of the suite")
    parser.add_argument("--of", action="append", default=[], metavar="RUN", help="only these runs; may be repeated")
    parser.add_argument("-n", "--limit", type=int, metavar="N", default=_MOST, help=f"list N cases (default {_MOST})")
    decide = parser.add_argument_group("decide")
    decide.add_argument("--right", metavar="CASE", help="the key of this case is right")
    decide.add_argument("--wrong", metavar="CASE", help="the key of this case is wrong")
    decide.add_argument("--ambiguous", metavar="CASE", help="this case has no single right answer")
    decide.add_argument("--answer", metavar="TEXT", default="",
                        help="the right answer, listed or new (default: the most frequent one)")  # fmt: skip
    decide.add_argument("--reason", metavar="TEXT", default="", help="reason for the decision")
    decide.add_argument("--reader", metavar="NAME", default="", help="name of the reader (default: the user's name)")
    share = parser.add_argument_group("share")
    share.add_argument("--export", type=Path, metavar="FILE", help="write the errata to this TOML file")
    share.add_argument("--import", type=Path, metavar="FILE", dest="import_", help="add the errata of this file")
    share.add_argument("--markdown", type=Path, metavar="FILE", help="write wrong and ambiguous keys for an issue")


def run(args: SuspectsArguments) -> int:
    """List suspects, or record a decision."""
    answers = read_answers(_runs(args), args.data)
    if not answers.by_case:
        raise UsageError(f"no finished run of {args.suite!r} has a graded case", hint="Run it with several models.")
    path = errata_file(args.data, args.suite)
    errata = read_errata(path)
    listed = suspects(answers.by_case, answers.doubts)
    made = _decision(args, answers, listed)
    if made is not None or args.import_ is not None:
        added = {made.case: made} if made is not None else {}
        errata = add_errata(path, added | (read_errata(args.import_) if args.import_ is not None else {}))
        args.output.info(f"{plural(len(errata), 'erratum') if len(errata) == 1 else f'{len(errata)} errata'} in {path}")
    for target, text in (
        (args.export, errata_text(errata)),
        (args.markdown, errata_markdown(args.suite, answers, errata)),
    ):
        if target is not None:
            require_folder(target)
            write_file(target, text.encode())
    _show(args, answers, listed, errata)
    return Exit.OK


def _runs(args: SuspectsArguments) -> list[RunFolder]:
    """Return the named runs, or all finished ones of the suite, newest first."""
    root = args.runs_root
    if args.of:
        return [args.find_run(name) for name in args.of]
    runs = [run for run in listed_runs(args) if run.summary.suite == args.suite]
    whole = [run for run in runs if run.summary.state == "completed" and run.manifest.is_whole]
    names = sorted({run.summary.suite for run in listed_runs(args)}) if not runs else []
    if names:
        hint = suggest(args.suite, names, f"There are runs of: {', '.join(names)}.")
        raise UsageError(f"there is no run of {args.suite!r}", where="SUITE", hint=hint)
    ordered = sorted(whole, key=lambda run: -run.summary.at)
    return [RunFolder(root / run.summary.id) for run in ordered]


def _decision(args: SuspectsArguments, answers: SuiteAnswers, listed: list[Suspect]) -> Erratum | None:
    """Return the decision that the options describe; None if there is none."""
    given = [(word, case) for word, case in ((RIGHT, args.right), (WRONG, args.wrong), (AMBIGUOUS, args.ambiguous))
             if case is not None]  # fmt: skip
    if not given:
        return None
    if len(given) > 1:
        raise UsageError("only one decision can be given at once", hint="Give --right, --wrong or --ambiguous.")
    ((word, case),) = given
    if case not in answers.by_case:
        raise UsageError(f"no run has a case {case!r}", where=f"--{word}", hint=suggest(case, answers.by_case))
    most_given = next((suspect.answer for suspect in listed if suspect.case == case), "")
    return decision_on(answers, case, word, answer=args.answer or most_given, reason=args.reason, reader=args.reader)


def _show(args: SuspectsArguments, answers: SuiteAnswers, listed: list[Suspect], errata: dict[str, Erratum]) -> None:
    valid = valid_errata(answers, errata)
    stale = [each for case, each in errata.items() if case not in valid]
    scores = scores_of_models(answers, errata)
    shown = [each for each in listed if each.case not in valid][: args.limit]
    if args.json:
        args.output.data(
            SUSPECTS,
            {
                "suite": args.suite,
                "runs": {model: folder.name for model, folder in answers.runs.items()},
                "suspects": [_suspect_object(each, answers) for each in shown],
                "errata": [msgspec.to_builtins(each) | {"stale": each in stale} for each in errata.values()],
                "scores": {
                    model: {"official": each.official, "without_contested": each.without_contested,
                            "corrected": each.corrected}
                    for model, each in scores.items()
                },
            },
        )  # fmt: skip
        return
    output = args.output
    output.text(
        f"{args.suite}: {plural(len(shown), 'suspect case')}, from {plural(len(answers.runs), 'model')}", "strong"
    )
    rows = [
        (each.case, f"{each.same} of {each.models}", _marks(each, answers), _short(answers.keys.get(each.case, "")),
         _short(each.answer))
        for each in shown
    ]  # fmt: skip
    if rows:
        output.rows(("case", "against", "", "key", "most given answer"), rows)
    for each in stale:
        output.prose(f"stale: {each.case} has changed since {each.reader} decided on {each.date}", "warning")
    if valid:
        output.text()
        cells = [(model, *map(_rate, (each.official, each.without_contested, each.corrected)))
                 for model, each in scores.items()]  # fmt: skip
        output.rows(("model", "official", "without contested", "corrected"), cells, right=frozenset({1, 2, 3}))


def _suspect_object(suspect: Suspect, answers: SuiteAnswers) -> dict[str, Any]:
    fields = {name: getattr(suspect, name) for name in ("case", "against", "same", "models", "answer", "odd")}
    return fields | {
        "nobody_passed": suspect.nobody_passed,
        "sentence": suspect.words(answers.keys.get(suspect.case, ""), answers.prompts.get(suspect.case, "")),
        "doubt": answers.doubts.get(suspect.case, ""),
        "key": answers.keys.get(suspect.case, ""),
        "prompt": answers.prompts.get(suspect.case, ""),
    }


def _marks(suspect: Suspect, answers: SuiteAnswers) -> str:
    odd, nobody = "odd" if suspect.odd < 0 else "", "nobody passes" if suspect.nobody_passed else ""
    return ", ".join(filter(None, (odd, nobody, answers.mark(suspect.case))))


def _rate(value: float | None) -> str:
    return "—" if value is None else rate(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
