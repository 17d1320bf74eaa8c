"""Run suites with models. Results are saved as they arrive: a killed run can be resumed at any point.

Each combination of model and suite is a run: played here one after another, or in the background with --detach (side by
side) or --queue (one after another).
"""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from console.cli.exitcode import Exit
from console.cli.gate_arguments import (
    add_gate_arguments,
    gate_code,
    gate_of,
    margin_of,
    show_gate,
    with_gate,
)
from console.cli.output import Output
from console.cli.selection import PresetArguments, add_preset_arguments, preset_of
from console.cli.target_arguments import add_target_arguments, target_of
from console.core.fault import UsageError
from console.core.price import dollars
from console.exchange.json_kind import JsonKind

if TYPE_CHECKING:  # engine code is imported when needed, which keeps `run --help` fast
    from console.config.preset import Preset
    from console.engine.forecast import Forecast, RunForecast
    from console.engine.plan import Plan, PreparedRun
    from console.engine.player import PlayerFactory
    from console.insight.gate import Gate
    from console.store.runs import RunFolder

STARTED_RUN = JsonKind(
    "started_run",
    "run --detach, run --queue",
    "A run that plays, or will play, in the background.",
    {"run": "its name", "folder": "its path"},
    is_stream=True,
)
FORECAST = JsonKind(
    "forecast",
    "run --dry-run",
    "Calls and cost of one run; no calls were made.",
    {
        "model": "its name",
        "suite": "its name",
        "cases": "their number",
        "setup": "number of setup cases, which are not graded",
        "rollouts": "conversations per case",
        "calls": "calls of models in all roles",
        "input_tokens": "total",
        "output_tokens": "total",
        "cost_usd": "null if a price is unknown",
        "most_usd": "optional: cost if every conversation is as long as possible",
        "basis": "basis of the estimate",
        "detectable": "optional: smallest difference that the run can show",
        "until": "optional: cases after which the looks are expected to end the run, and at most",
        "terms": "optional: terms of its batches, such as half price",
        "overspend": "optional: by how much its cap can be exceeded, in words",
        "protocols": "optional: calls, tokens and cost by each protocol of the suite",
    },
    is_stream=True,
)
PRESET = JsonKind("preset", "run --save-preset", "A saved preset.", {"name": "its name", "file": "path of its file"})


class RunArguments(PresetArguments):
    fail_under: str | None
    fail_if_worse: bool
    metric: str | None
    dry_run: bool
    detach: bool
    save_preset: str | None
    shard: str | None
    on: str | None
    workers: int | None


def arguments(parser: argparse.ArgumentParser) -> None:
    add_preset_arguments(parser)
    add_target_arguments(parser)
    parser.add_argument("--fail-under", metavar="X", help="exit 1 if the headline score is below X (0.8 or 80%%)")
    add_gate_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="only show the number of calls and the cost")
    parser.add_argument("--detach", action="store_true", help="play in the background and print the run's name")
    parser.add_argument("--shard", metavar="K/N", help="play the K-th of N parts; `merge` combines their runs")
    parser.add_argument("--save-preset", metavar="NAME", help="save these options as a preset; play nothing")


def run(args: RunArguments) -> int:
    """Check everything, show the expected cost, play, and report."""
    from console.cli.run_report import threshold
    from console.config.paths import presets_files
    from console.config.preset import load_presets
    from console.engine.forecast import Forecast, forecast_of
    from console.engine.launch import enqueue, spawn_prepared
    from console.engine.matrix import plans_of
    from console.engine.plan import prepare
    from console.engine.player_factory import player_factory
    from console.engine.race import line_up
    from console.suites.sharding import read_shard

    preset = preset_of(args)
    baseline = _baseline(args, preset)
    shard = read_shard(args.shard) if args.shard is not None else None
    target = target_of(args)
    try:
        plans = [dataclasses.replace(plan, shard=shard, target=target) for plan in plans_of(preset, args.workspace)]
        prepared = line_up([prepare(plan) for plan in plans])
    except UsageError as error:
        if not args.preset:
            raise
        hint = f"{error.hint}\n  " if error.hint else ""
        file = load_presets(presets_files()).files[args.preset]
        hint += f"Options that the command line does not give are those of [{args.preset}] in {file}."
        raise UsageError(error.message, where=error.where, hint=hint) from None
    pass_rate = threshold(args.fail_under, ((run.suite, run.manifest.setting) for run in prepared))
    if args.save_preset:
        return _save(args)
    _warn(args.output, prepared)
    forecast = Forecast([forecast_of(run, is_shown=args.dry_run) for run in prepared])
    if args.dry_run:
        return _show_forecast(args.output, forecast)
    _confirm(args, forecast)
    if preset.queue:
        return _print_names(args, enqueue(plans))
    if args.detach:
        return _print_names(args, [run for run, _ in spawn_prepared(prepared, plans)])
    if preset.until == "best":
        return _race(args, prepared, plans)
    with player_factory(target) as player:
        return _play_all(args, prepared, pass_rate, baseline, player)


