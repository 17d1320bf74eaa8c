"""The checks of `doctor`: each returns findings with a state and a remedy."""

import asyncio
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.cli import open_files
from console.config.extras import install_command
from console.config.model_entry import entry_of
from console.config.models import ModelConfig, facts, key_state, load_models
from console.config.paths import find_data_roots, find_models_file, find_runs_root
from console.core.case import Case, Setting
from console.core.fault import Fault, UsageError, reason_of
from console.core.provider import provider_of
from console.core.run import Selection
from console.engine.roles import pick_model
from console.insight.number_format import p_text, plural
from console.store.endpoint_checks import Difference, keep_check, keep_fingerprint, last_fingerprint
from console.store.run_list import count_runs, list_runs
from console.suites.archive import tree_sha256
from console.suites.benchmark import Benchmark, OfficialData
from console.suites.benchmarks import loaded_parts
from console.suites.catalog import Catalog
from console.suites.plugins import broken_benchmarks
from console.suites.suite import Suite, SuiteEntry

GOOD, WARNING, BAD, ABSENT = "good", "warning", "bad", "absent"
_LITTLE_ROOM = 200 << 20
_SMALLEST = (80, 24)
_LISTED = 10
_FIRST_CALL_S = 300.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    area: str
    name: str
    state: str
    """`good`, `warning` (works, but needs attention), `bad`, or `absent` (optional and not installed)."""
    text: str
    hint: str = ""


Check = Callable[[], list[Finding]]
EXTRAS = {
    "cave": ("cave_agent", "the official mode of cave-bench"),
    "serve": ("textual_serve", "the app in a browser, --serve"),
    "ray": ("ray", "runs on a cluster, --on ray"),
    "yaml": ("yaml", "suites in YAML files"),
    "datasets": ("datasets", "rows of the Hugging Face Hub"),
    "images": ("textual_image", "pictures in Review"),
    "language": ("py3langid", "checks of an answer's language"),
}
"""Extras of the package, each with one of its modules and its purpose."""


def check_python() -> list[Finding]:
    """Check that this Python is new enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    return [
        Finding("system", "python", GOOD if good else BAD, version, "" if good else "Install Python 3.11 or newer.")
    ]


def check_open_files() -> list[Finding]:
    """Check that enough files can be open at once for many conversations, especially those that run code."""
    limit = open_files.raise_limit()
    few = limit in range(open_files.PLENTY)
    hint = "Fewer calls run at once, and code may not run: raise it, for example with `ulimit -n 1024`." if few else ""
    return [Finding("system", "open files", WARNING if few else GOOD, f"{limit} at once", hint)]


def check_extras() -> list[Finding]:
    """Check which optional parts of the package are installed."""
    return [_check_extra(name, *parts) for name, parts in EXTRAS.items()]


def _check_extra(name: str, module: str, use: str) -> Finding:
    if importlib.util.find_spec(module) is not None:
        return Finding("extras", name, GOOD, use)
    return Finding("extras", name, ABSENT, f"not installed; for {use}", install_command(name))


def check_terminal() -> list[Finding]:
    """Check that the app can be drawn here."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return [Finding("terminal", "size", WARNING, "not a terminal", "Headless verbs work; the app needs one.")]
    size = os.get_terminal_size(sys.stdout.fileno())
    fits = size.columns >= _SMALLEST[0] and size.lines >= _SMALLEST[1]
    hint = "" if fits else "Make the window at least 80×24."
    findings = [Finding("terminal", "size", GOOD if fits else WARNING, f"{size.columns}×{size.lines}", hint)]
    utf8 = "utf" in (sys.stdout.encoding or "").lower()
    hint = "" if utf8 else "Set LANG to a UTF-8 locale, or open the app with --ascii."
    findings.append(Finding("terminal", "unicode", GOOD if utf8 else WARNING, sys.stdout.encoding or "unknown", hint))
    return [*findings, _check_color()]


def _check_color() -> Finding:
    term = os.environ.get("TERM", "")
    if term in ("", "dumb"):
        return Finding(
            "terminal", "color", WARNING, f"TERM is {term or 'not set'}", "Set TERM, for example to xterm-256color."
        )
    if os.environ.get("NO_COLOR"):
        return Finding("terminal", "color", GOOD, "NO_COLOR is set: plain")
    true = os.environ.get("COLORTERM") in ("truecolor", "24bit")
    return Finding("terminal", "color", GOOD, "16 million" if true else f"{term}: 256 or fewer")


