"""Import logs of other tools as runs, for review, comparison and export; makes no calls."""

import argparse
import time
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.config.paths import find_runs_root
from console.core.fault import UsageError
from console.exchange.imports.formats import ImportItem, ImportSettings, find_items, import_formats
from console.exchange.imports.importing import ImportReport, partial_words, report_object, total_sign
from console.exchange.json_kind import JsonKind

IMPORTS = JsonKind(
    "imports",
    "import",
    "Result of importing each file.",
    {"imported": "run, model, suite, counts, problems and totals of each", "failed": "file and reason of each"},
)

_SHOWN_PROBLEMS = 20
_PROGRESS_EVERY_S = 0.2


class ImportArguments(Arguments):
    paths: list[Path]
    form: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="log files, or folders of them")
    forms = import_formats()
    meanings = "; ".join(f"{form.name}: {form.meaning}" for form in forms.values())
    parser.add_argument(
        "--format", dest="form", choices=list(forms), help=f"source of the logs (default: detected); {meanings}"
    )
    for form in forms.values():
        if form.add_arguments is not None:
            form.add_arguments(parser)


def run(args: ImportArguments) -> int:
    """Import the logs; a log that cannot be imported does not affect others."""
    items = [item for path in args.paths for item in find_items(path, args.form)]
    settings = ImportSettings(
        find_runs_root(args.runs, may_be_new=True),
        args.data,
        vars(args),
        progress=lambda path: _ProgressLine(args.output, path.name),
    )
    reports: list[ImportReport] = []
    failures: list[tuple[Path, UsageError]] = []
    for item in items:
        _import_item(args.output, item, settings, reports, failures)
    if args.json:
        args.output.data(
            IMPORTS,
            {
                "imported": [report_object(report) for report in reports],
                "failed": [{"file": str(path), "why": str(error)} for path, error in failures],
            },
        )
    if failures and len(items) == 1:
        raise failures[0][1]
    for _, error in failures:
        args.output.warn(str(error))
    return Exit.USAGE if failures else Exit.OK


def _import_item(
    output: Output,
    item: ImportItem,
    settings: ImportSettings,
    reports: list[ImportReport],
    failures: list[tuple[Path, UsageError]],
) -> None:
    try:
        for report in item.form.load(item.path, settings):
            reports.append(report)
            if not output.machine:
                show_import(output, report)
    except UsageError as error:
        failures.append((item.path, error))


def show_import(output: Output, report: ImportReport) -> None:
    """Print the result of importing a log."""
    output.text(f"{report.run}{'  (simulated)' if report.simulated else ''}", "strong")
    source = " ".join(filter(None, (report.tool, report.version)))
    counts = ", ".join(f"{number} {word}" for word, number in report.outcomes.items()) or "no rollout"
    output.text(f"{report.model} on {report.suite}: {counts}")
    output.text(f"imported from {report.file} ({source})")
    if report.missing:
        output.text(f"{report.missing} more rollouts are declared in the log but missing", "warning")
    for words in partial_words(report):
        output.text(words, "warning")
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        output.text(f"{problem.where}: {problem.why}", "warning")
    if len(report.problems) > _SHOWN_PROBLEMS:
        output.text(f"… and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists them", "warning")
    if report.totals:
        rows = [
            (total.score, total.metric, _number(total.reported), _number(total.ours), total_sign(total))
            for total in report.totals
        ]
        output.rows(("score", "metric", "in the log", "here", ""), rows, right=frozenset({2, 3}))
    if report.unplaced:
        named = ", ".join(f"{name} ({number})" for name, number in report.unplaced.items())
        output.text(f"kept under Raw, as there is no field for it: {named}")
    output.text()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


class _ProgressLine:
    """Progress of one log, on stderr."""

    def __init__(self, output: Output, name: str) -> None:
        self._output, self._name = output, name
        self._last = 0.0

    def __call__(self, done: int, planned: int | None) -> None:
        now = time.monotonic()
        if self._output.rewrites and now - self._last >= _PROGRESS_EVERY_S:
            self._last = now
            self._output.rewrite(f"{self._name}: {done}" + (f" of {planned}" if planned else ""))
