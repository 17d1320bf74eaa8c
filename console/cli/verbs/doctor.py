"""Check Python, extras, terminal, models and keys, endpoints, data, runs and sandbox, and say how to fix problems."""

import argparse
import dataclasses

from console.cli import doctor_checks
from console.cli.doctor_checks import ABSENT, BAD, Finding
from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.cli.target_arguments import add_target_arguments, target_of
from console.exchange.json_kind import JsonKind

FINDINGS = JsonKind(
    "findings",
    "doctor",
    "Results of all checks.",
    {"findings": "area, name, state (good, warning, bad, absent), text and hint of each"},
)
TRIAL = JsonKind(
    "trial",
    "doctor --try",
    "Result of calling a model with and without tools.",
    {"findings": "as in `findings`", "entry": "a working entry for models.toml"},
)

_SIGNS = {"good": "✓", "warning": "!", "bad": "✗", "absent": "–"}


class DoctorArguments(Arguments):
    """Options of `doctor`."""

    offline: bool
    deep: bool
    model_to_try: str
    on: str | None
    workers: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--offline", action="store_true", help="do not contact the endpoints")
    parser.add_argument("--deep", action="store_true", help="read every line of every run's journal")
    parser.add_argument(
        "--try",
        dest="model_to_try",
        metavar="MODEL",
        default="",
        help="call one model with and without tools, and print a working entry for models.toml",
    )
    add_target_arguments(parser)


def run(args: DoctorArguments) -> int:
    """Check everything, or try one model; the exit code is 2 if something is bad.

    Raises:
        UsageError: no such model.
    """
    if args.model_to_try:
        return _try(args)
    findings = [
        *doctor_checks.check_python(),
        *doctor_checks.check_open_files(),
        *doctor_checks.check_extras(),
        *doctor_checks.check_terminal(),
        *doctor_checks.check_models(args.models, args.data),
        *([] if args.offline else doctor_checks.check_endpoints(args.models)),
        *doctor_checks.check_data(args.data),
        *doctor_checks.check_runs(args.runs),
        *(doctor_checks.check_journals(args.runs) if args.deep else []),
        *doctor_checks.check_benchmarks(),
        *_cluster(args),
    ]
    if args.json:
        args.output.data(FINDINGS, {"findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        _show(args, findings)
    return Exit.USAGE if any(finding.state == BAD for finding in findings) else Exit.OK


def _cluster(args: DoctorArguments) -> list[Finding]:
    target = target_of(args)
    if not target.on:
        return []
    from console.cli.cluster_checks import check_cluster

    return check_cluster(target, args.models)


def _try(args: DoctorArguments) -> int:
    findings, entry = doctor_checks.try_model(args.models, args.model_to_try)
    if args.json:
        args.output.data(TRIAL, {"findings": [dataclasses.asdict(finding) for finding in findings], "entry": entry})
    else:
        _show(args, findings)
        args.output.text(entry)
    return Exit.USAGE if any(finding.state == BAD for finding in findings) else Exit.OK


def _show(args: Arguments, findings: list[Finding]) -> None:
    area = ""
    for finding in findings:
        if finding.area != area:
            area = finding.area
            args.output.text(area, "strong")
        args.output.text(
            f"  {_SIGNS[finding.state]} {finding.name}: {finding.text}",
            "faint" if finding.state == ABSENT else finding.state,
        )
        if finding.hint:
            args.output.text(f"      {finding.hint}")
