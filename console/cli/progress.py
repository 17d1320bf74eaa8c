"""Progress of a foreground run on stderr: one line that is rewritten on a terminal, now and then a line elsewhere."""

import time

from console.cli.output import Output
from console.core.fault import HALTING
from console.core.record import AnyRecord, Closed, Finished, Tried
from console.core.run import Tally
from console.core.tally import RunFold
from console.insight.failing_requests import FailingRequests

_HALTING = frozenset(kind.value for kind in HALTING)
"""Faults that are not waited out: whoever goes on after one has changed the request, which must not go unsaid."""
_EVERY_S = {True: 0.2, False: 5.0}


class Progress:
    """Takes every record of a run and says how far it is."""

    def __init__(self, output: Output, planned: int) -> None:
        """Show progress of a run of `planned` rollouts in all."""
        self._fold = RunFold()
        self._failing = FailingRequests()
        self._output, self._planned = output, planned
        self._last = 0.0
        self._shown = ""

    def count_by(self, fold: RunFold) -> None:
        """Take the counts from here, which the engine keeps up to date."""
        self._fold = fold

    def __call__(self, record: AnyRecord) -> None:
        """Show the progress line when it is time."""
        self._failing.apply(record)
        now = time.monotonic()
        if isinstance(record, Tried) and (record.wait_s is None or record.kind in _HALTING):
            self.say(f"{record.key}: {record.kind}: {record.message}")
        if isinstance(record, Finished | Closed | Tried) and now - self._last >= _EVERY_S[self._output.rewrites]:
            self._last = now
            self._show()

    def say(self, text: str) -> None:
        """Write a line above the progress line."""
        if self._output.rewrites:
            self._output.rewrite("")
        self._output.say(text)

    def close(self) -> None:
        """End the progress line."""
        self._show(last=True)

    def _show(self, *, last: bool = False) -> None:
        text = progress_line(self._fold.tally, self._planned, self._failing.text)
        if self._output.rewrites:
            self._output.rewrite(text, last=last)
        elif text != self._shown:
            self._output.say(text)
        self._shown = text


def progress_line(tally: Tally, planned: int, failing: str = "") -> str:
    """Return counts in one line, and which requests keep failing."""
    parts = [f"{tally.finished}/{planned}", f"passed {tally.passed}", f"failed {tally.failed}"]
    parts += [
        f"{name} {count}"
        for name, count in (
            ("prepared", tally.prepared),
            ("broken", tally.broken),
            ("undecided", tally.undecided),
            ("running", tally.running),
        )
        if count
    ]
    return "  ".join([*parts, failing] if failing else parts)