def _baseline(args: RunArguments, preset: "Preset") -> "RunFolder | None":
    """Return the run to compare with, resolved before any call."""
    if preset.until == "decided":
        if args.metric is not None:
            hint = "Omit it: the headline is compared."
            raise UsageError("cannot be combined with --until decided", where="--metric", hint=hint)
        return args.find_run(preset.baseline) if preset.baseline else None
    margin_of(args)
    if args.baseline is None:
        if args.fail_if_worse:
            raise UsageError("needs a run to compare with", where="--fail-if-worse",
                             hint="Add --baseline RUN.")  # fmt: skip
        return None
    if preset.queue or args.detach:
        raise UsageError("compares after the run, which is impossible in the background", where="--baseline",
                         hint="Omit --detach and --queue, or compare the two runs later.")  # fmt: skip
    return args.find_run(args.baseline)


def _save(args: RunArguments) -> int:
    from console.config.paths import presets_files
    from console.config.preset import load_presets
    from console.store.preset_file import save_preset

    name, files = args.save_preset or "", presets_files()
    path = load_presets(files).files.get(name, files[-1])
    save_preset(path, name, preset_of(args))
    if args.json:
        args.output.data(PRESET, {"name": name, "file": str(path)})
    else:
        args.output.info(f"saved in {path}")
    return Exit.OK


def _warn(output: Output, prepared: "Sequence[PreparedRun]") -> None:
    from console.engine.role_warnings import warnings_about_roles
    from console.store.endpoint_checks import check_notice

    warnings = dict.fromkeys(warning for run in prepared for warning in run.warnings)
    role_warnings = warnings_about_roles(run.models for run in prepared)
    notices = dict.fromkeys(check_notice(run.manifest.model) for run in prepared if _needs_calls(run))
    for warning in [*warnings, *role_warnings, *filter(None, notices)]:
        output.info(warning)
    for run in prepared:
        run.warnings.extend(role_warnings)  # so that its engine does not repeat the warnings


def _needs_calls(run: "PreparedRun") -> bool:
    """True if the model has to call tools natively over a network."""
    from console.suites.modes import NATIVE, modes_of

    if run.models["model"].simulated or run.earlier is not None:
        return False
    is_native = any(mode.like == NATIVE and mode.name == run.manifest.setting.mode for mode in modes_of(run.suite))
    # Rows of questions without tools list none; other suites need not list their tools.
    return is_native and any(case.data.get("tools", True) for case in run.cases)


def _show_forecast(output: Output, forecast: "Forecast") -> int:
    if not output.machine:
        for run in forecast.runs:
            output.prose(_forecast_text(run))
            output_lines = (*_basis_lines(run), *_cap_lines(run), *_protocol_lines(run), *_detectable_lines(run))
            for line in (*output_lines, *_end_lines(run)):
                output.prose(line)
        if len(forecast.runs) > 1:
            output.prose(f"together: {_total_text(forecast)}")
        return Exit.OK
    output.many_data(
        FORECAST,
        (_forecast_fields(run) for run in forecast.runs),
    )
    return Exit.OK


