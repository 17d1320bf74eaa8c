"""Follows the runs of a race from a headless command: each plays in an engine process of its own."""

import contextlib
import signal
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from types import FrameType

from console.cli.exitcode import Exit
from console.cli.history import read_history, report_of
from console.cli.output import Output
from console.cli.run_report import exit_code, show_report
from console.config.paths import WorkspacePaths
from console.core.looks import BEST
from console.core.record import Looked
from console.core.tally import RunFold, without_output
from console.engine.compute_target import ComputeTarget
from console.engine.race import RunningEngine, continue_race, racing_runs
from console.insight.looks import look_words, until_words
from console.insight.number_format import count
from console.store.journal import JournalReader
from console.store.runs import RunFolder

_POLL_S = 0.2


def resume_race(output: Output, folder: RunFolder, paths: WorkspacePaths, target: ComputeTarget) -> int:
    """Continue all unfinished runs of a race, and report on the whole race."""
    engines = continue_race(folder, paths, target)
    if not engines:
        return output.error(f"nothing left to do in the race of {folder.name}", Exit.LOCKED)
    return follow_race(output, racing_runs(folder), engines, paths.data)


def follow_race(
    output: Output, runs: Sequence[RunFolder], engines: Sequence[RunningEngine], data_path: Path | None
) -> int:
    """Show the looks of a race until its engines have ended, then print its reports; return the exit code.

    Args:
        output: where to write.
        runs: all runs of the race.
        engines: processes that play some of them; signals are passed on to them.
        data_path: data folder; None for the defaults.
    """
    lanes = [_Lane(output, run) for run in runs]
    if lanes and lanes[0].until is not None:
        output.info(f"{until_words(lanes[0].until)}: {', '.join(run.name for run in runs)}")
    with _passed_on(engines) as signals:
        last_shown = 0
        while True:
            is_playing = any(process.poll() is None for _, process in engines)
            for lane in lanes:
                last_shown = lane.read(last_shown)
            if output.rewrites:
                output.rewrite("   ".join(lane.words for lane in lanes), last=not is_playing)
            if not is_playing:
                break
            time.sleep(_POLL_S)
    codes: list[Exit] = []
    best = ""
    for run in runs:
        history = read_history(run)
        report = report_of(history, data_path)
        show_report(output, history, report)
        codes.append(exit_code(history.summary, report, None, signals[-1] if signals else None))
        best = run.name if history.summary.decision == BEST else best
        if not output.machine:
            output.text()
    return Exit.OK if best and not signals else max(codes)


class _Lane:
    """One run of the race, read from its journal."""

    def __init__(self, output: Output, run: RunFolder) -> None:
        manifest = run.manifest()
        self._output, self._manifest = output, manifest
        self.until = manifest.looks.until if manifest.looks is not None else None
        self._reader, self._fold = JournalReader(run.journal_path), RunFold()

    @property
    def words(self) -> str:
        """Rollouts played so far."""
        return f"{self._manifest.model.name} {count(self._fold.tally.finished)} of {count(self._manifest.cases)}"

    def read(self, last_shown: int) -> int:
        """Show the race's looks numbered above `told`, and return the highest number shown."""
        while records := self._reader.read_new():
            for record in records:
                self._fold.apply(without_output(record))
                if isinstance(record, Looked) and record.look.standings and record.look.number > last_shown:
                    last_shown = record.look.number
                    if self._output.rewrites:
                        self._output.rewrite("")
                    self._output.info(look_words(record.look, self.until, self._manifest.headline))
        return last_shown


@contextlib.contextmanager
def _passed_on(engines: Sequence[RunningEngine]) -> Generator[list[int]]:
    """Pass signals on to all engines while the block runs; yields those received."""
    came: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)
        for _, process in engines:
            if process.poll() is None:
                process.send_signal(number)

    earlier = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
