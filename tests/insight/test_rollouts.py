"""Rollouts are the same packed or not, and saved at any moment as if read."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Case, Key
from console.core.chat import Reply, Usage
from console.core.key_numbers import KeyNumbers
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Finished, Opened, Scored, Started
from console.insight.failures import Group, GroupBy, group
from console.insight.overview import Overview
from console.insight.overview_snapshot import decode_overview, encode_overview
from console.insight.rollouts import RolloutList

KEYS = st.builds(Key, st.sampled_from("abcde"), st.integers(0, 3), st.sampled_from([1, 1, 1, 2]))
VERDICTS = st.builds(
    Verdict,
    st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.BROKEN]),
    st.sampled_from(["", "type_error:simple", "wrong"]),
    subject=st.sampled_from(["", "unit"]),
    detail=st.sampled_from([{}, {"steps": 3}]),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "ask", "score", "end", "end", "open"]), KEYS, VERDICTS), max_size=60
)


def record(at: float, kind: str, key: Key, verdict: Verdict) -> AnyRecord:
    match kind:
        case "start":
            return Started(at=at, key=key, case=Case(key.case, f"category {key.case > 'b'}", title=key.case))
        case "ask":
            return Asked(at=at, key=key, n=1, digest="", reply=Reply(f"text {at}", usage=Usage(3, 4)), messages=[])
        case "score":
            return Scored(at=at, key=key, turn=0, name="novelty", value=0.5)
        case "end":
            return Finished(at=at, key=key, verdict=verdict, output=[{"call": {}}], seconds=at)
        case _:
            return Opened(at=at, pid=1)


def facts(overview: Overview) -> list[object]:
    return [
        overview.fold, overview.rollouts, list(overview.rollouts), list(overview.running.items()),
        list(overview.failures), len(overview.fold.latest), list(overview.problems), overview.track_names,
    ]  # fmt: skip


@given(STEPS, st.data())
def test_packing_and_saving_change_nothing(steps: list[tuple[str, Key, Verdict]], data: st.DataObject) -> None:
    records = [record(float(at), *step) for at, step in enumerate(steps, 1)]
    plain = Overview()
    for each in records:
        plain.apply(each)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("console.insight.rollouts.PORTION", 2)
        saved_at, packed = data.draw(st.integers(0, len(records))), Overview()
        for each in records[:saved_at]:
            packed.apply(each)
        packed = decode_overview(encode_overview(packed))
        for each in records[saved_at:]:
            packed.apply(each)
        assert facts(packed) == facts(plain)
        again = decode_overview(encode_overview(packed))
        assert facts(again) == facts(plain)
        for by in GroupBy:
            assert outline(group(again.rollouts.all(), by)) == outline(group(list(plain.rollouts.values()), by))


def outline(groups: list[Group]) -> list[object]:
    return [
        (
            each.path,
            each.label,
            each.rank,
            each.subject,
            [*each.rollouts],
            [*each.telling],
            each.lead,
            outline(each.parts),
        )
        for each in groups
    ]


@given(st.lists(st.builds(Key, st.sampled_from("ab"), st.sampled_from([0, 1, 2, 5, 70, 10**6]), st.integers(1, 3))))
def test_keys_are_numbered_as_they_appear(keys: list[Key]) -> None:
    numbers = KeyNumbers()
    expected = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    assert [numbers.add(key.case, key.rollout, key.attempt) for key in keys] == [expected[key] for key in keys]
    restored = KeyNumbers.restored(numbers.saved())
    for each in (numbers, restored):
        assert each.keys() == list(expected)
        assert {key: each.get(key.case, key.rollout, key.attempt) for key in keys} == expected
        assert (len(each), each.get("c", 0), each.get("a", 9), each.get("a", 0, 9)) == (len(expected), -1, -1, -1)


def test_keys_that_another_thread_adds_while_they_are_listed_are_left_out() -> None:
    numbers = KeyNumbers()
    before = [Key("a", 0, 1), Key("a", 1, 1), Key("b", 0, 1), Key("b", 0, 2)]
    for key in before:
        numbers.add(key.case, key.rollout, key.attempt)

    def of_case(case: str) -> Iterator[Key]:
        for rollout in range(9):
            numbers.add(f"{case}+", rollout)
            numbers.add(case, rollout + 1)
            yield Key(case, rollout)

    def of_key(key: Key) -> Key:
        numbers.add(f"{key.case}+", key.rollout, key.attempt)
        return key

    assert numbers.in_order(of_case, of_key) == before


def test_a_list_is_sorted_by_number_and_ties_keep_their_order() -> None:
    overview = Overview()
    for at, case in enumerate("cab"):
        overview.apply(record(at, "end", Key(case), Verdict(Outcome.PASSED)))
    listed = overview.rollouts.all()
    assert [*listed.ordered(lambda rollout: rollout.key.case, reverse=False).cases()] == ["a", "b", "c"]
    assert listed.ordered(lambda rollout: 0, reverse=True) == listed
    assert [*RolloutList.of([listed[2], listed[0]]).cases()] == ["b", "c"]
