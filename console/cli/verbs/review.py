"""Step through the failures of a run: in the Review screen on a terminal, else as text or JSON lines.

An `.eval` log of inspect_ai is read in place. Tags and comments on it are stored with its index, which may be deleted
at any time; `import` it to keep them. With RUN#CASE the screen opens at that case, and text shows only that case,
whatever its outcome.
"""

import argparse
from pathlib import Path

from console.cli.app import open_app_with
from console.cli.exitcode import Exit
from console.cli.parser import Arguments, is_interactive
from console.exchange.json_kind import JsonKind
from console.store.run_list import split_case
from console.store.runs import RunFolder

VERDICT = JsonKind(
    "verdict",
    "review",
    "One rollout that did not pass (with --all: any).",
    {
        "case": "its id",
        "rollout": "from 0",
        "attempt": "from 1",
        "category": "its name",
        "outcome": "passed, failed, broken, undecided, setup, interrupted",
        "verdict": "reason, messages, scores; null while playing",
        "comparison": "expected and actual; null if there is nothing to compare",
    },
    is_stream=True,
)


class ReviewArguments(Arguments):
    which: str
    all: bool
    text: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which", metavar="RUN[#CASE]", nargs="?", default="latest", help="a run, or a case of it; or an .eval log"
    )
    parser.add_argument("--all", action="store_true", help="include passed cases (as text)")
    parser.add_argument("--text", action="store_true", help="print text even on a terminal")


def run(args: ReviewArguments) -> int:
    """Review a run."""
    name, case = split_case(args.which)
    is_on_screen = is_interactive() and not args.json and not args.text
    folder = find_reviewed(args, name, beside=is_on_screen and not case)
    if is_on_screen:
        return open_app_with(args, run=str(folder.path), case=case)
    return _as_text(args, folder, case)


def find_reviewed(args: ReviewArguments, name: str, *, beside: bool) -> RunFolder:
    """Return the named run, or the run that shows a log; with `beside`, the log is indexed in the background."""
    if name.endswith(".eval") and Path(name).is_file():
        from console.exchange.imports.in_place import in_thread, open_in_place

        return open_in_place(Path(name), background=in_thread if beside else None)
    return args.find_run(name)


def _as_text(args: ReviewArguments, folder: RunFolder, case: str) -> int:
    """Print the failures of a run; imports are local, so that the screen opens quickly."""
    import msgspec

    from console.cli.history import read_played
    from console.cli.transcript import show_case
    from console.cli.verbs.show import rollouts_of, run_suite

    manifest, listed = folder.manifest(), read_played(folder)
    suite = run_suite(args, manifest)
    if case:
        listed = rollouts_of(listed, case, folder)
    elif not args.all:
        listed = [played for played in listed if played.has_not_passed]
    for played in listed:
        comparison = suite.compare(played.case, played.finished)
        if args.json:
            verdict = played.finished.verdict if played.finished else None
            args.output.data(
                VERDICT,
                {
                    "case": played.case.id,
                    "rollout": played.key.rollout,
                    "attempt": played.key.attempt,
                    "category": played.case.category,
                    "outcome": played.outcome,
                    "verdict": msgspec.to_builtins(verdict),
                    "comparison": msgspec.to_builtins(comparison),
                },
            )
        else:
            show_case(args.output, played, manifest, comparison)
            args.output.text()
    return Exit.OK
