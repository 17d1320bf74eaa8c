"""Plays a run in the foreground of a headless command."""

import gc
from collections.abc import Callable

from console.cli.history import save_overview
from console.cli.output import Output
from console.cli.progress import Progress
from console.core.record import AnyRecord
from console.engine.launch import Ending, run_in_foreground
from console.engine.plan import PreparedRun
from console.engine.player import LocalPlayer, PlayerFactory
from console.engine.queue import RetryScope
from console.store.runs import RunFolder

COLLECTED_FROM = 20_000
"""Number of rollouts above which garbage collection in an engine is worth its 50 ms or more."""


def play(
    folder: RunFolder,
    prepared: PreparedRun,
    output: Output,
    *,
    retry: RetryScope = RetryScope.NONE,
    only: frozenset[str] = frozenset(),
    to_the_end: bool = False,
    player: PlayerFactory = LocalPlayer,
    also: Callable[[AnyRecord], None] | None = None,
) -> Ending:
    """Play a run to its end and return how it ended; `also` is called with every record.

    Raises:
        RunLocked: another engine plays the run.
        Fault: writing failed.
    """
    gc.freeze()  # loaded objects stay, and cases have no reference cycles
    output.info(f"run {folder.name}")
    progress = Progress(output, prepared.manifest)

    def see(record: AnyRecord) -> None:
        progress(record)
        if also is not None:
            also(record)

    try:
        ending = run_in_foreground(
            folder,
            prepared,
            retry=retry,
            only=only,
            to_the_end=to_the_end,
            player=player,
            on_start=progress.count_by,
            on_record=see,
            on_signal=progress.warn,
            beside=progress.beat,
        )
    finally:
        progress.close()
    if prepared.manifest.cases > COLLECTED_FROM:
        gc.collect()  # free the engine before the journal is read
    save_overview(ending.folder)
    return ending
