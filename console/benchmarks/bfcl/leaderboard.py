"""BFCL's leaderboard by the official formula, except that an aggregate with missing categories has no number.

Columns are in the order of the official summary tables, except that cost and latency come last. Numbers based on only
some of the entries are marked incomplete. Failed inferences are scored as answers, like the official scorer does.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.aggregate import (
    PARTS,
    Accuracy,
    Standing,
    gaps,
    interval,
    latency_figures,
    missing,
    spread,
)
from console.core.case import Key
from console.core.outcome import Outcome
from console.core.record import AnyRecord, Asked, Finished
from console.core.run import Tally
from console.core.statistics.sample import Cluster, Sample
from console.suites.leaderboard import (
    MISSING,
    NOT_PLAYED,
    Cell,
    DetailTable,
    MeasuresJournals,
    Played,
    cell_interval,
    interval_cell,
    rate_cell,
)

_LATENCIES = ("latency_mean_s", "latency_stdev_s", "latency_p95_s")
_SPENT = ("cost_usd", *_LATENCIES)
_FORMATS = ("format_max_delta", "format_stdev")
_COLUMN_OF = {"irrelevance": "all_irrelevance"}
"""Columns of aggregates whose official name is also a category."""
_HEADINGS = {
    "all_irrelevance": "irrelevance",
    "irrelevance": "non-live irrelevance",
    "parallel_multiple": "par. multiple",
    "live_parallel_multiple": "live par. multiple",
    "cost_usd": "cost in USD",
    "latency_mean_s": "latency mean s",
    "latency_stdev_s": "latency stdev s",
    "latency_p95_s": "latency 95 % s",
    "format_max_delta": "format max delta",
    "format_stdev": "format stdev",
}
_JUDGED = "judged as answers"
_JournalShare = tuple[tuple[float, ...], dict[str, tuple[int, int]]]
"""Latencies of all answers in seconds, and the numbers of passed entries and of all entries by prompt variation."""


def _labels(columns: Iterable[str], *prefixes: str) -> dict[str, str]:
    """Return column labels without the prefix that the table's title repeats."""
    labels: dict[str, str] = {}
    for column in columns:
        prefix = next((prefix for prefix in prefixes if column.startswith(prefix)), "")
        short = column.removeprefix(prefix)
        labels[column] = short.replace("parallel_multiple", "par. multiple").replace("_", " ")
    return labels


