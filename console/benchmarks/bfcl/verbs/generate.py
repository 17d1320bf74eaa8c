"""Run models on the BFCL entries and write official result files, each line when its conversation ends.

Resumes after an interruption: entries with an answer are skipped, failed inferences are retried. Every generation is
also a run that can be watched and reviewed.
"""

import argparse
import dataclasses
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from console.benchmarks.bfcl.files.layout import model_folder, project_root
from console.benchmarks.bfcl.files.memory_snapshots import write_snapshots
from console.benchmarks.bfcl.files.result_sink import ResultSink, no_states
from console.benchmarks.bfcl.files.results import answered_ids
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.models.profile import profiles
from console.benchmarks.bfcl.rules.categories import FORMAT_SENSITIVITY, is_prerequisite
from console.benchmarks.bfcl.suite import BfclSuite
from console.benchmarks.bfcl.verbs.local_serving import (
    LOCAL_THREADS,
    Serving,
    ServingArguments,
    add_serving_arguments,
    local_model,
    plan_serving,
)
from console.benchmarks.bfcl.verbs.phase import (
    PhaseArguments,
    add_phase_arguments,
    categories_of,
    open_bfcl,
    results_folder,
)
from console.cli.exitcode import Exit
from console.cli.foreground import play
from console.cli.name_lists import split
from console.cli.run_report import exit_code
from console.config.model import ModelConfig
from console.config.models import facts, load_models
from console.config.paths import find_models_file
from console.core.fault import UsageError, reason_of
from console.core.run import Selection
from console.engine.plan import Plan, PreparedRun, prepare
from console.exchange.json_kind import JsonKind
from console.store.atomic import read_regular
from console.store.runs import create_run

BFCL_GENERATION = JsonKind(
    "bfcl_generation",
    "bfcl generate",
    "Result files that were written.",
    {"model": "its name", "run": "its name", "written": "number of results", "files": "their paths"},
    is_stream=True,
)

_IDS = "test_case_ids_to_generate.json"
"""Official file name of the list for `--run-ids`, in the project root."""


