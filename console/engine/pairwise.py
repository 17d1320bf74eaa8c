"""Comparison of the answers of finished runs, as a run of its own that calls only a judge."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

import msgspec

from console.config.paths import DEFAULT_PATHS, WorkspacePaths
from console.core.fault import UsageError
from console.core.run import Budget, Manifest, Selection
from console.engine.plan import Plan, PreparedRun, gone_models, paths_next_to, prepare
from console.store.runs import RunFolder
from console.suites.catalog import PAIRWISE

SUFFIX = " pairwise"
"""Suffix of the suite names of such runs, appended to the name of the compared runs' suite."""


def prepare_pairwise(
    runs: Sequence[RunFolder],
    *,
    judge: str = "",
    rubric: str = "",
    length_control: bool = False,
    selection: Selection | None = None,
    budget: Budget | None = None,
    paths: WorkspacePaths = DEFAULT_PATHS,
) -> PreparedRun:
    """Prepare a run that compares the answers of other runs: the first with all others, and the others in pairs.

    Args:
        runs: at least two runs of one suite.
        judge: name of the judge in models.toml; empty for the first judge of these runs.
        rubric: criteria for the better answer; empty for the default.
        length_control: also report results adjusted for answer length.
        selection: which pairs to judge; None for all.
        budget: caps on the run.
        paths: where models and data are.

    Raises:
        UsageError: fewer than two runs, a live run, runs without a common case, or no judge.
    """
    _check(runs)
    manifests = [run.manifest() for run in runs]
    first, names = manifests[0], _names(manifests)
    judges = (manifest.roles["judge"].name for manifest in manifests if "judge" in manifest.roles)
    judge = judge or next(judges, "")
    options = {"runs": [run.name for run in runs], "names": names, "length_control": length_control}
    plan = Plan(
        model=first.model.name,
        suite=f"{first.suite}{SUFFIX}",
        selection=selection or Selection(),
        options={**options, "rubric": rubric} if rubric else options,
        roles={"judge": judge} if judge else {},
        budget=budget or Budget(),
        name=" vs ".join(names),
        paths=paths_next_to(runs[0], paths),
        further_models=tuple(gone_models(first, paths)),
        is_pairwise=True,
    )
    prepared = prepare(plan)
    return dataclasses.replace(prepared, manifest=msgspec.structs.replace(prepared.manifest, model=first.model))


def _check(runs: Sequence[RunFolder]) -> None:
    if len({run.name for run in runs}) < max(len(runs), 2):
        hint = "Name each run once, such as `eval-console judge RUN-A RUN-B`."
        raise UsageError("at least two different runs are needed", hint=hint)
    for run in runs:
        if run.is_live:
            raise UsageError("is still running", where=run.name, hint="Judge its answers after it has ended.")
        if run.manifest().format == PAIRWISE:
            raise UsageError("has no answers of its own, because it compares those of other runs", where=run.name)
    suites = list(dict.fromkeys(run.manifest().suite for run in runs))
    if len(suites) > 1:
        raise UsageError(f"the runs belong to different suites: {', '.join(suites)}", hint="Compare runs of one suite.")


def _names(manifests: Sequence[Manifest]) -> list[str]:
    """Return a distinct display name of each run: its model's name if that is unique, else its own name or id."""
    names = [manifest.model.name for manifest in manifests]
    longer = [manifest.name or manifest.model.name for manifest in manifests]
    for others in (longer, [manifest.id for manifest in manifests]):
        counts = Counter(names)
        names = [name if counts[name] == 1 else other for name, other in zip(names, others, strict=True)]
    return names