def check_models(models: Path | None, data: Path | None = None) -> list[Finding]:
    """Check that models.toml is valid and each model's key is available."""
    try:
        book = load_models(find_models_file(models), data)
    except UsageError as error:
        return [Finding("models", "models.toml", BAD, error.message, error.hint)]
    source = str(book.path) if book.path else "none: only simulated models"
    hint = "" if book.path else "Write ./models.toml to use others; docs/models.md shows how."
    findings = [Finding("models", "models.toml", GOOD, source, hint)]
    findings += [Finding("models", item.where, BAD, item.message, item.hint) for item in book.mistakes]
    findings += [Finding("models", "models.toml", WARNING, warning) for warning in book.warnings]
    for model in book.models.values():
        state = key_state(model)
        hint = "" if state.ready or model.provider == "local" else f"Set the variable before a run with {model.name}."
        findings.append(Finding("models", model.name, GOOD if state.ready else WARNING, state.text, hint))
    return findings


def check_endpoints(models: Path | None) -> list[Finding]:
    """Check that the servers of models with a key answer and serve the model; queries `/models`, which is free."""
    try:
        book = load_models(find_models_file(models))
    except UsageError:
        return []
    models_asked = [
        model for model in book.models.values() if provider_of(model.provider).model_list and key_state(model).ready
    ]
    return asyncio.run(_ask_all(models_asked)) if models_asked else []


async def _ask_all(models: list[ModelConfig]) -> list[Finding]:
    findings = await asyncio.gather(*(check_addresses(model) for model in models))
    return [finding for of_model in findings for finding in of_model]


async def check_addresses(model: ModelConfig) -> list[Finding]:
    """Check that a server answers at each of a model's addresses and serves it; queries `/models`, free of charge."""
    pairs = zip(model.at_each_address(), model.address_names(), strict=True)
    return await asyncio.gather(*(_check_address(at_address, name) for at_address, name in pairs))


async def _check_address(model: ModelConfig, address_name: str) -> Finding:
    from console.llm.servers.model_list import served_models

    name = f"{model.name} {address_name}".strip()
    try:
        served = await served_models(model)
    except Fault as fault:
        hint = fault.hint or "Check base_url, the key and the network."
        return Finding("endpoints", name, BAD, f"{fault.kind.value}: {fault.message}", hint)
    if served and model.model_id not in served:
        text = f"answers, but does not list {model.model_id} among its {len(served)} models"
        return Finding("endpoints", name, WARNING, text, "Check model_id.")
    return Finding("endpoints", name, GOOD, f"answers, serves {len(served)} models")


def model_to_try(models: Path | None, name: str) -> ModelConfig:
    """Return a model by name, ready for a check of its endpoint."""
    return pick_model(load_models(find_models_file(models)), name)


def try_model(model: ModelConfig, notify: Callable[[Finding], None]) -> str:
    """Check a model's endpoint with questions whose answers are known, and return a working entry.

    The result is stored with its date.

    Args:
        model: the model.
        notify: called with each finding as soon as its question is answered.
    """
    from console.llm.servers.endpoint_check import Mark, check_endpoint
    from console.llm.servers.parameter_trial import try_model as ask_both_ways
    from console.llm.servers.refused_parameters import left_out_words

    adapted, trials = asyncio.run(ask_both_ways(model))
    for trial in trials:
        state, hint = (GOOD, "") if trial.fault is None else (BAD, trial.fault.hint)
        notify(Finding("trial", f"{model.name} {trial.name}", state, trial.text, hint))
    if adapted != model:
        changed = "the server refuses parameters that suites send; the entry below works"
        hint = f"Replace the old entry in models.toml with it. {left_out_words(model, adapted)}".strip()
        notify(Finding("trial", "models.toml", WARNING, changed, hint))
    if adapted.simulated or any(trial.fault is not None for trial in trials):
        return entry_of(adapted)
    states = {Mark.OK: GOOD, Mark.WRONG: BAD}
    differences, unchecked = list[Difference](), list[str]()

    async def check() -> None:
        async for item in check_endpoint(adapted):
            state = states.get(item.mark, WARNING)
            notify(Finding("check", item.name, state, f"{item.mark}: {item.text}", item.effect))
            if item.mark == Mark.UNCHECKED:
                unchecked.append(item.name)
            elif item.mark != Mark.OK:
                differences.append(Difference(item.name, item.mark))

    asyncio.run(check())
    keep_check(facts(model), differences, time.time(), unchecked)
    return entry_of(adapted)