class GenerateArguments(PhaseArguments, ServingArguments):
    """Options of `bfcl generate`."""

    temperature: float | None
    num_threads: int | None
    run_ids: bool
    allow_overwrite: bool
    include_input_log: bool
    exclude_state_log: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flags, then our own."""
    add_phase_arguments(parser, models="models of models.toml, or local ones of the registry", categories="all")
    parser.add_argument("--mode", choices=("fc", "prompt"), help="native tools, or tools in the prompt")
    parser.add_argument("--temperature", type=float, metavar="T", help="default: as in models.toml, else 0.001")
    threads = f"conversations at once (default: 1, of local models {LOCAL_THREADS})"
    parser.add_argument("--num-threads", type=int, metavar="N", help=threads)
    parser.add_argument("--run-ids", action="store_true", help="only the ids in test_case_ids_to_generate.json")
    parser.add_argument("-o", "--allow-overwrite", action="store_true", help="replace existing answers")
    parser.add_argument("--include-input-log", action="store_true", help="include the requests")
    parser.add_argument("--exclude-state-log", action="store_true", help="omit the states of simulators")
    add_serving_arguments(parser)


def run(args: GenerateArguments) -> int:
    """Generate results of each model in turn.

    Raises:
        UsageError: unknown model, category or id, missing key or data; raised before any request.
    """
    names = split(args.model)
    if not names:
        raise UsageError("--model NAME is required", hint="Name one or more models of models.toml.")
    result_root = results_folder(args)
    try:
        prepared = [(name, _prepare(args, name, result_root)) for name in names]
    except UsageError as error:
        if args.run_ids and error.where == "--ids":  # the ids are in the file, not on the command line
            raise UsageError(error.message, where=str(project_root() / _IDS), hint=error.hint) from None
        raise
    worst = Exit.OK
    for name, generation in prepared:
        if generation is None:
            args.output.info(f"{name}: every entry has an answer; -o replaces them")
            continue
        code = _generate(args, name, generation, result_root)
        worst = max(worst, code)
        if code in (Exit.HANGUP, Exit.INTERRUPTED, Exit.TERMINATED):
            break
    return worst


@dataclasses.dataclass(frozen=True, slots=True)
class _Generation:
    """A prepared generation for one model."""

    run: PreparedRun
    serving: Serving


def _prepare(args: GenerateArguments, model: str, result_root: Path) -> _Generation | None:
    """Prepare one model; return None if all entries have answers."""
    config = load_models(find_models_file(args.models)).models.get(model)
    local = local_model(args, model) if config is None and model in profiles() else None
    selection = _selection(args, model, local or config)
    plan = Plan(
        model=model,
        suite=args.suite,
        selection=selection,
        mode=args.mode,
        concurrency=args.num_threads or (LOCAL_THREADS if local else 1),
        name=f"{model} bfcl generate",
        paths=args.workspace,
        further_models=(local,) if local else (),
    )
    prepared = prepare(plan)
    if not args.allow_overwrite:
        categories = sorted({case.category for case in prepared.cases})
        answered = answered_ids(result_root, model_folder(result_root, model), categories)
        left = [case.id for case in prepared.cases if case.id not in answered and not is_prerequisite(case.id)]
        if not left:
            return None
        if len(left) < len(prepared.cases):
            prepared = prepare(dataclasses.replace(plan, selection=Selection(ids=tuple(left))))
    run = _with_temperature(prepared, args.temperature)
    return _Generation(run, plan_serving(args, local) if local else lambda log, notify: nullcontext())


def _selection(args: GenerateArguments, model: str, config: ModelConfig | None) -> Selection:
    if args.run_ids:
        return Selection(ids=_chosen_ids(project_root() / _IDS))
    available = [category.name for category in open_bfcl(args).categories()]
    chosen_categories = categories_of(args, "all")
    missing = [name for name in chosen_categories if name not in available]
    if missing:
        args.output.info(f"not in {args.suite}, left out: {', '.join(missing)}")
    chosen = tuple(name for name in chosen_categories if name in available)
    if len(chosen) > 1 and FORMAT_SENSITIVITY in chosen and _calls_natively(args, config):
        args.output.info(f"{model}: {FORMAT_SENSITIVITY} is left out, as it varies the prompt and the tools are native")
        chosen = tuple(name for name in chosen if name != FORMAT_SENSITIVITY)
    if not chosen:
        raise UsageError(f"{args.suite} has none of these categories", where="--test-category")
    return Selection(categories=chosen)


def _calls_natively(args: GenerateArguments, config: ModelConfig | None) -> bool:
    """Return whether a model is a function-calling one, by its registry row or the mode."""
    profile = profiles().get(config.bfcl_name or "") if config else None
    if profile is not None:
        return profile.is_fc
    return (args.mode or (config.mode if config else None)) == "fc"


def _chosen_ids(path: Path) -> tuple[str, ...]:
    hint = 'It maps categories to lists of ids: {"live_simple": ["live_simple_4-3-0"]}.'
    try:
        chosen = msgspec.convert(json.loads(read_regular(path)), dict[str, list[str]])
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"the list of ids cannot be read: {reason_of(error)}", where=str(path), hint=hint) from None
    ids = tuple(dict.fromkeys(name for names in chosen.values() for name in names))
    if not ids:
        raise UsageError("contains no ids", where=str(path), hint=hint)
    return ids


def _with_temperature(prepared: PreparedRun, temperature: float | None) -> PreparedRun:
    """Return the plan with the given temperature, or the official default if models.toml has none."""
    model = prepared.models["model"]
    if temperature is None and model.temperature is not None:
        return prepared
    model = msgspec.structs.replace(model, temperature=0.001 if temperature is None else temperature)
    manifest = msgspec.structs.replace(prepared.manifest, model=facts(model))
    return dataclasses.replace(prepared, manifest=manifest, models=prepared.models | {"model": model})


def _generate(args: GenerateArguments, model: str, generation: _Generation, result_root: Path) -> Exit:
    output, prepared = args.output, generation.run
    folder = create_run(prepared.runs_root, prepared.manifest)
    suite, setting = prepared.suite, prepared.manifest.setting

    def states(case_id: str, turns: Any) -> list[dict[str, Any]]:
        return suite.states(case_id, turns, setting) if isinstance(suite, BfclSuite) else []

    named = model_folder(result_root, model)
    sink = ResultSink(
        result_root,
        named,
        setting=setting,
        replace=args.allow_overwrite,
        include_input_log=args.include_input_log,
        states=no_states if args.exclude_state_log else states,
    )
    with generation.serving(folder.server_log_path, output.info):
        ending = play(folder, prepared, output, also=sink.add)
    folder, paths = ending.folder, sink.close()
    paths += write_snapshots(result_root, named, family_of(setting))
    summary = folder.summary()
    facts: dict[str, Any] = {
        "model": model,
        "run": folder.name,
        "written": sink.written,
        "files": list(map(str, paths)),
    }
    if output.machine:
        output.data(BFCL_GENERATION, facts)
    else:
        output.text(f"{model}: {sink.written} results in {result_root / named} (run {folder.name})")
    return exit_code(summary, None, None, ending.signal)
