"""Turns a user's request into a run that can start; every problem is reported before the first call."""

import dataclasses
import importlib.metadata
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from console import __version__
from console.config.model import USUAL_CONCURRENCY, ModelConfig
from console.config.models import facts, key_state, load_models
from console.config.paths import (
    DEFAULT_PATHS,
    DataRoots,
    WorkspacePaths,
    find_data_roots,
    find_models_file,
    find_runs_root,
)
from console.config.weights import digests_of, find_weights
from console.core.case import Case, Setting, Slot
from console.core.experiment import Beginning, Experiment
from console.core.fault import UsageError
from console.core.grader import differences
from console.core.looks import LookPlan, Rule, Until
from console.core.outcome import Verdict
from console.core.provider import provider_of
from console.core.ranges import LARGEST_COUNT
from console.core.record import Started
from console.core.run import RECORDED, Budget, Manifest, ModelFacts, Selection, Shard
from console.core.source import IN_PLACE, NO_JUDGE
from console.core.weights import weights_warning
from console.engine.compute_target import LOCAL, ComputeTarget
from console.engine.earlier_run import EarlierRun, earlier_run
from console.engine.earlier_runs import detectable, earlier_rate
from console.engine.looks import Baseline, forecast_ends, plan_looks, read_baseline
from console.engine.roles import find_role_models, idle_roles, needed_models, pick_model, role_flag, role_words
from console.store.run_list import find_run
from console.store.runs import RunFolder, new_run_id
from console.suites.catalog import PAIRWISE, Catalog, find_suite, open_pairwise
from console.suites.grading import GRADING_ROLES, grader_of
from console.suites.headline import headlines_of
from console.suites.modes import find_mode
from console.suites.options import check_options
from console.suites.planned_order import planned_order
from console.suites.selection import select_planned
from console.suites.sharding import part_of
from console.suites.suite import Suite

