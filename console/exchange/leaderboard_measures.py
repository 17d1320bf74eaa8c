"""Leaderboard values read from journals: measured columns, and the interval of a ranking mean."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from console.core.fault import UsageError
from console.core.statistics.sample import Observation
from console.core.tally import without_rerolls
from console.exchange.run_reader import RunReader
from console.insight.leaderboard import Leaderboard, LeaderboardRow, with_interval, with_measures, with_players
from console.store.journal_file import journal_status
from console.store.journal_index import JournalIndex
from console.store.runs import RunFolder
from console.suites.leaderboard import LeaderboardRules, MeasuresJournals, RanksPlayers

_JOURNALS_KEPT = 64
"""Number of journals whose measurements are cached."""


def completed(board: Leaderboard, find_folder: Callable[[str], RunFolder]) -> Leaderboard:
    """Fill in the values from each row's journals; rows whose runs cannot be read stay unchanged.

    Args:
        board: leaderboard built from lists alone.
        find_folder: returns the folder of a run by its id; may raise `UsageError` or `KeyError`.
    """
    if isinstance(board.rules, RanksPlayers):
        return _with_players(board, board.rules, find_folder)
    for row in board.rows:
        try:
            folders = [find_folder(run) for run in row.runs]
            board = with_measures(board, row.runs, measures_of(board.rules, folders))
            board = _with_interval(board, row, folders)
        except (KeyError, UsageError, OSError):
            continue
    return board


def _with_players(board: Leaderboard, rules: RanksPlayers, find_folder: Callable[[str], RunFolder]) -> Leaderboard:
    """Fill in the values of all players; runs that cannot be read are omitted."""
    measured: list[tuple[Sequence[str], Any]] = []
    for run in dict.fromkeys(run for row in board.rows for run in row.runs):
        try:
            folder = find_folder(run)
            journal = folder.journal_path
            verdicts = _measure(rules, journal, journal_status(journal).size)
            measured.append((rules.players(folder.manifest().setting), verdicts))
        except (KeyError, UsageError, OSError):
            continue
    return with_players(board, rules.cells_of_players(measured))


def _with_interval(board: Leaderboard, row: LeaderboardRow, folders: Sequence[RunFolder]) -> Leaderboard:
    if row.headline(board).unit != "mean" or not folders:
        return board
    name = board.columns[0]
    rollouts = RunReader(folders[0]).side.rollouts.values()
    values = [
        Observation(rollout.key.case, rollout.scores[name], rollout.category, rollout.cluster)
        for rollout in rollouts
        if name in rollout.scores
    ]
    return with_interval(board, row.runs[0], values, folders[0].manifest().headline_scale)


def measures_of(rules: LeaderboardRules, folders: Sequence[RunFolder]) -> dict[str, float]:
    """Return the columns measured from journals; empty if the rules have none.

    Raises:
        OSError: a journal cannot be read.
    """
    if not isinstance(rules, MeasuresJournals):
        return {}
    journals = [folder.journal_path for folder in folders]
    try:
        return rules.combine([_measure(rules, journal, journal_status(journal).size) for journal in journals])
    except OSError:
        raise
    except Exception:  # suites of other packages may raise anything; their columns stay empty
        return {}


@lru_cache(maxsize=_JOURNALS_KEPT)
def _measure(rules: MeasuresJournals | RanksPlayers, journal: Path, size: int) -> Any:
    """Measure a journal, cached until it grows."""
    del size
    return rules.measure(without_rerolls(JournalIndex(journal).iter_all()))
