"""Sentences about the servers of a run: model name, provider, fingerprint. Pure; parts are untrusted text."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from console.core.names import first_few

_MOST = 4
"""Maximum number of names listed."""


class Served(Protocol):
    """Counts of a run's rollouts: a `Summary`, or the fold of a run's records."""

    @property
    def served(self) -> Mapping[str, int]: ...
    @property
    def servers(self) -> Mapping[str, int]: ...


def server_words(run: Served) -> str:
    """Return the servers of a run, such as `gpt-x-2026-01, fp_1`, with counts if several; empty if unknown."""
    return ", ".join(filter(None, (_counted(run.served), _counted(run.servers))))


def change_words(run: Served) -> str:
    """Return a sentence about a change of the server within a run; empty if there was none."""
    return f"served by {len(run.servers)} servers: {_counted(run.servers)}" if len(run.servers) > 1 else ""


def comparison_words(a: Served, b: Served, asked: Sequence[str]) -> str:
    """Name the servers of two runs; empty if only the names of the requested models are known."""
    if not (a.servers or b.servers) and {*a.served, *b.served} <= {*asked}:
        return ""
    words_a, words_b = server_words(a), server_words(b)
    if words_a == words_b:
        return f"both served by {words_a}"
    return f"served by A: {words_a or 'unknown'}; B: {words_b or 'unknown'}"


def trend_words(runs: Sequence[Served]) -> str:
    """Return a sentence if the newest run was served differently than the previous one; empty if not or unknown."""
    if len(runs) < 2 or not all(run.servers for run in runs[-2:]):
        return ""
    before, last = (server_words(run) for run in runs[-2:])
    return f"the last run was served by {last}; the one before by {before}" if before != last else ""


def _counted(names: Mapping[str, int]) -> str:
    if len(names) < 2:
        return next(iter(names), "")
    ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return first_few([f"{name} ({count:,})" for name, count in ordered], _MOST)
