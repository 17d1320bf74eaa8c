"""Experiments on a run: the cases that are drawn, the branches of a case, and what came of them."""

from collections.abc import Sequence

from console.core.experiment import Experiment, Stratum
from console.core.run import Summary
from console.exchange.run_reader import RunReader
from console.insight.deciding import Chance
from console.insight.experiment import TriedFix, case_values, strata_of, tried_fix
from console.store.run_list import read_summaries
from console.store.runs import RunFolder


def draw_strata(
    run: RunFolder, chosen: Sequence[str], *, most: int | None = None, guard: int | None = None, seed: int = 0
) -> tuple[Stratum, ...]:
    """Draw cases of a recorded run: of the chosen ones, and a guard of all others (see `strata_of`).

    Raises:
        UsageError: the folder is not a run.
    """
    reader = RunReader(run)
    values = case_values(reader.side.rollouts.values(), reader.manifest.headline)
    return strata_of(values, chosen, most, guard, seed)


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
    return tried_fix(manifest, now.rollouts, before.manifest, before.rollouts, *calls)


def branches_of(run: RunFolder, case: str) -> list[tuple[RunFolder, Summary, Experiment]]:
    """Return the branches of a case of a run, newest first."""
    branches: list[tuple[RunFolder, Summary, Experiment]] = []
    for listed in read_summaries(run.path.parent):
        if listed.summary is None or listed.summary.parent != run.name or listed.summary.regraded:
            continue
        manifest = listed.folder.manifest()
        if manifest.experiment is not None and not manifest.experiment.strata and case in manifest.selection.ids:
            branches.append((listed.folder, listed.summary, manifest.experiment))
    return branches


def read_curve(run: RunFolder, case: str, rollout: int, model: str) -> dict[int, Chance]:
    """Return how often a conversation came right, by the replies that unchanged branches of it have repeated.

    Args:
        run: the recorded run.
        case: id of the case.
        rollout: its rollout.
        model: the model that went on.
    """
    curve: dict[int, Chance] = {}
    for folder, summary, experiment in branches_of(run, case):
        beginning = experiment.beginnings.get(case)
        is_unchanged = experiment.arms == ((),) and summary.model == model
        if beginning is None or beginning.replies is None or beginning.rollout != rollout or not is_unchanged:
            continue
        if summary.tally.graded:
            curve.setdefault(beginning.replies, Chance(summary.tally.passed, summary.tally.graded, folder.name))
    return curve
