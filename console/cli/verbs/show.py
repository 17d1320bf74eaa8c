"""Show a run, or with RUN#CASE one of its cases: the whole conversation, and expected next to actual."""

import argparse
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import msgspec

from console.cli.exitcode import Exit
from console.cli.history import History, PlayedRollout, read_history
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.run_report import metric_words, show_report
from console.cli.transcript import show_case, show_transcript
from console.core.annotation import NO_ANNOTATION, Annotation, annotation_counts, label_counts
from console.core.case import Key
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.names import normalized
from console.core.run import Manifest
from console.core.suggestion import suggest
from console.exchange.document import annotation_fields
from console.exchange.json_kind import JsonKind
from console.exchange.run_reader import RunReader
from console.exchange.score_columns import score_columns
from console.insight.conversation import Conversation
from console.insight.reasons import reason_words
from console.insight.turn_sums import turn_sums
from console.store.notes import Notes
from console.store.run_list import split_case
from console.store.runs import RunFolder
from console.suites.run_suite import RunSuite, open_run_suite
from console.suites.suite import Report

CASE = JsonKind(
    "case",
    "show RUN#CASE",
    "One rollout of a case: the whole conversation, and expected next to actual.",
    {
        "run": "its name",
        "simulated": "true for a simulated model",
        "key": "case, rollout and attempt",
        "case": "the case with its data",
        "finished": "output, verdict, time, tokens, cost; null while playing",
        "comparison": "expected and actual; null if there is nothing to compare",
        "calls": "every request with messages, tools, parameters and reply",
        "label": "optional: a model's opinion on the cause of the failure",
    },
    is_stream=True,
)


class ShowArguments(Arguments):
    which: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN[#CASE]", nargs="?", default="latest", help="a run, or a case of it")


def run(args: ShowArguments) -> int:
    """Show the run or the case."""
    name, case = split_case(args.which)
    folder = args.find_run(name)
    if case:
        return _show_case(args, folder, case)
    history = read_history(folder)
    columns = score_columns(folder, args.data)
    show_report(args.output, history, _report(history, run_suite(args, history.manifest)), columns)
    if (note := history.folder.marks.note) and not args.json:
        args.output.text(f"note: {note}", "warning")
    annotations = Notes(history.folder.path).annotations()
    counts = annotation_counts(annotations.values())
    if counts and not args.json:
        args.output.text(f"readers: {counts}; scores are not affected", "warning")
    counts = label_counts(annotations.values())
    if counts and not args.json:
        args.output.text(f"labels: {counts}; an opinion, scores are not affected", "warning")
    return Exit.OK


def _report(history: History, suite: RunSuite) -> Report | None:
    summary = history.summary
    return suite.report(history.results, summary.look, by_look=summary.is_shown_by_look)


def _show_case(args: Arguments, folder: RunFolder, case: str) -> int:
    output, reader = args.output, RunReader(folder)
    suite = run_suite(args, reader.manifest)
    annotations = reader.annotations()
    for rollout in rollouts_of(reader.ordered, case, folder):
        key = rollout.earlier[-1] if rollout.is_running and rollout.earlier else rollout.key
        conversation = reader.conversation(key)
        if conversation.case is None:
            continue
        played = PlayedRollout(conversation.case, key, conversation.finished)
        annotation = annotations.get(rollout.slot, NO_ANNOTATION)
        comparison = suite.compare(played.case, played.finished)
        if output.machine:
            output.data(CASE, _as_json(reader.manifest, played, annotation, conversation, comparison))
            continue
        show_case(output, played, reader.manifest, comparison)
        for kind, text in annotation_fields(annotation).items():
            output.text(f"  {kind.replace('_', ' ')}: {text}", "warning")
        _show_turns(output, played, lambda: _report(read_history(folder), suite))
        show_transcript(output, conversation)
    return Exit.OK


class _Keyed(Protocol):
    @property
    def key(self) -> Key: ...


KeyedT = TypeVar("KeyedT", bound=_Keyed)


def rollouts_of(rollouts: Sequence[KeyedT], case: str, folder: RunFolder) -> list[KeyedT]:
    """Return every rollout of a case, or a single one named as in lists."""
    named = normalized(case)
    matching = [
        rollout for rollout in rollouts if named in (normalized(rollout.key.case), normalized(str(rollout.key)))
    ]
    if not matching:
        cases = dict.fromkeys(rollout.key.case for rollout in rollouts)
        hint = suggest(case, cases, f"`eval-console show {folder.name} --json` lists them.")
        raise UsageError(f"the run has no case {case!r}", where=folder.name, hint=hint)
    return matching


def _show_turns(output: Output, played: PlayedRollout, report_of_run: Callable[[], Report | None]) -> None:
    """Print the numbers of a conversation and each of its turns, if the suite's verdict has them."""
    turns = turn_sums(played.finished.verdict.detail) if played.finished is not None else []
    if not turns:
        return
    report = report_of_run()
    for metric in report.cases.get(played.case.id, ()) if report is not None else ():
        output.text(f"  {metric_words(metric)}", "faint")
    words = [turn.wrong for turn in turns]
    rows = [
        (number, "success" if turn.success else reason_words(turn.reason), turn.expected_calls, turn.actual_calls,
         turn.steps, turn.tokens, "  ".join(f"{word} {count}" for word, count in wrong))
        for number, (turn, wrong) in enumerate(zip(turns, words, strict=True), start=1)
    ]  # fmt: skip
    header = ("turn", "result", "expected calls", "actual calls", "steps", "tokens", "wrong")
    output.rows(header, rows, right=frozenset({0, 2, 3, 4, 5}))
    output.text()


def run_suite(args: Arguments, manifest: Manifest) -> RunSuite:
    """Return the suite of a run, with a warning if it cannot be opened."""
    suite = open_run_suite(manifest, args.data)
    if suite.why:
        args.output.warn(suite.why)
    return suite


def _as_json(
    manifest: Manifest,
    played: PlayedRollout,
    annotation: Annotation,
    conversation: Conversation,
    comparison: Comparison | None,
) -> dict[str, object]:
    return {
        "run": manifest.id,
        "simulated": manifest.simulated,
        "key": msgspec.to_builtins(played.key),
        "case": msgspec.to_builtins(played.case),
        "finished": msgspec.to_builtins(played.finished),
        "comparison": msgspec.to_builtins(comparison),
        "calls": [
            {
                "role": exchange.asked.role,
                "messages": exchange.messages,
                "tools": exchange.tools,
                "params": exchange.asked.params,
                "reply": msgspec.to_builtins(exchange.asked.reply),
            }
            for exchange in conversation.exchanges
        ],
        **({"label": msgspec.to_builtins(annotation.label)} if annotation.label is not None else {}),
    }
