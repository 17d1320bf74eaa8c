"""Check Python, terminal, models and keys, endpoints, data, runs folder and sandbox, and say how to mend each."""

import argparse
import dataclasses

from console.cli import checkup
from console.cli.checkup import BAD, Finding
from console.cli.exitcode import Exit
from console.cli.parser import Arguments

_SIGNS = {"good": "✓", "doubt": "!", "bad": "✗"}


class DoctorArguments(Arguments):
    """Options of `doctor`."""

    offline: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--offline", action="store_true", help="do not ask the endpoints")


def run(args: DoctorArguments) -> int:
    """Look at everything; exit code 2 when something is bad."""
    findings = [
        *checkup.look_at_python(),
        *checkup.look_at_terminal(),
        *checkup.look_at_models(args.models, args.data),
        *([] if args.offline else checkup.look_at_endpoints(args.models)),
        *checkup.look_at_data(args.data),
        *checkup.look_at_runs(args.runs),
        *checkup.look_at_sandbox(),
    ]
    if args.json:
        args.output.data([dataclasses.asdict(finding) for finding in findings])
    else:
        _show(args, findings)
    return Exit.USAGE if any(finding.state == BAD for finding in findings) else Exit.OK


def _show(args: Arguments, findings: list[Finding]) -> None:
    area = ""
    for finding in findings:
        if finding.area != area:
            area = finding.area
            args.output.text(area, "strong")
        args.output.text(f"  {_SIGNS[finding.state]} {finding.name}: {finding.text}", finding.state)
        if finding.hint:
            args.output.text(f"      {finding.hint}")
