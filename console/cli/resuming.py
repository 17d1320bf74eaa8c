"""Continues a run, for `resume` and `retry`."""

import dataclasses

import msgspec

from console.cli.budget_arguments import BudgetArguments, budget_of
from console.cli.exitcode import Exit
from console.cli.foreground import play
from console.cli.racing import resume_race
from console.cli.run_report import report_played, threshold
from console.cli.target_arguments import target_of
from console.core.fault import UsageError
from console.engine.engine import jobs_left
from console.engine.plan import reopen
from console.engine.player_factory import player_factory
from console.engine.queue import RetryScope
from console.engine.race import race_of
from console.engine.recorded_effects import JournalEffects
from console.store.journal import JournalReader
from console.store.lock import RunLocked
from console.store.runs import RunFolder


class ResumingArguments(BudgetArguments):
    """Options of verbs that continue a run."""

    on: str | None
    workers: int | None


def resume_run(
    folder: RunFolder,
    args: ResumingArguments,
    *,
    retry: RetryScope,
    only: frozenset[str] = frozenset(),
    fail_under: str | None = None,
    to_the_end: bool = False,
    resubmits: bool = False,
) -> int:
    """Play the remaining rollouts of a run, report on the whole run, and return the exit code.

    Exit code 5 means the run is locked, or nothing is left to play.
    """
    output, target = args.output, target_of(args)
    summary = folder.summary()
    if not to_the_end and summary.state == "decided":
        hint = f"`eval-console resume {folder.name} --to-the-end` plays the rest"
        return output.error(f"{folder.name} is decided: {summary.message}; {hint}", Exit.LOCKED)
    prepared = reopen(folder, args.workspace)
    if not to_the_end and race_of(folder, prepared) is not None:
        return resume_race(output, folder, args.workspace, target)
    if target.on and prepared.earlier is not None:
        raise UsageError("a run that grades another again cannot be played on workers", where="--on")
    least = threshold(fail_under, [(prepared.suite, prepared.manifest.setting)])
    budget = budget_of(args, prepared.manifest.budget)
    manifest = msgspec.structs.replace(prepared.manifest, budget=budget)
    prepared = dataclasses.replace(prepared, manifest=manifest, resubmits=resubmits)
    recorded, reader = JournalEffects(), JournalReader(folder.journal_path)
    recorded.add_all(reader.iter_all())
    due = jobs_left(prepared, recorded, retry, only)
    if not due and summary.state != "interrupted" and not folder.is_unconfirmed:
        return output.error(f"nothing left to do in {folder.name}", Exit.LOCKED)
    words = "cases" if prepared.manifest.rollouts == 1 else "rollouts"
    output.info(f"{folder.name}: {len(due):,} of {prepared.manifest.cases:,} {words} are left to run")
    try:
        with player_factory(target) as player:
            ending = play(folder, prepared, output, retry=retry, only=only, to_the_end=to_the_end, player=player)
    except RunLocked as locked:
        return output.error(f"{locked}; `eval-console watch {folder.name}` follows it", Exit.LOCKED)
    return report_played(output, prepared, ending, least)
