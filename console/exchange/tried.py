"""Experiments on a run: the cases that are drawn, the branches of a case, and what came of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from console.core.experiment import Stratum
from console.core.looks import latest_look
from console.exchange.run_reader import RunReader
from console.insight.deciding import Branch
from console.insight.experiment import TriedFix, case_values, luck_of, strata_of, tried_fix
from console.store.run_list import read_summaries
from console.store.runs import RunFolder


def draw_strata(
    run: RunFolder, chosen: Sequence[str], *, most: int | None = None, guard: int | None = None, seed: int = 0
) -> tuple[tuple[Stratum, ...], float]:
    """Draw cases of a recorded run: of the chosen ones, and a guard of all others (see `strata_of`).

    Returns:
        The strata, and the variance of the recorded mean due to its own luck.

    Raises:
        UsageError: the folder is not a run.
    """
    reader = RunReader(run)
    values = case_values(reader.side.rollouts.values(), reader.manifest.headline)
    clusters = {each.key.case: (each.category, each.cluster) for each in reader.side.rollouts.values()}
    return strata_of(values, chosen, most, guard, seed), luck_of(values, clusters)


def read_tried(run: RunFolder) -> TriedFix | None:
    """Return the results of an experiment, or None if the run is not an experiment on many cases.

    Raises:
        UsageError: it is not a run, or the recorded run is gone.
    """
    manifest = run.manifest()
    if manifest.experiment is None or not manifest.experiment.strata:
        return None
    now, before = RunReader(run).side, RunReader(RunFolder(run.path.parent / manifest.parent)).side
    calls = [side.overview.fold.tally.calls for side in (now, before)]
    look = latest_look(now.overview.fold.looks)
    return tried_fix(manifest, now.rollouts, before.manifest, before.rollouts, *calls, look)


def branches_of(run: RunFolder) -> dict[str, list[Branch]]:
    """Return the branches of a run by case, newest first, each followed by the branches of itself."""
    by_parent: dict[str, list[Branch]] = {}
    for listed in read_summaries(run.path.parent):
        summary = listed.summary
        if summary is None or not summary.parent or summary.regraded:
            continue
        manifest = listed.folder.manifest()
        if manifest.experiment is None or manifest.experiment.strata:
            continue
        branch = Branch(
            listed.folder.name,
            summary.model,
            manifest.selection.ids,
            manifest.experiment,
            summary.tally.passed,
            summary.tally.graded,
            listed.folder.is_live,
        )
        by_parent.setdefault(summary.parent, []).append(branch)
    cases: dict[str, list[Branch]] = {}
    for branch in by_parent.get(run.name, ()):
        for case in branch.cases:
            cases.setdefault(case, []).extend(_with_branches(branch, by_parent, 0))
    return cases


def _with_branches(branch: Branch, by_parent: Mapping[str, Sequence[Branch]], level: int) -> Iterator[Branch]:
    yield replace(branch, level=level)
    for further in by_parent.get(branch.run, ()):
        yield from _with_branches(further, by_parent, level + 1)
