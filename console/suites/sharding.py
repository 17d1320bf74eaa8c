"""Deterministic shards of a plan for independent machines.

Cases that depend on one another stay together. The groups, largest first and then by digest, go to the shard with the
fewest cases so far, which keeps shards as even as the groups allow.
"""

import hashlib
import heapq
from collections.abc import Iterable, Sequence

from console.core.case import Case
from console.core.fault import UsageError
from console.core.run import Shard


def read_shard(text: str) -> Shard:
    """Parse `K/N`.

    Raises:
        UsageError: not of this form, or no such shard.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
        raise UsageError(f"{text!r} is not of the form K/N", where="--shard", hint="Write 3/16 for the 3rd of 16.")
    shard = Shard(int(number), int(of))
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"there is no shard {text}", where="--shard", hint=f"The first is 1, the last {shard.of}.")
    return shard


def part_of(cases: Sequence[Case], shard: Shard) -> list[Case]:
    """Return the cases of one shard, in order.

    Raises:
        UsageError: the shard is empty, as there are fewer groups of cases than shards.
    """
    groups = sorted(linked_groups(cases), key=lambda ids: (-len(ids), _digest(min(ids))))
    parts = [(0, number) for number in range(1, shard.of + 1)]
    own: set[str] = set()
    for ids in groups:
        size, number = parts[0]
        heapq.heapreplace(parts, (size + len(ids), number))
        if number == shard.number:
            own.update(ids)
    if not own:
        raise UsageError(
            f"shard {shard} is empty: the selection has only {len(groups)} independent groups of cases",
            where="--shard",
            hint=f"Use at most {len(groups)} shards.",
        )
    return [case for case in cases if case.id in own]


def linked_groups(cases: Iterable[Case]) -> list[list[str]]:
    """Return the ids of cases grouped by dependency, direct or indirect; unselected cases are ignored.

    A disjoint-set forest: every group has a root that is reached from its members.
    """
    leads_to = {case.id: case.id for case in cases}

    def root(case_id: str) -> str:
        while (parent := leads_to[case_id]) != case_id:
            leads_to[case_id] = leads_to[parent]
            case_id = parent
        return case_id

    for case in cases:
        for need in case.depends_on:
            if need in leads_to:
                leads_to[root(need)] = root(case.id)
    groups: dict[str, list[str]] = {}
    for case in cases:
        groups.setdefault(root(case.id), []).append(case.id)
    return list(groups.values())


def _digest(case_id: str) -> bytes:
    return hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).digest()