MOST_BATCHED = 10_000
"""Conversations that wait for batches at once, by default."""
MOST_ROLLOUTS = 1_000_000
"""Maximum number of rollouts in one run, all of which are in memory while it plays."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A requested run: names and numbers as the user gives them, not yet resolved."""

    model: str
    suite: str
    selection: Selection = field(default_factory=Selection)
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    mode: str | None = None
    """A mode of the suite or of models.toml; None for the model's mode in models.toml."""
    roles: dict[str, str] = field(default_factory=dict[str, str])
    """Model names by role; missing roles use the suite's defaults."""
    rollouts: int = 1
    concurrency: int | None = None
    budget: Budget = field(default_factory=Budget)
    name: str = ""
    parent: str = ""
    experiment: Experiment | None = None
    """The change to make in the parent's conversations."""
    paths: WorkspacePaths = DEFAULT_PATHS
    shard: Shard | None = None
    """Part of the cases to play; None for all."""
    until: Until | None = None
    """The rule for ending the run early, with the name of the baseline as given by the user."""
    is_batched: bool = False
    """True to call models through batch APIs, where providers have them."""
    target: ComputeTarget = LOCAL
    further_models: tuple[ModelConfig, ...] = ()
    """Additional models supplied by the caller."""
    regraded: str = ""
    """Run whose conversations are graded again; only its judge and embedding models may be called."""
    is_pairwise: bool = False
    """True if a judge compares the answers of runs, named in `options`; the model is not called."""
    truths: str = ""
    """Digest of the cases, if they were planned before."""

    @property
    def asks_models(self) -> bool:
        """True if models that are not graders may be called."""
        return not (self.regraded or self.is_pairwise)


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A valid plan: models and suite found, options checked, cases loaded."""

    manifest: Manifest
    suite: Suite
    cases: list[Case]
    models: dict[str, ModelConfig]
    """Models by role, always including `model`."""
    runs_root: Path
    data: DataRoots
    warnings: list[str] = field(default_factory=list[str])
    earlier: EarlierRun | None = None
    """The run whose conversations this one regrades; None if it plays its own."""
    baseline: Baseline = field(default_factory=dict[Slot, Verdict])
    """Results of the baseline, if the looks compare the run with one."""
    resubmits: bool = False
    """True to send the calls of batches again that the provider no longer has."""


def prepare(plan: Plan) -> PreparedRun:
    """Resolve and check a plan.

    Raises:
        UsageError: the first problem, with a hint.
    """
    book = load_models(find_models_file(plan.paths.models), plan.paths.data)
    book.models |= {config.name: config for config in plan.further_models}
    model = pick_model(book, plan.model)
    catalog = Catalog(roots := find_data_roots(plan.paths.data))
    runs_root = find_runs_root(plan.paths.runs, may_be_new=True)
    suite = open_pairwise(plan.suite, runs_root) if plan.is_pairwise else catalog.open(plan.suite)
    options = check_options(suite.options, plan.options)
    models = find_role_models(book, model, suite, options, plan.roles)
    options = suite.settle(options, {role: config.name for role, config in models.items() if role != "model"})
    mode = find_mode(suite, plan.mode or None, model.mode)
    setting = _recorded_setting(plan, runs_root) or suite.adapt(Setting(mode=mode, options=options), model, plan.mode)
    cases = select_planned(suite, plan.selection, setting, plan.truths)
    if not cases:
        raise UsageError("the selection is empty", hint="Widen --category, --ids or --limit.")
    models = needed_models(suite, cases, setting, models)  # before sharding: all shards have the same roles
    selected, cases = cases, part_of(cases, plan.shard) if plan.shard is not None else cases
    planned = _planned(cases, _positive(plan.rollouts, "rollouts"))  # looks at more rollouts would fill the memory
    looks, cases, baseline = _planned_looks(plan, cases, suite, runs_root)
    _check_needs(plan, suite, cases, setting, models)
    weights = weights_digests(weights_folder(models, suite, cases))
    model_facts, roles = _facts(plan, suite, models)
    manifest = Manifest(
        id=new_run_id(plan.suite, plan.model, _one(plan.selection.categories), plan.name, shard=plan.shard),
        at=time.time(),
        suite=plan.suite,
        model=model_facts,
        setting=setting,
        selection=plan.selection,
        roles=roles,
        rollouts=plan.rollouts,
        concurrency=_positive(plan.concurrency or _concurrency(plan, model), "concurrency"),
        budget=plan.budget,
        cases=planned,
        setup=sum(not case.graded for case in cases) * plan.rollouts,
        dataset={"name": suite.entry.name, **suite.entry.source},
        weights=weights,
        versions=program_versions(),
        parent=plan.parent,
        regraded=plan.regraded,
        name=plan.name,
        format=suite.entry.format,
        headline=headlines_of(suite.headline)[0],
        further_headlines=headlines_of(suite.headline)[1:],
        scales=dict(suite.scales),
        units=dict(suite.units),
        suite_cases={category.name: category.cases for category in suite.categories()},
        shard=plan.shard,
        looks=looks,
        experiment=_with_prerequisites(plan.experiment, cases, plan.selection),
        grader=grader_of(suite, selected, setting, roles, weights),
    )
    warnings = [*book.warnings, *_notices(plan, catalog, suite, manifest), *idle_roles(plan.roles, models, plan.suite)]
    earlier = None if plan.regraded else earlier_run(manifest, runs_root)
    return PreparedRun(manifest, suite, cases, models, runs_root, roots, warnings, earlier, baseline)


def _concurrency(plan: Plan, model: ModelConfig) -> int:
    return MOST_BATCHED if plan.is_batched else model.limits.concurrency or USUAL_CONCURRENCY


def _facts(plan: Plan, suite: Suite, models: Mapping[str, ModelConfig]) -> tuple[ModelFacts, dict[str, ModelFacts]]:
    """Return the facts about the model and about those of the other roles.

    With --batch, judges and simulated users without a batch API are called directly.
    """
    others = {role: model for role, model in models.items() if role != "model"}
    if not plan.is_batched:
        return facts(models["model"]), {role: facts(model) for role, model in others.items()}
    if plan.target.on:
        raise UsageError("cannot be combined with --on", where="--batch", hint="Omit --on: batches need no workers.")
    if plan.until is not None and plan.until.rule is Rule.BEST:
        raise UsageError(
            "cannot be combined with --until best", where="--batch", hint="A race asks few cases at a time."
        )
    if not suite.waits_for_batches:
        words = f"the harness of suite {suite.entry.name} cannot wait hours for an answer"
        raise UsageError(words, where="--batch", hint="Omit --batch.")
    why = _why_direct(models["model"])
    if why and plan.asks_models:
        words = f"the model {models['model'].name} cannot be called in batches: {why}"
        hint = "Omit --batch, or choose a model of provider openai, responses or anthropic with one address."
        raise UsageError(words, where="--batch", hint=hint)
    batched = {role: facts(model, is_batched=not _why_direct(model)) for role, model in others.items()}
    return facts(models["model"], is_batched=not why), batched


def _why_direct(model: ModelConfig) -> str:
    """Return the reason why a model cannot be called in batches; empty if it can."""
    if not provider_of(model.provider).batches:
        return f"provider {model.provider} has no batch API that this program uses"
    return "it has several addresses" if model.other_urls else ""


def _check_needs(plan: Plan, suite: Suite, cases: list[Case], setting: Setting, models: dict[str, ModelConfig]) -> None:
    """Raise `UsageError` if the cases cannot be played in this setting, or a model to be called has no key."""
    _check_modes(suite, cases, setting)
    _check_keys({role: config for role, config in models.items() if plan.asks_models or role in GRADING_ROLES})
    if not plan.regraded:
        suite.check_needs(cases, setting)


def _recorded_setting(plan: Plan, runs_root: Path) -> Setting | None:
    """Return the parent's setting if its requests are repeated; another model then continues in their format."""
    if plan.experiment is None or not plan.experiment.beginnings or plan.regraded:
        return None
    return RunFolder(runs_root / plan.parent).manifest().setting


