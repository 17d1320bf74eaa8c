"""What the official tables say besides accuracies and only journals hold: latencies, and the spread over formats."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from console.core.case import Key
from console.core.outcome import Outcome
from console.core.record import Asked, Finished
from console.exchange.bfcl_leaderboard import Spending
from console.insight.leaderboard import BFCL_FORMATS, BFCL_SPENT
from console.store.index import JournalIndex
from console.store.runs import RunFolder
from console.suites.bfcl.aggregate import spread
from console.suites.bfcl.categories import FORMAT_SENSITIVITY, is_prerequisite

_KNOWN = 64
"""Runs whose measures are kept."""
_Measured = tuple[tuple[float, ...], dict[str, tuple[int, int]]]
"""Latencies of all answers, and right and all entries by prompt variation."""


def measures_of(folders: Sequence[RunFolder]) -> dict[str, float]:
    """Return mean, deviation and 95th percentile of latencies in seconds, and the spread over formats in percent.

    What is not known is left out. Conversations that only fill a memory do not count.

    Raises:
        OSError: a journal cannot be read.
    """
    spending, counts = Spending(), defaultdict[str, list[tuple[int, int]]](list)
    for folder in folders:
        latencies, variations = _measured(folder.journal_path, folder.journal_path.stat().st_size)
        spending.latencies += latencies
        for name, count in variations.items():
            counts[name].append(count)
    cells = zip(BFCL_SPENT[1:], spending.cells(None)[1:], strict=True)
    measures = {name: float(cell) for name, cell in cells if not isinstance(cell, str)}
    if counts:
        shares = {name: sum(right for right, _ in them) / sum(all for _, all in them) for name, them in counts.items()}
        over = spread(shares)
        measures |= zip(BFCL_FORMATS, (over["accuracy_max_delta"], over["accuracy_std"]), strict=True)
    return measures


@lru_cache(maxsize=_KNOWN)
def _measured(journal: Path, size: int) -> _Measured:
    """Read a journal once for as long as it does not grow."""
    del size
    latencies: list[float] = []
    ended: dict[Key, bool] = {}
    for record in JournalIndex(journal).iter_all():
        if isinstance(record, Asked) and record.role == "model" and not is_prerequisite(record.key.case):
            latencies.append(record.reply.latency_s)
        elif isinstance(record, Finished) and record.key.case.startswith(FORMAT_SENSITIVITY):
            ended[Key(record.key.case, record.key.rollout)] = record.verdict.outcome is Outcome.PASSED
    variations: dict[str, tuple[int, int]] = {}
    for key, passed in ended.items():
        name = key.case.split(":")[1]
        right, count = variations.get(name, (0, 0))
        variations[name] = right + passed, count + 1
    return tuple(latency for latency in latencies if latency), variations
