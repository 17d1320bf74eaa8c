"""The endings that an engine keeps are what a dictionary of records would hold, as far as counts need it."""

import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Key, Slot
from console.core.endings import Endings
from console.core.outcome import Outcome, Verdict
from console.core.ranges import LARGEST_COUNT
from console.core.record import Finished
from console.core.tally import Counted

WORD = st.sampled_from(["", "length", "m-1"])
ENDING = st.builds(
    Finished,
    at=st.just(1.0),
    key=st.builds(Key, st.sampled_from("abc"), st.integers(0, 4), st.integers(1, LARGEST_COUNT)),
    verdict=st.sampled_from([Verdict(Outcome.PASSED), Verdict(Outcome.FAILED, "x", scores={"s": 0.5})]),
    cut=WORD,
    model=WORD,
    server=WORD,
    written=WORD,
)


FIELDS = ("key", "verdict", "cut", "model", "server", "written")


def fields(ended: Counted | None) -> list[Any]:
    return [getattr(ended, name, None) for name in FIELDS]


@given(st.lists(st.tuples(ENDING, st.booleans())), st.integers(1, 5))
def test_endings_equal_a_dictionary(changes: list[tuple[Finished, bool]], rollouts: int) -> None:
    expected, kept = dict[Slot, Finished](), Endings(rollouts)
    for ended, is_removed in changes:
        slot = (ended.key.case, ended.key.rollout)
        if is_removed:
            assert fields(kept.pop(slot, None)) == fields(expected.pop(slot, None))
        else:
            kept[slot] = expected[slot] = ended
        assert len(kept) == len(expected)
        assert fields(kept.get(slot)) == fields(expected.get(slot))
    assert {slot: fields(ended) for slot, ended in kept.items()} == {
        slot: fields(ended) for slot, ended in expected.items()
    }


def test_a_million_endings_that_are_alike_take_eight_bytes_each() -> None:
    kept, verdict = Endings(1000), Verdict(Outcome.PASSED)
    tracemalloc.start()
    for rollout in range(1000):
        for case in "abcdefghij":
            kept[case, rollout] = Finished(1.0, Key(case, rollout), verdict, seconds=rollout / 3)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / 10_000 < 12