def _forecast_fields(run: "RunForecast") -> dict[str, Any]:
    protocols = {name: _numbers(other) for name, other in run.protocols.items()}
    return {
        "model": run.model,
        "suite": run.suite,
        "cases": run.cases,
        "setup": run.setup,
        "rollouts": run.rollouts,
        **_numbers(run),
        **({"basis": run.basis} if run.basis else {}),
        **({"terms": run.terms} if run.terms else {}),
        **({"overspend": run.overspend} if run.overspend else {}),
        **_detectable_numbers(run),
        **_end_numbers(run),
        **({"protocols": protocols} if protocols else {}),
    }


def _detectable_lines(run: "RunForecast") -> list[str]:
    from console.insight.planning import detectable_words, doubling_words

    plan = run.detectable
    return [f"  {words}" for words in (detectable_words(plan), doubling_words(plan)) if words] if plan else []


def _end_lines(run: "RunForecast") -> list[str]:
    from console.insight.looks import expected_words

    return [f"  {expected_words(run.looks, run.calls)}"] if run.looks is not None else []


def _end_numbers(run: "RunForecast") -> dict[str, Any]:
    """Return the numbers of cases at which the looks are expected to end a run."""
    import msgspec

    if run.looks is None:
        return {}
    most = {"cases": run.looks.cases, "calls": run.calls}
    return {"until": {"expected": msgspec.to_builtins(run.looks.expected), "most": most}}


def _detectable_numbers(run: "RunForecast") -> dict[str, Any]:
    plan = run.detectable
    if plan is None or not plan.cases:
        return {}
    smallest = {
        "difference": plan.difference(),
        "twice_the_cases": plan.difference(cases=2),
        "twice_the_rollouts": plan.difference(rollouts=2),
    }
    basis = {"discordance": plan.discordance, "within_share": plan.within_share, "measured": plan.is_measured}
    return {"detectable": smallest | basis}


def _numbers(run: "RunForecast") -> dict[str, float | None]:
    return {
        "calls": run.calls,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost_usd": None if run.unpriced else run.cost_usd,
        **({} if run.most_usd is None else {"most_usd": run.most_usd}),
    }


def _forecast_text(run: "RunForecast") -> str:
    from console.insight.number_format import plural, with_setup

    times = f" × {run.rollouts} repeats" if run.rollouts > 1 else ""
    calls = f"about {run.calls:,.0f} calls"
    is_uncapped = run.unpriced and run.cap_usd is not None
    cap = "; --max-cost counts only what the provider reports" if is_uncapped else ""
    cases = with_setup(plural(run.cases, "case"), run.setup)
    return f"{run.model} on {run.suite}: {cases}{times}, {calls}, {_tokens(run)}, {_price(run)}{cap}"


def _tokens(run: "RunForecast") -> str:
    return f"{run.input_tokens:,.0f} tokens in, {run.output_tokens:,.0f} out"


def _price(run: "RunForecast") -> str:
    from console.insight.number_format import terms_words

    if run.simulated:
        return "simulated, free"
    if run.unpriced:
        return f"price of {', '.join(run.unpriced)} unknown"
    most = "" if run.most_usd is None else f", at most {dollars(run.most_usd)}: {run.bound}"
    return f"about {dollars(run.cost_usd)}{most}{terms_words(run.terms)}"


def _basis_lines(run: "RunForecast") -> list[str]:
    return [f"  estimated {run.basis}"] if run.basis else []


def _cap_lines(run: "RunForecast") -> list[str]:
    return [f"  {run.overspend}"] if run.overspend else []


def _protocol_lines(run: "RunForecast") -> list[str]:
    """Return the forecast under each of the suite's protocols."""
    width = max(map(len, run.protocols), default=0)
    return [
        f"  protocol {name.ljust(width)}  about {other.calls:,.0f} calls, {_tokens(other)}, {_price(other)}"
        for name, other in run.protocols.items()
    ]


def _total_text(forecast: "Forecast") -> str:
    from console.insight.number_format import plural, with_setup

    price = "free" if forecast.is_free else f"about {dollars(forecast.cost_usd)}"
    if forecast.unpriced:
        known = f"at least {dollars(forecast.cost_usd)}, " if forecast.cost_usd else ""
        price = f"{known}price of {', '.join(forecast.unpriced)} unknown"
    price += f", at most {dollars(forecast.most_usd)}" if forecast.most_usd is not None else ""
    rollouts = with_setup(plural(forecast.cases, "rollout"), forecast.setup)
    cap = forecast.runs[0].cap_usd
    price += f", each with a cap of {dollars(cap)}" if cap is not None else ""
    return f"{len(forecast.runs)} runs, {rollouts}, about {forecast.calls:,.0f} calls, {price}"


