"""Progress of a foreground run on stderr: a rewritten line on a terminal, occasional lines elsewhere."""

import time

from console.cli.output import Output
from console.core.fault import HALTING, FaultKind
from console.core.looks import latest_look
from console.core.record import AnyRecord, Batched, Closed, Finished, Looked, Tried
from console.core.run import Manifest
from console.core.tally import RunFold
from console.core.wait import batch_words, slowed_by
from console.insight.failing_requests import FailingRequests
from console.insight.looks import look_words
from console.insight.number_format import done, duration, look_score
from console.insight.reasons import reason_words

_HALTING = frozenset(kind.value for kind in HALTING)
"""Faults to report, because the request must change and retrying alone cannot help."""
_EVERY_S = {True: 0.2, False: 5.0}
"""Seconds between lines while records arrive: on a terminal, and in a log."""
_BEAT_S = 1.5
"""Seconds of silence after which a wait is reported."""
_SOON_S, _RARER, _RAREST_S = 30.0, 1.5, 60.0
"""Seconds of waiting after which a log gets fewer lines, growth of their interval, and its maximum."""


class Progress:
    """Reports a run's progress from its records, or that it is still waiting.

    Uses no thread, because the engine needs one for the disk and the system may refuse another.
    """

    def __init__(self, output: Output, manifest: Manifest) -> None:
        """Report on a run of this plan."""
        self._fold = RunFold()
        self._failing = FailingRequests()
        self._output, self._manifest = output, manifest
        self._began = self._last = time.monotonic()
        self._shown = ""
        self._closed = self._was_silent = False

    def count_by(self, fold: RunFold) -> None:
        """Use the engine's counts, which are updated in place."""
        self._fold = fold

    def __call__(self, record: AnyRecord) -> None:
        """Show the progress line if it is due."""
        self._failing.apply(record)
        if isinstance(record, Tried) and self._is_worth_a_line(record):
            self._info(f"{record.key}: {reason_words(record.kind)}: {record.message}")
        plan = self._manifest.looks
        if isinstance(record, Looked) and plan is not None and plan.until is not None:
            self._info(look_words(record.look, plan.until, self._manifest.headline))
        if isinstance(record, Batched) and record.id and not (record.done or record.ended):
            self._info(f"waits for {batch_words([record])}")
        due = time.monotonic() - self._last >= _EVERY_S[self._output.rewrites]
        if isinstance(record, Finished | Closed | Tried) and due:
            self._show()

    def _is_worth_a_line(self, record: Tried) -> bool:
        is_first_silence = record.kind == FaultKind.SILENT and not self._was_silent
        self._was_silent = self._was_silent or is_first_silence
        return is_first_silence or record.wait_s is None or record.kind in _HALTING

    def warn(self, text: str) -> None:
        """Write a line above the progress line, even when quiet."""
        if self._output.rewrites:
            self._output.rewrite("")
        self._output.warn(text)

    def _info(self, text: str) -> None:
        if not self._output.quiet:
            self.warn(text)

    def close(self) -> None:
        self._closed = True
        self._show(last=True)

    async def beat(self) -> None:
        """Show the line again after some silence, less and less often in a log."""
        import asyncio  # imported late: `watch` writes the same line without a loop

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
        text = progress_line(self._fold, self._manifest, self._failing.text)
        if self._output.rewrites:
            self._output.rewrite(f"{text}  {duration(now - self._began)}", last=last)
        elif text != self._shown or with_time:
            self._output.info(f"{text}  {duration(now - self._began)}" if with_time else text)
        self._shown = text


def progress_line(fold: RunFold, manifest: Manifest, failing: str = "", *, live: bool = True) -> str:
    """Return counts and score in one line, with the requests that keep failing.

    Args:
        fold: the run so far.
        manifest: its plan.
        failing: description of failing requests.
        live: whether it is being played, so that its newest look gives the score.
    """
    tally = fold.tally
    parts = [done(tally, manifest.cases, manifest.setup), f"passed {tally.passed:,}", f"failed {tally.failed:,}"]
    parts += [
        f"{name} {count:,}"
        for name, count in (
            ("broken", tally.broken),
            ("undecided", tally.undecided),
            ("not run", tally.not_run),
            ("under way", tally.running),
        )
        if count
    ]
    if live and (look := latest_look(fold.looks)) is not None:
        parts.append(look_score(look, manifest.headline, unit=manifest.units.get(manifest.headline, "")))
    parts += filter(None, (failing, batch_words(list(fold.batches.values()))))
    return "  ".join(parts) + slowed_by(tally.rate_limits)