def watch_drift(model: ModelConfig, notify: Callable[[int], None]) -> Finding:
    """Compare a model's endpoint with its stored fingerprint, and store that of a new or changed one.

    Args:
        model: the model.
        notify: called with the number of answers after each.
    """
    from console.llm.servers import drift

    endpoint = facts(model)
    kept = last_fingerprint(endpoint)
    try:
        is_by_text = kept is not None and kept.is_by_text
        now = asyncio.run(drift.fingerprint(model, time.time(), notify, by_text=is_by_text))
    except Fault as fault:
        return Finding("drift", model.name, BAD, f"{fault.kind.value}: {fault.message}", fault.hint)
    if not any(any(answers) for answers in now.samples):
        text = f"every answer is empty in its first {drift.ANSWER_TOKENS} tokens, so changes cannot be seen"
        return Finding("drift", model.name, BAD, text, "Let the model think less, or let the server show its thoughts.")
    by = "answers" if now.is_by_text else "log probabilities"
    if kept is None or len(kept.samples) != len(now.samples):
        keep_fingerprint(endpoint, now)
        return Finding("drift", model.name, GOOD, f"fingerprint kept: {len(now.samples)} questions by their {by}")
    day = time.strftime("%Y-%m-%d", time.localtime(kept.at))
    if now.is_by_text and not kept.is_by_text:
        keep_fingerprint(endpoint, now)
        return Finding("drift", model.name, BAD, f"changed since {day}: it gives no log probabilities any more")
    result = drift.compare(kept, now)
    basis = f"{by} differ by {result.distance:.3g} on average, {result.within:.3g} within that day, {p_text(result.p)}"
    served = "" if kept.servers == now.servers else f"; it named {', '.join(now.servers) or 'no server'}"
    if not result.is_changed:
        return Finding("drift", model.name, GOOD, f"the same endpoint as on {day}: {basis}{served}")
    keep_fingerprint(endpoint, now)
    hint = "Runs before and after that day are not of the same model; the new fingerprint is kept."
    return Finding("drift", model.name, BAD, f"not the endpoint of {day}: {basis}{served}", hint)


def check_suite(name: str, data: Path | None) -> list[Finding]:
    """Check that a suite can be played: list its cases, and play the first up to its first model call.

    The model is simulated and nothing is saved. A harness starts as in a run.
    """
    from console.suites.selection import select_cases
    from console.testing.case_play import usual_setting

    try:
        suite = Catalog(find_data_roots(data)).open(name)
        setting = usual_setting(suite)
        cases = select_cases(suite, Selection(), setting)
        suite.check_needs(cases, setting)
    except UsageError as error:
        return [Finding(name, "cases", BAD, error.message, error.hint)]
    first = ", ".join(case.id for case in cases[:_LISTED]) + (" …" if len(cases) > _LISTED else "")
    return [
        Finding(name, "cases", GOOD if cases else BAD, f"{plural(len(cases), 'case')}: {first}"),
        *(asyncio.run(_first_call(suite, case, setting)) for case in cases[:1]),
    ]


async def _first_call(suite: Suite, case: Case, setting: Setting) -> Finding:
    from console.suites.guard import describe_error
    from console.testing.stage import CutOff, MemoryStage

    stage, area, output = MemoryStage(case.id, cut_after=1), suite.entry.name, None
    try:
        async with asyncio.timeout(_FIRST_CALL_S):
            output = await suite.play(case, stage, setting)
    except CutOff:
        pass
    except TimeoutError:
        return Finding(area, "first call", BAD, f"case {case.id} calls no model for {_FIRST_CALL_S:g} s")
    except (UsageError, Fault) as error:
        return Finding(area, "first call", BAD, f"case {case.id}: {error.message}", error.hint)
    except Exception as error:  # a suite's code may raise anything
        return Finding(area, "first call", BAD, f"case {case.id}: {describe_error(error, suite)}")
    finally:
        await suite.aclose()
    if not stage.calls:
        words = cast("dict[str, Any]", output).get("error") if isinstance(output, dict) else ""
        return Finding(area, "first call", BAD, f"case {case.id} ended without calling a model{words and f': {words}'}")
    return Finding(area, "first call", GOOD, f"case {case.id} called the model in the role {min(stage.roles)}")


