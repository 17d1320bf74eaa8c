"""Experiments on a run: the drawn cases, the branches of a case, and their results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from console.config.preset import Preset
from console.core.comparison import Comparison, Mark
from console.core.experiment import Arm, Beginning, Change, Stratum
from console.core.fault import UsageError
from console.core.looks import latest_look
from console.core.outcome import Outcome
from console.exchange.run_reader import RunReader
from console.insight.as_sent import check_change, points_of, with_recorded
from console.insight.deciding import Branch
from console.insight.experiment import TriedFix, case_values, luck_of, strata_of, tried_fix
from console.store.run_list import read_summaries
from console.store.runs import RunFolder
from console.suites.run_suite import open_run_suite


def draw_strata(
    run: RunFolder, chosen: Sequence[str], *, most: int | None = None, guard: int | None = None, seed: int = 0
) -> tuple[tuple[Stratum, ...], float]:
    """Draw cases of a recorded run from the chosen ones, and a guard from all others (see `strata_of`).

    Returns:
        The strata, and the variance of the recorded mean due to chance.

    Raises:
        UsageError: the folder is not a run.
    """
    reader = RunReader(run)
    values = case_values(reader.side.rollouts.values(), reader.manifest.headline)
    clusters = {each.key.case: (each.category, each.cluster) for each in reader.side.rollouts.values()}
    return strata_of(values, chosen, most, guard, seed), luck_of(values, clusters)


def checked_arms(run: RunFolder, arms: Sequence[Arm], chosen: Sequence[str]) -> tuple[list[Arm], list[str]]:
    """Return arms with the recorded texts that their changes edit, and warnings about them.

    Raises:
        UsageError: a change concerns no recorded request of the chosen cases.
    """
    reader = RunReader(run)
    keys = [rollout.key for rollout in reader.ordered if rollout.key.case in set(chosen)][:_MOST_CHECKED]
    points = [point for key in keys for point in points_of(reader.conversation(key))]
    for change in (change for arm in arms for change in arm):
        refusals: list[UsageError] = []
        for point in points:
            try:
                check_change(point, change)
            except UsageError as refusal:
                refusals.append(refusal)
        if len(refusals) == len(points):
            raise refusals[0] if refusals else UsageError("none of these cases has a finished call", where=run.name)
    read = [[with_recorded(change, points) for change in arm] for arm in arms]
    notes = dict.fromkeys(note for arm in read for _, note in arm if note)
    return [tuple(change for change, _ in arm) for arm in read], list(notes)


_MOST_CHECKED = 20
"""Maximum number of conversations searched for a request that a change concerns."""


def read_tried(run: RunFolder) -> TriedFix | None:
    """Return the results of an experiment, or None if the run is not an experiment on many cases.

    Raises:
        UsageError: it is not a run, or the recorded run no longer exists.
    """
    manifest = run.manifest()
    if manifest.experiment is None or not manifest.experiment.strata:
        return None
    now, before = RunReader(run).side, RunReader(RunFolder(run.path.parent / manifest.parent)).side
    calls, parent_calls = (side.overview.fold.tally.calls for side in (now, before))
    look = latest_look(now.overview.fold.looks)
    return tried_fix(manifest, now.rollouts, before.manifest, before.rollouts, calls, parent_calls, look)


def changed_preset(run: RunFolder) -> Preset:
    """Return a preset that plays all cases of the recorded run with the change of a trial.

    Raises:
        UsageError: the run is not a trial of one change, or the recorded run no longer exists.
    """
    manifest = run.manifest()
    arms = [arm for arm in manifest.experiment.arms if arm] if manifest.experiment is not None else []
    if manifest.experiment is None or not manifest.experiment.strata or len(arms) > 1:
        raise UsageError("only the trial of one change can be kept as a preset", where=run.name)
    recorded = RunFolder(run.path.parent / manifest.parent).manifest()
    chosen = recorded.selection
    return Preset(
        models=(manifest.model.name,),
        suites={recorded.suite: chosen.categories},
        limit=chosen.limit,
        seed=chosen.seed,
        ids=chosen.ids,
        rollouts=recorded.rollouts,
        mode=recorded.setting.mode or None,
        roles={role: facts.name for role, facts in recorded.roles.items()},
        options=recorded.setting.options,
        changes={change.label: _kept(change) for arm in arms for change in arm},
    )


def _kept(change: Change) -> Any:
    return change.after if change.before is None else {"before": change.before, "after": change.after}


def failing_points(run: RunFolder, cases: Iterable[str], data: Path | None) -> dict[str, Beginning]:
    """Return the beginning before the failed turn of each failed case, without cases that failed in the first turn.

    Raises:
        UsageError: the suite, which alone can identify the failed turn, cannot be opened.
    """
    reader, wanted = RunReader(run), set(cases)
    suite = open_run_suite(reader.manifest, data)
    if suite.why:
        raise UsageError(f"the suite cannot be opened: {suite.why}", where="--from failure")
    beginnings: dict[str, Beginning] = {}
    for rollout in reader.ordered:
        if rollout.key.case in beginnings or rollout.key.case not in wanted or rollout.outcome is not Outcome.FAILED:
            continue
        conversation = reader.conversation(rollout.key)
        turn = _failing_turn(suite.compare(conversation.case, conversation.finished))
        points = [point for point in points_of(conversation) if point.exchange.asked.turn >= turn]
        if turn and points and points[0].replies:
            beginnings[rollout.key.case] = points[0].beginning
    return beginnings


def _failing_turn(comparison: Comparison | None) -> int:
    """Return the first turn that differs from the expected one; 0 if the comparison does not distinguish turns."""
    if comparison is None:
        return 0
    judged = [n for n, mark in enumerate(comparison.turns) if mark is Mark.DIFFERS and not comparison.is_end(n)]
    wrong = [pair.turn for pair in comparison.pairs if pair.mark not in (Mark.SAME, Mark.OMITTED)]
    return min(judged or [turn for turn in wrong if not comparison.is_end(turn)], default=0)


def branches_of(run: RunFolder) -> dict[str, list[Branch]]:
    """Return the branches of a run by case, newest first, each followed by its own branches."""
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