def _with_prerequisites(experiment: Experiment | None, cases: list[Case], asked: Selection) -> Experiment | None:
    """Return an experiment in which cases that others depend on are taken from the recorded run, if present there."""
    if experiment is None or not experiment.beginnings:
        return experiment
    rollout = next(iter(experiment.beginnings.values())).rollout
    whole = {case.id: Beginning(rollout=rollout) for case in cases if case.id not in asked.ids}
    return msgspec.structs.replace(experiment, beginnings={**whole, **experiment.beginnings})


def _notices(plan: Plan, catalog: Catalog, suite: Suite, manifest: Manifest) -> list[str]:
    """Return the warnings about the weights and the suite, for display before the run."""
    of_weights = [warning] if (warning := weights_warning(manifest.weights)) else []
    return [*of_weights, *catalog.hidden_by(plan.suite), *suite.notices(manifest.setting)]


def _planned_looks(
    plan: Plan, cases: list[Case], suite: Suite, runs_root: Path
) -> tuple[LookPlan | None, list[Case], Baseline]:
    """Return the looks of a run, its cases in planned order, and the results of its baseline."""
    until, baseline = plan.until, dict[Slot, Verdict]()
    if until is None:
        return plan_looks(cases, plan.rollouts, None, None), cases, baseline
    where = f"--until {until.rule}" if until.rule is not Rule.WIDTH else "--until"
    if plan.shard is not None:
        hint = "Play the plan with --on ray or --workers, or omit --shard."
        raise UsageError("a shard sees only its own cases and can decide nothing", where=where, hint=hint)
    if until.rule is Rule.WIDTH and (headline := headlines_of(suite.headline)[0]):
        hint = "Use --until decided, or another suite."
        raise UsageError(f"the headline of {plan.suite} is {headline}, not a rate", where=where, hint=hint)
    seed = plan.selection.seed or 0
    ordered = planned_order(cases, seed)
    if until.baseline:
        folder = find_run(runs_root, until.baseline)
        is_trial = plan.experiment is not None and bool(plan.experiment.strata)
        baseline, digest = read_baseline(folder, ordered, folder.manifest().rollouts if is_trial else plan.rollouts)
        until = msgspec.structs.replace(until, baseline=folder.name, baseline_digest=digest)
    looks = plan_looks(ordered, plan.rollouts, seed, until)
    if looks is not None and plan.experiment is None:
        expected = detectable(runs_root, plan.suite, looks.cases, plan.rollouts)
        looks = forecast_ends(looks, expected, earlier_rate(runs_root, plan.suite))
    return looks, ordered, baseline


def reopen(run: RunFolder, paths: WorkspacePaths) -> PreparedRun:
    """Prepare an existing run from its manifest, with keys and addresses from the current models.toml.

    Raises:
        UsageError: a model or suite is missing, or the data has changed since the run started.
    """
    manifest = run.manifest()
    check_playable(manifest)
    plan = _plan_of(run, manifest, paths)
    is_imported = manifest.format == RECORDED
    prepared = prepare_imported(RunFolder(run.path.parent / manifest.regraded), plan) if is_imported else prepare(plan)
    _check_same_data(manifest, prepared, run)
    _check_same_looks(manifest, prepared.manifest)
    new_grader, warnings = prepared.manifest.grader, prepared.warnings
    if manifest.grader is not None and new_grader is not None and manifest.grader != new_grader:
        differs = "; ".join(differences(manifest.grader, new_grader, same_cases=True))
        words = f"the grader has changed since the run started ({differs}); `eval-console regrade {run.name}` grades"
        warnings = [*warnings, f"{words} all of it alike afterwards"]
    earlier = earlier_run(manifest, run.path.parent)
    return dataclasses.replace(
        prepared, manifest=manifest, runs_root=run.path.parent, warnings=warnings, earlier=earlier
    )