def _confirm(args: RunArguments, forecast: "Forecast") -> None:
    """Show the forecast, and ask for confirmation if the cost is high or unlimited."""
    for run in forecast.runs:
        for line in (_forecast_text(run), *_basis_lines(run), *_protocol_lines(run), *_end_lines(run)):
            args.output.info(line)
    if not forecast.cost_warning:
        return
    is_risky = forecast.is_expensive and forecast.is_uncapped
    if not args.yes and (args.output.can_ask or is_risky):
        args.output.confirm(forecast.cost_warning, hint="Add --max-cost USD, or --yes.")
    elif forecast.is_expensive:
        args.output.warn(forecast.cost_warning)


def _print_names(args: RunArguments, folders: "Sequence[RunFolder]") -> int:
    for folder in folders:
        if args.json:
            args.output.data(STARTED_RUN, {"run": folder.name, "folder": str(folder.path)})
        else:
            args.output.text(folder.name)
    return Exit.OK


def _race(args: RunArguments, prepared: "Sequence[PreparedRun]", plans: "Sequence[Plan]") -> int:
    """Play the race of each suite, one after another, and return the worst exit code."""
    from console.cli.racing import follow_race
    from console.engine.launch import spawn_prepared

    codes: list[int] = []
    for suite in dict.fromkeys(plan.suite for plan in plans):
        chosen = [number for number, plan in enumerate(plans) if plan.suite == suite]
        engines = spawn_prepared([prepared[number] for number in chosen], [plans[number] for number in chosen])
        codes.append(follow_race(args.output, [run for run, _ in engines], engines, args.data))
        if codes[-1] >= Exit.HANGUP:
            break
    return max(codes)


def _play_all(
    args: RunArguments,
    prepared: "Sequence[PreparedRun]",
    pass_rate: float | None,
    baseline: "RunFolder | None",
    player: "PlayerFactory",
) -> int:
    """Play one run after another and return the worst exit code; a signal ends them all."""
    codes: list[Exit] = []
    for run in prepared:
        codes.append(_play(args, run, pass_rate, baseline, player))
        if codes[-1] >= Exit.HANGUP:
            break
    return max(codes)


def _play(
    args: RunArguments,
    prepared: "PreparedRun",
    pass_rate: float | None,
    baseline: "RunFolder | None",
    player: "PlayerFactory",
) -> Exit:
    from console.cli.foreground import play
    from console.cli.run_report import report_played
    from console.store.runs import create_run

    folder = create_run(prepared.runs_root, prepared.manifest)
    ending = play(folder, prepared, args.output, player=player)
    code = report_played(args.output, prepared, ending, pass_rate)
    if baseline is None or code not in (Exit.OK, Exit.INCONCLUSIVE, Exit.BELOW):
        return code
    if prepared.manifest.looks is not None and prepared.manifest.looks.until is not None:
        return code  # the report includes the looks and their decision
    gate = _compare(args, baseline, ending.folder)
    return code if gate is None else gate_code(gate)


def _compare(args: RunArguments, baseline: "RunFolder", folder: "RunFolder") -> "Gate | None":
    """Print the comparison with the baseline; return the gate's result, or None if not requested."""
    from console.exchange.exports.comparison import COMPARISON, comparison_fields
    from console.exchange.run_reader import RunReader
    from console.insight.comparison import compare
    from console.insight.comparison_report import verdict_words

    comparison = compare(RunReader(baseline).side, RunReader(folder).side)
    gate = gate_of(args, comparison, baseline.summary(), folder.summary())
    if args.json:
        args.output.data(COMPARISON, with_gate(comparison_fields(comparison), gate))
        return gate
    args.output.text()
    args.output.text(f"against {baseline.name}: {verdict_words(comparison)}")
    if gate is not None:
        show_gate(args.output, gate)
    return gate
