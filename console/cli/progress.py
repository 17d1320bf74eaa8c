"""Progress of a foreground run on stderr: one line that is rewritten on a terminal, now and then a line elsewhere."""

import time

from console.cli.output import Output
from console.core.fault import HALTING
from console.core.record import AnyRecord, Closed, Finished, Tried
from console.core.run import Tally
from console.core.tally import RunFold
from console.insight.failing_requests import FailingRequests
from console.insight.number_format import duration
from console.insight.reasons import reason_words

_HALTING = frozenset(kind.value for kind in HALTING)
"""Faults that are not waited out: whoever goes on after one has changed the request, which must not go unsaid."""
_EVERY_S = {True: 0.2, False: 5.0}
"""Seconds between two lines while records come: on a terminal, and in a log."""
_BEAT_S = 1.5
"""Seconds of silence after which a waiting run says that it waits."""
_SOON_S, _RARER, _RAREST_S = 30.0, 1.5, 60.0
"""After half a minute a log hears of a waiting run ever more rarely, else a long outage would fill it."""


class Progress:
    """Takes every record of a run and says how far it is; where none comes, that it still waits.

    It needs no thread: the engine needs one for the disk, and a machine may grant no other.
    """

    def __init__(self, output: Output, planned: int, setup: int = 0) -> None:
        """Show progress of a run of `planned` rollouts in all, `setup` of which are not graded."""
        self._fold = RunFold()
        self._failing = FailingRequests()
        self._output, self._planned, self._setup = output, planned, setup
        self._began = self._last = time.monotonic()
        self._shown = ""
        self._closed = False

    def count_by(self, fold: RunFold) -> None:
        """Take the counts from here, which the engine keeps up to date."""
        self._fold = fold

    def __call__(self, record: AnyRecord) -> None:
        """Show the progress line when it is time."""
        self._failing.apply(record)
        if isinstance(record, Tried) and (record.wait_s is None or record.kind in _HALTING):
            self.info(f"{record.key}: {reason_words(record.kind)}: {record.message}")
        due = time.monotonic() - self._last >= _EVERY_S[self._output.rewrites]
        if isinstance(record, Finished | Closed | Tried) and due:
            self._show()

    def info(self, text: str) -> None:
        """Write a line above the progress line."""
        if self._output.rewrites:
            self._output.rewrite("")
        self._output.info(text)

    def close(self) -> None:
        """End the progress line."""
        self._closed = True
        self._show(last=True)

    async def beat(self) -> None:
        """Show the line again whenever nothing was shown for a while, in a log more and more rarely."""
        import asyncio  # here: `watch` writes the same line and needs no loop

        silence = _BEAT_S
        while not self._closed and not self._output.quiet:
            await asyncio.sleep(max(self._last + silence - time.monotonic(), 0.05))
            if time.monotonic() - self._last >= silence:
                self._show(with_time=True)
                if not self._output.rewrites and self._last - self._began > _SOON_S:
                    silence = min(silence * _RARER, _RAREST_S)

    def _show(self, *, last: bool = False, with_time: bool = False) -> None:
        if self._closed and not last:
            return
        self._last = now = time.monotonic()
        text = progress_line(self._fold.tally, self._planned, self._setup, self._failing.text)
        if self._output.rewrites:
            self._output.rewrite(f"{text}  {duration(now - self._began)}", last=last)
        elif text != self._shown or with_time:
            self._output.info(f"{text}  {duration(now - self._began)}" if with_time else text)
        self._shown = text


def progress_line(tally: Tally, planned: int, setup: int, failing: str = "") -> str:
    """Return counts in one line, and which requests keep failing.

    Args:
        tally: what has come of the run so far.
        planned: rollouts in all.
        setup: those of them that are not graded.
        failing: which requests keep failing.
    """
    whole = f"/{planned}" if not setup else f" of {planned - setup} + {setup} setup"
    parts = [f"{tally.finished}{whole}", f"passed {tally.passed}", f"failed {tally.failed}"]
    parts += [
        f"{name} {count}"
        for name, count in (
            ("setup", tally.setup),
            ("broken", tally.broken),
            ("undecided", tally.undecided),
            ("running", tally.running),
        )
        if count
    ]
    return "  ".join([*parts, failing] if failing else parts)