def _plan_of(run: RunFolder, manifest: Manifest, paths: WorkspacePaths) -> Plan:
    """Return the plan from which a run was made."""
    is_pairwise = manifest.format == PAIRWISE
    return Plan(
        model=manifest.model.name,
        suite=manifest.suite,
        selection=manifest.selection,
        options=manifest.setting.options,
        mode=manifest.setting.mode,
        parent=manifest.parent,
        experiment=manifest.experiment,
        roles={role: model.name for role, model in manifest.roles.items()},
        rollouts=manifest.rollouts,
        concurrency=manifest.concurrency,
        budget=manifest.budget,
        shard=manifest.shard,
        until=manifest.looks.until if manifest.looks is not None else None,
        paths=paths_next_to(run, paths),
        regraded=manifest.regraded,
        is_batched=manifest.is_batched,
        further_models=tuple(gone_models(manifest, paths)) if manifest.regraded or is_pairwise else (),
        is_pairwise=is_pairwise,
        truths=manifest.truths,
    )


def prepare_imported(source: RunFolder, plan: Plan) -> PreparedRun:
    """Prepare the grading of an imported run by a judge of ours.

    Args:
        source: the imported run.
        plan: the requested grading; its model and suite are those of the imported run.

    Raises:
        UsageError: no judge is named, or the journal cannot be read.
    """
    manifest = source.manifest()
    if (why := manifest.setting.extras.get(NO_JUDGE)) is not None:
        raise UsageError(f"cannot be graded again: {why}", where=source.name)
    if IN_PLACE in manifest.setting.extras:
        raise UsageError("is a log that is only shown", where=source.name, hint="`eval-console import` makes it a run.")
    if "judge" not in plan.roles:
        hint = "Name a model of models.toml: --judge NAME, and what it checks: --option rubric=TEXT."
        raise UsageError("only a judge can grade what another tool recorded", where="--judge", hint=hint)
    book = load_models(find_models_file(plan.paths.models), plan.paths.data)
    suite, judge = find_suite(manifest, plan.paths.data), pick_model(book, plan.roles["judge"])
    _check_keys({"judge": judge})
    options = check_options(suite.options, plan.options)
    extras = {name: value for name, value in manifest.setting.extras.items() if name != "reported"}
    setting = Setting(manifest.setting.mode, options, extras=extras)
    cases = {record.case.id: record.case for record in source.reader().iter_all() if isinstance(record, Started)}
    chosen = [case for case in cases.values() if not plan.selection.ids or case.id in plan.selection.ids]
    roles = {"judge": facts(judge, is_batched=plan.is_batched and not _why_direct(judge))}
    made = msgspec.structs.replace(
        manifest,
        id=new_run_id(manifest.suite, manifest.model.name, name=plan.name),
        at=time.time(),
        setting=setting,
        selection=plan.selection,
        roles=roles,
        rollouts=plan.rollouts,
        concurrency=_concurrency(plan, judge),
        versions={**manifest.versions, **program_versions()},
        regraded=plan.regraded,
        name=plan.name,
        headline="",
        further_headlines=(),
        scales={},
        units={},
        grader=grader_of(suite, chosen, setting, roles, {}),
    )
    roots = find_data_roots(plan.paths.data)
    models = {"model": _stand_in(manifest.model), "judge": judge}
    return PreparedRun(made, suite, chosen, models, source.path.parent, roots, list(book.warnings))


def paths_next_to(run: RunFolder, paths: WorkspacePaths) -> WorkspacePaths:
    """Return paths that create a new run next to another."""
    return msgspec.structs.replace(paths, runs=run.path.parent)


def gone_models(manifest: Manifest, paths: WorkspacePaths) -> list[ModelConfig]:
    """Return placeholders for models that answered but are no longer in models.toml; they are not called."""
    book = load_models(find_models_file(paths.models), paths.data)
    answered = {"model": manifest.model, **manifest.roles}
    return [
        _stand_in(model)
        for role, model in answered.items()
        if role not in GRADING_ROLES and model.name not in book.models
    ]


def _stand_in(model: ModelFacts) -> ModelConfig:
    return ModelConfig(name=model.name, model_id=model.model_id or model.name, base_url=model.base_url or None)


