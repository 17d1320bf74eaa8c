"""Play a suite with a model and judge it. The run is kept as it goes: kill it at any moment and `resume` it."""

import argparse

from console.cli.ending import exit_code, show_report, threshold
from console.cli.exitcode import Exit
from console.cli.history import read_history
from console.cli.output import Output
from console.cli.playing import play
from console.cli.selection import PlanArguments, add_plan_arguments, plan_of
from console.core.fault import UsageError
from console.engine.launch import spawn
from console.engine.plan import Prepared, prepare
from console.engine.preflight import doubts_about_roles
from console.store.runs import create_run


class RunArguments(PlanArguments):
    """Options of `run`."""

    fail_under: str | None
    dry_run: bool
    detach: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    add_plan_arguments(parser)
    parser.add_argument("--fail-under", metavar="X", help="exit 1 if the headline score is below 0.8 or 80%%")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be asked and what it costs")
    parser.add_argument("--detach", action="store_true", help="play in the background and print the run's name")


def run(args: RunArguments) -> int:
    """Check everything, say what it will cost, play, and report.

    Raises:
        UsageError: anything is wrong with the plan; nothing has been asked then.
    """
    output, plan, least = args.output, plan_of(args), threshold(args.fail_under)
    prepared = prepare(plan)
    for warning in [*prepared.warnings, *doubts_about_roles(prepared.models)]:
        output.say(warning)
    if args.dry_run:
        return _show_estimate(output, prepared)
    output.say(_estimate_line(prepared))
    _confirm(args, prepared)
    if args.detach:
        folder = spawn(plan)
        output.data({"run": folder.name, "folder": str(folder.path)}) if args.json else output.text(folder.name)
        return Exit.OK
    folder = create_run(prepared.runs_root, prepared.manifest)
    ending = play(folder, prepared, output)
    history = read_history(folder)
    report = prepared.suite.report(history.results(), prepared.manifest.setting)
    show_report(output, history, report)
    return exit_code(history.summary, report, least, ending.signal)


def _show_estimate(output: Output, prepared: Prepared) -> int:
    if not output.machine:
        output.text(_estimate_line(prepared))
        return Exit.OK
    estimate = prepared.estimate()
    output.data(
        {
            "model": prepared.manifest.model.name,
            "suite": prepared.manifest.suite,
            "cases": len(prepared.cases),
            "rollouts": prepared.manifest.rollouts,
            "calls": estimate.calls,
            "input_tokens": estimate.input_tokens,
            "output_tokens": estimate.output_tokens,
            "cost_usd": prepared.estimated_cost_usd(),
        }
    )
    return Exit.OK


def _estimate_line(prepared: Prepared) -> str:
    estimate, cost, manifest = prepared.estimate(), prepared.estimated_cost_usd(), prepared.manifest
    times = f" × {manifest.rollouts} rollouts" if manifest.rollouts > 1 else ""
    tokens = f"{estimate.input_tokens:,.0f} tokens in, {estimate.output_tokens:,.0f} out"
    price = "simulated, free" if manifest.simulated else f"about ${cost:.4f}" if cost is not None else "price unknown"
    return (
        f"{manifest.model.name} on {manifest.suite}: {len(prepared.cases)} cases{times}, "
        f"about {estimate.calls:,.0f} calls, {tokens}, {price}"
    )


def _confirm(args: RunArguments, prepared: Prepared) -> None:
    """Ask before money is spent, where somebody is there to answer."""
    import sys

    if args.yes or prepared.manifest.simulated or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    args.output.warn("Go on? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was asked", cure="Answer y, or add --yes.")
