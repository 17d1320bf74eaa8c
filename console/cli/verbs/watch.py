"""Follow a run until it ends or pauses: in the Live screen on a terminal, else one line per finished case."""

import argparse
import time

import msgspec

from console.cli.app import open_app_with
from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments, is_interactive
from console.cli.progress import progress_line
from console.core.record import AnyRecord, Finished, Looked
from console.core.run import Manifest
from console.core.tally import RunFold, without_output
from console.exchange.json_kind import JsonKind
from console.insight.looks import look_words
from console.insight.reasons import sentence
from console.insight.rollout import SETUP
from console.store.journal import JournalReader
from console.store.runs import RunFolder

RECORD = JsonKind(
    "record",
    "watch",
    "One record of a run's journal as it is written.",
    {"record": "its type in `t`, its time in `at`, and the fields of that type"},
    is_stream=True,
)

_POLL_S = 0.2
_ENGINE_STARTS_WITHIN_S = 10.0
"""Seconds after its creation during which a run's engine may still be starting."""


class WatchArguments(Arguments):
    which: str
    text: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN", nargs="?", default="latest", help="name, part of a name, or latest")
    parser.add_argument("--text", action="store_true", help="print text even on a terminal")


def run(args: WatchArguments) -> int:
    """Follow a run; an ended run is shown from its start."""
    folder = args.find_run(args.which)
    if is_interactive() and not args.json and not args.text:
        return open_app_with(args, screen="live", run=str(folder.path))
    return _follow(folder, args.output)


def _follow(folder: RunFolder, output: Output) -> int:
    manifest, fold, reader, reported = folder.manifest(), RunFold(), JournalReader(folder.journal_path), 0
    while True:
        live = folder.is_live or (fold.sessions == 0 and time.time() - manifest.at < _ENGINE_STARTS_WITHIN_S)
        while records := reader.read_new():
            for record in records:
                fold.apply(without_output(record))
                _print_record(output, record, fold, manifest)
            if live and fold.tally.rate_limits > 2 * reported:  # seldom enough for a log
                reported = fold.tally.rate_limits
                output.info(progress_line(fold, manifest))
        if not live:
            break
        time.sleep(_POLL_S)
    state = fold.state(live=False)
    output.info(f"{state}: {progress_line(fold, manifest, live=state == 'decided')}")
    return Exit.OK if state in ("completed", "decided") else Exit.INCONCLUSIVE


def _print_record(output: Output, record: AnyRecord, fold: RunFold, manifest: Manifest) -> None:
    if output.machine:
        output.data(RECORD, {"record": msgspec.to_builtins(record)})
    elif isinstance(record, Looked) and manifest.looks is not None and manifest.looks.until is not None:
        output.text(look_words(record.look, manifest.looks.until, manifest.headline))
    elif isinstance(record, Finished):
        verdict = record.verdict
        why = f"  {sentence(verdict.reason, verdict.subject, verdict.outcome)}" if verdict.reason else ""
        is_setup = record.key.case in fold.ungraded and verdict.outcome.is_graded
        output.text(f"{SETUP if is_setup else verdict.outcome.value:<10} {record.key}{why}")
