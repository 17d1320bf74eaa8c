"""Grading a run again: its conversations are replayed from the journal into a new run, which is graded.

Only judges are called, and only if they or their questions changed, or on request. A conversation that needs any other
unrecorded answer breaks (see `stage.Unanswered`).
"""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from console.config.paths import DEFAULT_PATHS, WorkspacePaths
from console.core.fault import UsageError
from console.core.run import RECORDED, Manifest, Selection
from console.engine.earlier_run import earlier_run
from console.engine.plan import Plan, PreparedRun, gone_models, paths_next_to, prepare, prepare_imported
from console.engine.recorded_effects import JUDGES
from console.store.runs import RunFolder
from console.suites.catalog import PAIRWISE
from console.suites.grading import GRADING_ROLES

MOST_REPEATS = 100


def prepare_regrade(
    run: RunFolder,
    *,
    judge: str = "",
    options: Mapping[str, Any] | None = None,
    case_ids: Collection[str] | None = None,
    repeats: int = 1,
    is_batched: bool = False,
    paths: WorkspacePaths = DEFAULT_PATHS,
) -> PreparedRun:
    """Prepare a run that grades another one again.

    Args:
        run: the old run.
        judge: name of the judge in models.toml, always called; empty for the old one, called only if necessary.
        options: options of the suite that replace those of the old run.
        case_ids: ids of the cases to grade; None for all.
        repeats: gradings of each conversation; if more than one, the judge is always called.
        is_batched: call judges through batch APIs.
        paths: where models and data are.

    Raises:
        UsageError: the run is being played, has no finished conversation, or cannot be graded here.
    """
    manifest = run.manifest()
    is_imported = manifest.format == RECORDED
    if run.is_live:
        raise UsageError("is still running", where=run.name, hint="Grade it again after it has ended.")
    if manifest.format == PAIRWISE:
        raise UsageError("compares answers of other runs", where=run.name, hint="Judge them again with `judge`.")
    if not 1 <= repeats <= MOST_REPEATS:
        raise UsageError(f"must be from 1 to {MOST_REPEATS}, not {repeats}", where="--repeats")
    plan = _plan(run, manifest, judge, options or {}, case_ids, repeats, paths)
    if is_batched:
        plan = dataclasses.replace(plan, is_batched=True, concurrency=None)
    prepared = prepare_imported(run, plan) if is_imported else prepare(plan)
    made, setting = prepared.manifest, prepared.manifest.setting
    if not is_imported:  # the formats adapted to the model must decode its old answers
        setting = msgspec.structs.replace(manifest.setting, options=setting.options)
    made = msgspec.structs.replace(
        made,
        model=manifest.model,
        setting=setting,
        asked_anew=tuple(sorted(_asked_anew(manifest, made, judge, repeats))),
        judge_repeats=repeats,
        looks=None,  # nothing ends it early
        parent=manifest.parent,
        merged=manifest.merged,
    )
    earlier = earlier_run(made, prepared.runs_root)
    assert earlier is not None  # it grades a run again
    planned = [case for case in prepared.cases for rollout in range(made.rollouts) if earlier.has((case.id, rollout))]
    if not planned:
        raise UsageError("has no finished conversation of these cases", where=run.name)
    _check_judge(made, repeats, is_batched=is_batched)
    made = msgspec.structs.replace(made, cases=len(planned), setup=sum(not case.graded for case in planned))
    return dataclasses.replace(prepared, manifest=made, earlier=earlier)


def _check_judge(manifest: Manifest, repeats: int, *, is_batched: bool) -> None:
    """Raise `UsageError` if repeats or batches are requested without a judge that supports them."""
    if is_batched and not any(manifest.roles[role].batched for role in JUDGES & manifest.roles.keys()):
        hint = "Choose a judge of provider openai, responses or anthropic with one address: --judge NAME."
        raise UsageError("no judge of this run can be called in batches", where="--batch", hint=hint)
    if repeats > 1 and "judge" not in manifest.roles:
        raise UsageError("has no judge, and code always gives the same grade", where="--repeats")


def _plan(
    run: RunFolder,
    manifest: Manifest,
    judge: str,
    options: Mapping[str, Any],
    case_ids: Collection[str] | None,
    repeats: int,
    paths: WorkspacePaths,
) -> Plan:
    roles = {role: facts.name for role, facts in manifest.roles.items()}
    if judge:
        roles["judge"] = judge
    named = dict(manifest.setting.options)
    for role, name in roles.items():  # a role overrides an option that names a model
        if f"{role}_model" in named and named[f"{role}_model"] is not None:
            named[f"{role}_model"] = name
    return Plan(
        model=manifest.model.name,
        suite=manifest.suite,
        selection=manifest.selection if case_ids is None else Selection(ids=tuple(case_ids)),
        options={**named, **options},
        mode=manifest.setting.mode,
        experiment=manifest.experiment,
        roles=roles,
        rollouts=manifest.rollouts * repeats,
        concurrency=manifest.concurrency,
        name=f"regraded {(manifest.name or manifest.model.name).removeprefix('regraded ')}",
        shard=manifest.shard if case_ids is None else None,
        paths=paths_next_to(run, paths),
        further_models=tuple(gone_models(manifest, paths)),
        regraded=run.name,
    )


def _asked_anew(old: Manifest, new: Manifest, judge: str, repeats: int) -> set[str]:
    """Return the roles that are called although the journal has their answers."""
    if old.grader is not None and new.grader is not None:
        before, after = old.grader.models, new.grader.models
        changed = {role for role in GRADING_ROLES if before.get(role) != after.get(role)}
    else:
        changed = {role for role in GRADING_ROLES if old.roles.get(role) != new.roles.get(role)}
    return changed | (set(JUDGES) if judge or repeats > 1 or "judge" in changed else set())
