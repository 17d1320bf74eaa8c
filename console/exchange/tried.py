"""Experiments on many cases of a run: the cases that are drawn, and what came of them, read from both journals."""

from collections.abc import Sequence

from console.core.experiment import Stratum
from console.exchange.run_reader import RunReader
from console.insight.experiment import TriedFix, case_values, strata_of, tried_fix
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
    """Return what came of an experiment; None if the run is no experiment on many cases.

    Raises:
        UsageError: it is not a run, or the recorded run is gone.
    """
    manifest = run.manifest()
    if manifest.experiment is None or not manifest.experiment.strata:
        return None
    now, before = RunReader(run).side, RunReader(RunFolder(run.path.parent / manifest.parent)).side
    calls = [side.overview.fold.tally.calls for side in (now, before)]
    return tried_fix(manifest, now.rollouts, before.manifest, before.rollouts, *calls)
