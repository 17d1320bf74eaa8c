"""Parts of a plan for machines that know nothing of each other: the same cases in, the same parts out, everywhere.

Cases that depend on one another stay together. Parts differ by as few cases as such groups allow: groups go, largest
first and among equals by digest, to the part that has fewest cases so far.
"""

import hashlib
import heapq
from collections.abc import Iterable, Sequence

from console.core.case import Case
from console.core.fault import UsageError
from console.core.run import Shard


def read_shard(text: str) -> Shard:
    """Read `K/N`.

    Raises:
        UsageError: it is not of that form, or there is no such part.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
        raise UsageError(f"{text!r} is not of the form K/N", where="--shard", hint="Write 3/16 for the 3rd of 16.")
    shard = Shard(int(number), int(of))
    if not 1 <= shard.number <= shard.of:
        raise UsageError(f"there is no part {text}", where="--shard", hint=f"The first is 1, the last {shard.of}.")
    return shard


def part_of(cases: Sequence[Case], shard: Shard) -> list[Case]:
    """Return the cases of one part, in their order.

    Raises:
        UsageError: there are fewer groups of cases than parts, and this part has none.
    """
    groups = sorted(_groups(cases), key=lambda ids: (-len(ids), _digest(min(ids))))
    parts = [(0, number) for number in range(1, shard.of + 1)]
    own: set[str] = set()
    for ids in groups:
        size, number = parts[0]
        heapq.heapreplace(parts, (size + len(ids), number))
        if number == shard.number:
            own.update(ids)
    if not own:
        raise UsageError(
            f"part {shard} is empty: the selection has {len(groups)} cases or chains of cases that can be run apart",
            where="--shard",
            hint=f"Take at most {len(groups)} parts.",
        )
    return [case for case in cases if case.id in own]


def _groups(cases: Iterable[Case]) -> list[list[str]]:
    """Return the ids of cases that depend on one another, directly or through others; what is not selected binds none.

    Every group has a root, which its members lead to (a disjoint-set forest).
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
