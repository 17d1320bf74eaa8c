"""Check Python, extras, terminal, models and keys, endpoints, data, runs and sandbox, and show how to fix problems."""

import argparse
import asyncio
import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from console.cli import doctor_checks
from console.cli.doctor_checks import ABSENT, BAD, Finding
from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.cli.target_arguments import add_target_arguments, target_of
from console.config.models import facts
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.sandbox.level import UNSEEN

if TYPE_CHECKING:
    from console.sandbox.attack_scene import AttackResult

FINDINGS = JsonKind(
    "findings",
    "doctor",
    "Results of all checks.",
    {"findings": "area, name, state (good, warning, bad, absent), text and hint of each"},
)
TRIAL = JsonKind(
    "trial",
    "doctor --try",
    "Result of checking a model's endpoint: its parameters (`trial`), and its handling of calls and texts (`check`).",
    {"findings": "as in `findings`", "entry": "a working entry for models.toml"},
)
DRIFT = JsonKind(
    "drift",
    "doctor --drift",
    "Comparison of an endpoint with its saved fingerprint.",
    {"findings": "one: good if it is the same or was not saved before, bad if it has changed"},
)
SANDBOX_ATTACKS = JsonKind(
    "sandbox_attacks",
    "doctor --sandbox-attacks",
    "Attacks on the sandbox of this machine, actually carried out.",
    {
        "level": "confinement of the worker, as in a run's record",
        "held": "number of attacks that did not succeed",
        "attacks": "area, name, held (true or false) and reason of each",
    },
)
_SIGNS = {"good": "✓", "warning": "!", "bad": "✗", "absent": "–"}


class DoctorArguments(Arguments):
    suite: str
    offline: bool
    deep: bool
    sandbox_attacks: bool
    model_to_try: str
    model_to_watch: str
    on: str | None
    workers: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "suite",
        metavar="SUITE",
        nargs="?",
        default="",
        help="check this suite instead: list its cases, and play one up to its first call of a simulated model",
    )
    parser.add_argument("--offline", action="store_true", help="do not contact the endpoints")
    parser.add_argument("--deep", action="store_true", help="read every line of every run's journal")
    parser.add_argument(
        "--sandbox-attacks",
        action="store_true",
        help="run hostile code in the sandbox of this machine and report what it stops; exit 1 if an attack succeeds",
    )
    parser.add_argument(
        "--try",
        dest="model_to_try",
        metavar="MODEL",
        default="",
        help="check a model's endpoint with up to 20 requests, and print a working entry for models.toml",
    )
    parser.add_argument(
        "--drift",
        dest="model_to_watch",
        metavar="MODEL",
        default="",
        help="store a fingerprint of a model's endpoint, from 200 short requests; later, report whether it has changed",
    )
    add_target_arguments(parser)


def run(args: DoctorArguments) -> int:
    """Check everything, try one model, or attack the sandbox; the exit code is 2 if any result is bad."""
    if args.model_to_try:
        return _try(args)
    if args.model_to_watch:
        return _watch_drift(args)
    if args.sandbox_attacks:
        return _attack(args)
    findings = doctor_checks.check_suite(args.suite, args.data) if args.suite else _everything(args)
    if args.json:
        args.output.data(FINDINGS, {"findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        _show(args, findings)
    return Exit.USAGE if any(finding.state == BAD for finding in findings) else Exit.OK


def _everything(args: DoctorArguments) -> list[Finding]:
    return [
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


def _cluster(args: DoctorArguments) -> list[Finding]:
    target = target_of(args)
    if not target.on:
        return []
    from console.cli.cluster_checks import check_cluster

    return check_cluster(target, args.models)


def _try(args: DoctorArguments) -> int:
    model = doctor_checks.model_to_try(args.models, args.model_to_try)
    if not model.simulated:
        from console.store.endpoint_checks import check_size

        args.output.info(f"checking the endpoint of {model.name}: {check_size(facts(model))}")
    findings, show = list[Finding](), _Lines(args.output).add

    def notify(finding: Finding) -> None:
        findings.append(finding)
        if not args.json:
            show(finding)

    entry = doctor_checks.try_model(model, notify)
    if args.json:
        args.output.data(TRIAL, {"findings": [dataclasses.asdict(finding) for finding in findings], "entry": entry})
    else:
        args.output.text(entry)
    return Exit.USAGE if any(finding.state == BAD for finding in findings) else Exit.OK


def _watch_drift(args: DoctorArguments) -> int:
    model = doctor_checks.model_to_try(args.models, args.model_to_watch)
    args.output.info(f"asking {model.name} 200 short questions (at most 14,000 tokens)")

    def notify(done: int) -> None:
        if args.output.rewrites:
            args.output.rewrite(f"{done} of 200 answers")

    finding = doctor_checks.watch_drift(model, notify)
    if args.output.rewrites:
        args.output.rewrite("")
    if args.json:
        args.output.data(DRIFT, {"findings": [dataclasses.asdict(finding)]})
    else:
        _show(args, [finding])
    return Exit.USAGE if finding.state == BAD else Exit.OK


def _attack(args: DoctorArguments) -> int:
    from console.sandbox.exchange import WorkerLost

    try:
        results = asyncio.run(_play_attacks(args))
    except WorkerLost as lost:
        raise UsageError(f"the sandbox cannot be started: {lost.message}") from None
    except OSError as error:
        raise UsageError(f"the attacks cannot be prepared: {error.strerror or error}") from None
    level, held = results[0].level, sum(result.held for result in results)
    if args.json:
        attacks = [
            {"area": each.attack.area, "name": each.attack.name, "held": each.held, "reason": each.reason}
            for each in results
        ]
        args.output.data(SANDBOX_ATTACKS, {"level": level.as_json(), "held": held, "attacks": attacks})
    else:
        args.output.text(level.text, "strong")
        for text in (*level.missing, *([UNSEEN] if level.seatbelt else [])):
            args.output.text(f"  {text}")
        args.output.text(f"{held} of {len(results)} attacks held")
    return Exit.OK if held == len(results) else Exit.BELOW


async def _play_attacks(args: DoctorArguments) -> list["AttackResult"]:
    from console.sandbox.attack_scene import play_attacks

    results: list[AttackResult] = []
    async for result in play_attacks():
        if not args.json:
            if not results or results[-1].attack.area != result.attack.area:
                args.output.text(result.attack.area, "strong")
            state = "good" if result.held else "bad"
            args.output.text(f"  {_SIGNS[state]} {result.attack.name}: {result.reason}", state)
        results.append(result)
    return results


def _show(args: Arguments, findings: Iterable[Finding]) -> None:
    show = _Lines(args.output).add
    for finding in findings:
        show(finding)


@dataclasses.dataclass
class _Lines:
    """Return the findings as readable lines, with a heading for each area."""

    output: Output
    _area: str = ""

    def add(self, finding: Finding) -> None:
        if finding.area != self._area:
            self._area = finding.area
            self.output.text(finding.area, "strong")
        self.output.text(
            f"  {_SIGNS[finding.state]} {finding.name}: {finding.text}",
            "faint" if finding.state == ABSENT else finding.state,
        )
        if finding.hint:
            self.output.text(f"      {finding.hint}")