def check_data(data: Path | None) -> list[Finding]:
    """Check that the suites can be read and that pulled data is unchanged."""
    try:
        catalog = Catalog(find_data_roots(data))
    except UsageError as error:
        return [Finding("data", "folders", BAD, error.message, error.hint)]
    findings = [Finding("data", "catalogue", WARNING, warning) for warning in catalog.warnings]
    findings += [_check_suite(catalog, entry) for entry in catalog.entries()]
    names = {entry.name for entry in catalog.entries()}
    missing: list[OfficialData] = [data for data in loaded_parts("pull") if data.name not in names]
    return findings + [
        Finding("data", data.name, ABSENT, f"not installed; {data.title}", f"eval-console pull {data.name}")
        for data in missing
    ]


def _check_suite(catalog: Catalog, entry: SuiteEntry) -> Finding:
    try:
        cases = sum(category.cases for category in catalog.open(entry.name).categories())
    except UsageError as error:
        return Finding("data", entry.name, BAD, str(error).split("\n")[0], error.hint)
    digest = entry.source.get("digest")
    if entry.origin == "pulled" and digest and digest != _digest_beside_toml(entry.folder):
        hint = f"Run `eval-console pull {entry.name}` again."
        return Finding("data", entry.name, BAD, "the files have changed since they were pulled", hint)
    return Finding("data", entry.name, GOOD, f"{cases} cases, {entry.origin}")


def _digest_beside_toml(folder: Path) -> str:
    return tree_sha256(folder, without=("suite.toml",))


def check_runs(runs: Path | None) -> list[Finding]:
    """Check that runs can be saved."""
    try:
        root = find_runs_root(runs)
    except UsageError as error:
        return [Finding("runs", "folder", BAD, error.message, error.hint)]
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        return [Finding("runs", "folder", BAD, f"{root} cannot be written", "Choose another with --runs PATH.")]
    free = shutil.disk_usage(existing).free
    hint = "" if free > _LITTLE_ROOM else "Free some disk space before a long run."
    return [
        Finding("runs", "folder", GOOD, f"{root}, {plural(count_runs(root), 'run')}"),
        Finding("runs", "disk", GOOD if free > _LITTLE_ROOM else WARNING, f"{free / 1e9:.1f} GB free", hint),
    ]


def check_journals(runs: Path | None) -> list[Finding]:
    """Check that every journal line is intact, and that no journal has changed since it was summarized."""
    findings: list[Finding] = []
    lines = checked = 0
    for run in list_runs(find_runs_root(runs)):
        try:
            reader = run.reader()
            lines += sum(1 for _ in reader.iter_all())
            damages = [] if run.is_live and not reader.damages else run.damages(reader)
        except (UsageError, OSError) as error:
            findings.append(Finding("journals", run.name, BAD, reason_of(error)))
            continue
        checked += 1
        hint = f"`eval-console resume {run.name}` runs missing parts again."
        findings += [Finding("journals", run.name, BAD, damage, hint) for damage in damages]
        if run.is_unconfirmed and not run.is_live:
            text = "the disk has not confirmed all of it"
            findings.append(
                Finding("journals", run.name, WARNING, text, f"`eval-console resume {run.name}` writes it again.")
            )
    return [*findings, Finding("journals", "all", GOOD, f"{lines} lines of {plural(checked, 'run')} were read")]


def check_benchmarks() -> list[Finding]:
    """Check that benchmarks of other packages can be loaded, and run the checks of all benchmarks."""
    parts = [name for name in Benchmark._fields if name not in ("name", "view")]
    findings = [Finding("benchmarks", "packages", WARNING, warning) for warning in broken_benchmarks(parts)]
    checks: Iterator[Check] = loaded_parts("doctor")
    return findings + [finding for check in checks for finding in check()]
