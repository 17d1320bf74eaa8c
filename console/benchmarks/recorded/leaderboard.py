"""Leaderboard of judged pairs: the Bradley–Terry strength of each model, from all runs judged alike."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from console.benchmarks.recorded.rules.report import AT_EQUAL_LENGTH, duel_of
from console.core.case import Setting, Slot
from console.core.outcome import Verdict
from console.core.record import AnyRecord, Finished
from console.core.statistics.bradley_terry import Duel, strengths
from console.core.statistics.intervals import bounded_interval
from console.core.statistics.sample import Observation, sample_of
from console.suites.judging.rubric import WIN_RATE
from console.suites.leaderboard import AnyCategories, Cell, DetailTable, Played, interval_cell

STRENGTH = "strength"


class PairwiseRanking(AnyCategories):
    """Ranking by strength."""

    columns: tuple[str, ...] = (STRENGTH, AT_EQUAL_LENGTH, WIN_RATE)
    sums: tuple[str, ...] = ()
    details: tuple[DetailTable, ...] = ()
    headings: Mapping[str, str] = {}
    score = WIN_RATE
    legend = ""

    def cells(self, played: Played) -> dict[str, Cell]:
        """Return nothing, as all numbers are measured from journals."""
        del played
        return {}

    def players(self, setting: Setting) -> Sequence[str]:
        """Return the display names of a run's players."""
        return [str(name) for name in setting.options.get("names", ())]

    def measure(self, records: Iterable[AnyRecord]) -> list[Verdict]:
        """Return the verdicts on all pairs of a run."""
        latest: dict[Slot, Verdict] = {
            record.key.slot: record.verdict for record in records if isinstance(record, Finished)
        }
        return list(latest.values())

    def cells_of_players(
        self, measured: Sequence[tuple[Sequence[str], Sequence[Verdict]]]
    ) -> dict[str, dict[str, Cell]]:
        """Return the cells of each player, from the players and verdicts of each run."""
        names = list(dict.fromkeys(name for players, _ in measured for name in players))
        duels = [
            duel
            for players, verdicts in measured
            for verdict in verdicts
            if (duel := duel_of(verdict, [names.index(name) for name in players], verdict.detail.get("cluster", "")))
        ]
        cells: dict[str, dict[str, Cell]] = defaultdict(dict)
        for column, has_length in ((STRENGTH, False), (AT_EQUAL_LENGTH, True)):
            fitted = strengths(duels, len(names), length_control=has_length)
            for name, interval in zip(names, fitted.players if fitted is not None else (), strict=False):
                cells[name][column] = interval_cell(interval, unit="mean")
        for number, name in enumerate(names):
            interval = bounded_interval(sample_of(_results_of(number, duels)), 0.0, 1.0)
            if interval is not None:
                cells[name][WIN_RATE] = interval_cell(interval)
        return cells


def _results_of(player: int, duels: Iterable[Duel]) -> Iterable[Observation]:
    """Yield the results of a player, by prompt."""
    for duel in duels:
        if player in (duel.first, duel.second):
            yield Observation(duel.cluster, duel.won if player == duel.first else 1 - duel.won)


RANKING = PairwiseRanking()