class BfclLeaderboard(MeasuresJournals):
    """Leaderboard rules with the columns of all official tables."""

    columns: tuple[str, ...] = (
        *("overall", "non_live", "simple", *names.NON_LIVE[:6], "live", *names.LIVE[:4]),
        *("multi_turn", *names.MULTI_TURN, "agentic", "web_search", *names.WEB_SEARCH, "memory", *names.MEMORY),
        *("relevance", "all_irrelevance", "irrelevance", "live_irrelevance", *_FORMATS, *_SPENT),
    )
    sums: tuple[str, ...] = (*("overall", "non_live", "live", "multi_turn", "agentic", "relevance", "all_irrelevance"),)
    details: tuple[DetailTable, ...] = (
        DetailTable("non live", _labels(("simple", *names.NON_LIVE[:6]), "simple_")),
        DetailTable("live", _labels(names.LIVE[:4], "live_")),
        DetailTable("multi turn", _labels(names.MULTI_TURN, "multi_turn_")),
        DetailTable(
            "agentic",
            _labels(("web_search", *names.WEB_SEARCH, "memory", *names.MEMORY), "web_search_", "memory_"),
        ),
        DetailTable("relevance", _labels(("relevance", "irrelevance", "live_irrelevance"))),
        DetailTable("formats", _labels(_FORMATS, "format_")),
        DetailTable("spent", {column: _HEADINGS[column] for column in _SPENT}),
    )
    headings: Mapping[str, str] = _HEADINGS

    def misfit(self, categories: Collection[str]) -> str:
        """Require exactly the official categories of the overall score."""
        if any(category not in names.ALL for category in categories):
            return "the suite has unofficial categories"
        needed = PARTS["overall"]
        present = sum(category in categories for category in needed)
        return (
            ""
            if present == len(needed)
            else f"the official score needs {len(needed)} categories, this suite has {present}"
        )

    def counts(self, category: str) -> bool:
        return not names.is_prerequisite(category)

    def cells(self, played: Played) -> dict[str, Cell]:
        tallies, cases = played.tallies, played.cases
        cells = {name: _category_cell(name, tally, cases.get(name, 0)) for name, tally in tallies.items()}

        def accuracy_of(category: str) -> Accuracy:
            cell = cells.get(category)
            if cell is None or cell.value is None:
                return Accuracy(0.0, cases.get(category, 0), is_known=False)
            return Accuracy(cell.value, cell.cases)

        sums: dict[str, Cell] = {}
        whole = {name for name, cell in cells.items() if cell.value is not None and not cell.is_incomplete}
        intervals = {name: cell_interval(cell) for name, cell in cells.items() if cell.value is not None}
        for name, part in Standing(accuracy_of).sums.items():
            played_parts = [category for category in PARTS[name] if category in cells]
            column = _COLUMN_OF.get(name, name)
            if not part.is_known:
                sums[column] = Cell(None, note=missing(name, intervals)) if played_parts else MISSING
                continue
            failed = _failed_words(sum(tallies[category].broken for category in played_parts))
            note = "; ".join(filter(None, (gaps(name, whole), failed)))
            sums[column] = interval_cell(interval(name, accuracy_of, intervals), note=note)
        formats = cells.get(names.FORMAT_SENSITIVITY, MISSING).note or NOT_PLAYED
        return sums | cells | {"cost_usd": _cost_cell(played)} | dict.fromkeys(_FORMATS, Cell(None, note=formats))

    def remarks(self, cells: Mapping[str, Cell]) -> list[str]:
        """Return notes on missing categories of Overall, and on failed inferences."""
        first, _, failed = cells["overall"].note.partition("; ")
        if first.endswith(_JUDGED):
            first, failed = "", first
        remarks = [f"overall: {first}"] if first else []
        holding = [name for name in cells if name in names.ALL and cells[name].note.endswith(_JUDGED)]
        if failed or holding:
            listed = ", ".join(self.headings.get(name, name.replace("_", " ")) for name in holding)
            remarks.append(f"{failed or f'failed inferences {_JUDGED}'}: {listed}")
        return remarks

    def measure(self, records: Iterable[AnyRecord]) -> _JournalShare:
        """Collect latencies and counts by prompt variation, without prerequisites of memory."""
        latencies: list[float] = []
        passed_by_key: dict[Key, bool] = {}
        for record in records:
            if isinstance(record, Asked) and record.role == "model" and not names.is_prerequisite(record.key.case):
                latencies.append(record.reply.latency_s)
            elif isinstance(record, Finished) and record.key.case.startswith(names.FORMAT_SENSITIVITY):
                key = Key(record.key.case, record.key.rollout)
                passed_by_key[key] = record.verdict.outcome is Outcome.PASSED
        variations: dict[str, tuple[int, int]] = {}
        for key, passed in passed_by_key.items():
            variation = key.case.split(":")[1]
            right, count = variations.get(variation, (0, 0))
            variations[variation] = right + passed, count + 1
        return tuple(latency for latency in latencies if latency), variations

    def combine(self, measured: Sequence[_JournalShare]) -> dict[str, float]:
        """Return mean, standard deviation and 95th percentile of latencies in seconds, and the format spread in %."""
        counts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for _, variations in measured:
            for name, count in variations.items():
                counts[name].append(count)
        latencies = [latency for journal, _ in measured for latency in journal]
        figures = latency_figures(latencies)
        columns: dict[str, float] = dict(zip(_LATENCIES, figures, strict=True)) if figures else {}
        if counts:
            shares = {
                name: sum(right for right, _ in parts) / sum(count for _, count in parts)
                for name, parts in counts.items()
            }
            over = spread(shares)
            columns |= zip(_FORMATS, (over["accuracy_max_delta"], over["accuracy_std"]), strict=True)
        return columns


BFCL_LEADERBOARD = BfclLeaderboard()


def official_sample(category: str, tally: Tally) -> Sample:
    """Return the sample as counted by the official scorer, which scores failed inferences as answers.

    They pass if no call was expected, and otherwise fail; undecided rollouts fail. A tally does not record the cases of
    such rollouts, so with repeats they are rounded up to whole cases.
    """
    graded, times = tally.sample, max(tally.cases, default=1)
    broken, undecided = _whole_cases(tally.broken, times), _whole_cases(tally.undecided, times)
    right = float("irrelevance" in category)
    failed = (Cluster(1, right, broken), Cluster(1, 0.0, undecided))
    count = graded.rollouts + tally.broken + tally.undecided
    return Sample((*graded.clusters, *(cluster for cluster in failed if cluster.times)), count)


def _whole_cases(rollouts: int, times: int) -> int:
    return -(-rollouts // times)


def _category_cell(name: str, tally: Tally, cases: int) -> Cell:
    return rate_cell(official_sample(name, tally), cases, _failed_words(tally.broken))


def _cost_cell(played: Played) -> Cell:
    if played.simulated or any(tally.cost_unknown for tally in played.tallies.values()):
        return MISSING
    return Cell(math.fsum(tally.cost_usd for tally in played.tallies.values()), unit="plain")


def _failed_words(failed: int) -> str:
    """Return a note on the number of failed inferences, or an empty string."""
    return f"{failed} failed {'inference' if failed == 1 else 'inferences'} {_JUDGED}" if failed else ""
