"""The columns of a run's endings hold what a dictionary of records would."""

from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Key, Slot
from console.core.endings import Endings
from console.core.outcome import Outcome, Verdict
from console.core.ranges import LARGEST_COUNT
from console.core.record import Finished
from console.core.tally import Ended

COUNT = st.integers(0, LARGEST_COUNT)
AMOUNT = st.floats(0, 1e12)
WORD = st.sampled_from(["", "length", "m-1"])
ENDING = st.builds(
    Finished,
    at=AMOUNT,
    key=st.builds(Key, st.sampled_from("abc"), st.integers(0, 4), st.integers(1, LARGEST_COUNT)),
    verdict=st.sampled_from([Verdict(Outcome.PASSED), Verdict(Outcome.FAILED, "x", scores={"s": 0.5})]),
    seconds=AMOUNT,
    input_tokens=COUNT,
    output_tokens=COUNT,
    cost_usd=st.none() | AMOUNT,
    calls=COUNT,
    cut=WORD,
    model=WORD,
    server=WORD,
    written=WORD,
)


@given(st.lists(st.tuples(ENDING, st.booleans())), st.integers(1, 5))
def test_columns_equal_a_dictionary(changes: list[tuple[Finished, bool]], rollouts: int) -> None:
    expected, kept = dict[Slot, Ended](), Endings(rollouts)
    for ended, is_removed in changes:
        slot = (ended.key.case, ended.key.rollout)
        if is_removed:
            assert kept.pop(slot, None) == expected.pop(slot, None)
        else:
            kept[slot] = expected[slot] = ended
        assert len(kept) == len(expected)
        assert kept.get(slot) == expected.get(slot)
    assert dict(kept) == expected
