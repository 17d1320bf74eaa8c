"""Parts of a plan: every case in exactly one, chains whole, the same everywhere, and about equally many."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.case import Case
from console.core.fault import UsageError
from console.core.run import Shard
from console.suites.sharding import part_of, read_shard


@st.composite
def plans(draw: st.DrawFn) -> list[Case]:
    count = draw(st.integers(1, 40))
    cases: list[Case] = []
    for number in range(count):
        needs = draw(st.lists(st.integers(0, max(0, number - 1)), max_size=2)) if number else []
        cases.append(Case(f"c{number}", "x", depends_on=tuple(f"c{need}" for need in needs)))
    return draw(st.permutations(cases))


def parts(cases: list[Case], of: int) -> list[list[Case]]:
    made: list[list[Case]] = []
    for number in range(1, of + 1):
        try:
            made.append(part_of(cases, Shard(number, of)))
        except UsageError:
            made.append([])
    return made


@given(plans(), st.integers(1, 9))
def test_every_case_is_in_one_part_with_all_that_it_depends_on(cases, of):
    made = parts(cases, of)
    assert sorted(case.id for part in made for case in part) == sorted(case.id for case in cases)
    for part in made:
        ids = {case.id for case in part}
        assert all(need in ids for case in part for need in case.depends_on)
        assert part == [case for case in cases if case.id in ids]


@given(plans(), st.integers(1, 9), st.randoms())
def test_the_order_of_the_cases_changes_no_part(cases, of, random):
    shuffled = random.sample(cases, len(cases))
    assert [{c.id for c in part} for part in parts(cases, of)] == [{c.id for c in part} for part in parts(shuffled, of)]


def test_parts_of_single_cases_differ_by_at_most_one():
    sizes = [len(part) for part in parts([Case(f"c{n}", "x") for n in range(50)], 16)]
    assert set(sizes) == {3, 4}


def test_parts_are_the_same_in_processes_with_other_hash_seeds():
    program = (
        "from console.core.case import Case; from console.core.run import Shard; "
        "from console.suites.sharding import part_of; "
        "print([c.id for c in part_of([Case(f'c{n}', 'x') for n in range(30)], Shard(2, 4))])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."}, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert b"c" in printed.pop()


@pytest.mark.parametrize("text", ["3", "0/4", "5/4", "a/b", "1/", "-1/4", "1/0", "²/4", ""])
def test_what_is_no_part_is_refused(text):
    with pytest.raises(UsageError) as refused:
        read_shard(text)
    assert "--shard" in str(refused.value)


def test_an_empty_part_is_refused_with_how_many_there_can_be():
    with pytest.raises(UsageError, match="at most 2 shards"):
        part_of([Case("a", "x"), Case("b", "x")], Shard(3, 3))