def _check_same_data(manifest: Manifest, prepared: PreparedRun, run: RunFolder) -> None:
    """Raise `UsageError` if the suite's data or the local weights have changed since the run started.

    Rows that are not cases of the run may have been added or changed.
    """
    now = prepared.manifest
    changed = sorted(
        name
        for name in manifest.dataset.keys() | now.dataset.keys()
        if manifest.dataset.get(name) != now.dataset.get(name)
    )
    has_same_cases = prepared.suite.has_independent_rows and manifest.truths == now.truths != ""
    if changed and not (changed == ["digest"] and has_same_cases):
        was = ", ".join(f"{name}: {manifest.dataset.get(name)} → {now.dataset.get(name)}" for name in changed)
        raise UsageError(
            f"the data of suite {manifest.suite} has changed since the run started ({was})",
            where=str(run.path),
            hint="Start a new run, or give the old data with --data PATH.",
        )
    if manifest.weights and manifest.weights != now.weights:
        raise UsageError(
            "the weights of the local embedding model have changed since the run started",
            where=str(run.path),
            hint="Start a new run, or give the old weights with --data PATH.",
        )


def _check_same_looks(manifest: Manifest, now: Manifest) -> None:
    """Check that a run that looks may end would still be looked at as planned."""
    planned, current = manifest.looks, now.looks
    if planned is None or planned.until is None or current is None or current.until is None:
        return
    if planned.until.baseline_digest != current.until.baseline_digest:
        raise UsageError(
            f"the results of the baseline {planned.until.baseline} have changed since the run started",
            where=manifest.id,
            hint="Start a new run against it.",
        )
    if planned.digest != current.digest:
        raise UsageError(
            "this version would play the cases in another order than planned",
            where=manifest.id,
            hint="Continue with the version that started the run, or start a new run.",
        )


def check_playable(manifest: Manifest) -> None:
    """Check that this program can play or grade a run, unlike one imported from the log of another tool.

    Raises:
        UsageError: it was imported.
    """
    if manifest.format == RECORDED and not manifest.regraded:
        hint = "It can be reviewed and compared, but not played."
        raise UsageError("the run was recorded by another tool", where=manifest.id, hint=hint)


def weights_folder(models: Mapping[str, ModelConfig], suite: Suite, cases: Sequence[Case]) -> Path | None:
    """Return the folder of the local embedding model if a role or the suite uses it, else None."""
    by_role = next((find_weights(config.data) for config in models.values() if config.provider == "local"), None)
    return suite.embeds_here(cases) or by_role


def weights_digests(folder: Path | None) -> dict[str, str]:
    """Return the digests of the local embedding model's files; empty without a folder.

    Raises:
        UsageError: a file cannot be read.
    """
    try:
        return digests_of(folder) if folder is not None else {}
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", where=str(error.filename or folder)) from None


def _check_modes(suite: Suite, cases: list[Case], setting: Setting) -> None:
    used = {case.category for case in cases}
    for category in suite.categories():
        if category.name in used and category.modes and setting.mode not in category.modes:
            raise UsageError(
                f"category {category.name} cannot be run in {setting.mode} mode",
                where="--mode",
                hint=f"Use --mode {category.modes[0]}, or leave the category out.",
            )


def _check_keys(models: dict[str, ModelConfig]) -> None:
    for role, config in models.items():
        state = key_state(config)
        if not state.ready:
            other = "use one of the simulated models" if role == "model" else f"choose another {role_words(role)}"
            raise UsageError(
                f"the {role_words(role)} {config.name} has no key: {state.text}",
                where="models.toml" if role == "model" else role_flag(role),
                hint=f"Set that variable, or {other} (`eval-console models` lists them).",
            )


def _positive(value: int, name: str) -> int:
    if not 1 <= value <= LARGEST_COUNT:
        raise UsageError(f"{name} must be at least 1, and at most 2^53")
    return value


def _planned(cases: Sequence[Case], rollouts: int) -> int:
    planned = len(cases) * rollouts
    if planned > MOST_ROLLOUTS:
        raise UsageError(
            f"{len(cases):,} cases × {rollouts:,} rollouts are more than the {MOST_ROLLOUTS:,} that one run may have",
            where="rollouts",
            hint="Play each case fewer times, or split the cases with --shard.",
        )
    return planned


def _one(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ""


def program_versions() -> dict[str, str]:
    """Return versions of software that can affect results."""
    versions = {"eval-console": __version__}
    for name in ("openai", "litellm"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
