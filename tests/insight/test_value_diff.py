"""Big values path by path, and long texts around what differs."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.core.comparison import Mark, Pair, Row
from console.insight.value_diff import structured, structured_together, value_rows
from console.insight.word_diff import Part, differing_passages

_SCALARS = st.none() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)
_WORLDS = st.dictionaries(st.text(max_size=3), _VALUES, max_size=5).map(
    lambda members: {"padding": "x" * 30, **members}
)
QUIET = (Mark.SAME, Mark.OMITTED)


def shown(rows: tuple[Row, ...] | None) -> list[str]:
    """Write the rows that differ as `mark path expected > actual`."""
    return [
        f"{row.mark} {row.name} {' | '.join(row.expected) or '–'} > {row.actual or '–'}"
        for row in rows or ()
        if row.mark not in QUIET
    ]


def test_only_the_paths_that_differ_are_said() -> None:
    order = {"W1": {"status": "pending", "reason": "ordered by mistake", "items": [1, 2]}, "W2": {"status": "sent"}}
    other = {"W1": {"status": "cancelled", "items": [1, 2], "at": "now"}, "W2": {"status": "sent"}}
    rows = value_rows(json.dumps({"orders": order, "refunds": []}), repr({"orders": other, "refunds": [{"id": 7}]}))
    assert shown(rows) == [
        "≠ orders.W1.status 'pending' > 'cancelled'",
        "− orders.W1.reason 'ordered by mistake' > –",
        "+ orders.W1.at – > 'now'",
        "+ refunds[0] – > {id: 7}",
    ]
    assert sum(row.mark is Mark.SAME for row in rows or ()) == 3


def test_runs_are_compared_by_the_paths_in_which_any_of_them_differs() -> None:
    def world(**more: str) -> str:
        return repr({"W1": {"status": "pending", "by": "mistake", "to": "Graz"}, "note": "as it was before"} | more)

    wanted = (world(),)
    differs = Pair(
        Mark.SAME, "state", "state", (Row(Mark.DIFFERS, "orders", wanted, world(note="other")),), kind="state"
    )
    equal = Pair(Mark.SAME, "state", "state", (Row(Mark.SAME, "orders", wanted, world()),), kind="state")
    extra = Pair(Mark.SAME, "state", "state", (Row(Mark.DIFFERS, "orders", wanted, world(new="x")),), kind="state")
    made = structured_together([differs, None, equal, extra])
    rows = [[f"{row.mark} {row.name} {row.actual or '–'}" for row in pair.rows] if pair else [] for pair in made]
    assert rows == [
        ["≠ orders.note 'other'", "= orders.new –", "= 3 other paths –"],
        [],
        ["= orders.note 'as it was before'", "= orders.new –", "= 3 other paths –"],
        ["= orders.note 'as it was before'", "+ orders.new 'x'", "= 3 other paths –"],
    ]
    short = Pair(Mark.SAME, "f", "f", (Row(Mark.DIFFERS, "n", ("1",), "2"),))
    assert structured_together([short, short]) == [short, short]


def test_an_item_taken_out_of_a_list_does_not_shift_the_others() -> None:
    rows = value_rows("['first item', 'second item', 'third item']", "['second item', 'third item']")
    assert shown(rows) == ["− [0] 'first item' > –"]


def test_alternatives_and_optional_keys_of_call_checkers_are_understood() -> None:
    expected = "{'unit'?: 'celsius' | 'C', 'place': 'Berlin, Germany' | 'Berlin', 'days': 1 | 2}"
    assert shown(value_rows(expected, "{'place': 'berlin', 'days': 3}", is_lenient=True)) == ["≠ days 1 | 2 > 3"]
    assert shown(value_rows(expected, "{'place': 'berlin', 'days': 2}", is_lenient=True)) == [
        "≠ place 'Berlin, Germany' | 'Berlin' > 'berlin'"
    ]


def test_a_row_of_a_call_becomes_one_row_for_each_path() -> None:
    short = Row(Mark.DIFFERS, "n", ("[1]",), "[2]")
    big = Row(
        Mark.DIFFERS, "to", ("{'city': 'Lima', 'street': 'Main Street 12', 'no': 3}",),
        "{'city': 'Rome', 'street': 'Main Street 12', 'no': '3'}", note="a value is not allowed", decisive=True,
    )  # fmt: skip
    pair = Pair(Mark.DIFFERS, "book", "book", (short, big))
    expanded = structured(pair)
    assert [(row.mark, row.name, row.note, row.decisive) for row in expanded.pair.rows] == [
        (Mark.DIFFERS, "n", "", False),
        (Mark.DIFFERS, "to.city", "a value is not allowed", True),
        (Mark.WRONG_TYPE, "to.no", "", True),
    ]
    assert expanded.equal == 1
    assert [row.name for row in structured(pair, with_equal=True).pair.rows] == ["n", "to.city", "to.street", "to.no"]


def test_a_whole_answer_is_compared_too_and_a_text_is_left_alone() -> None:
    answer = structured(
        Pair(Mark.DIFFERS, '{"a": 1, "b": "long enough to be big"}', '{"a": 2, "b": "long enough to be big"}')
    )
    assert (answer.pair.expected, answer.pair.actual, answer.equal) == ("2 paths", "1 differs", 1)
    assert [row.name for row in answer.pair.rows] == ["a"]
    text = Pair(Mark.DIFFERS, "a sentence that is long enough to be big", "another sentence, as long as that one")
    assert structured(text).pair is text


@given(_WORLDS, _WORLDS)
def test_equal_values_have_no_differing_path_and_others_have_one(left: dict[str, Any], right: dict[str, Any]) -> None:
    for write in (json.dumps, repr):
        rows = value_rows(write(left), write(right))
        assert (rows is None) == (left == right)
        assert value_rows(write(left), write(left)) is None


def whole(parts: tuple[Part, ...]) -> int:
    return sum(len(part.text) + part.omitted for part in parts)


def test_a_long_text_is_shown_around_what_differs() -> None:
    left = " ".join(f"word{n}" for n in range(300))
    found = differing_passages(left, left.replace("word150 ", "other "), around=2)
    assert [part.text or part.omitted for part in found.right] == [
        len(" ".join(f"word{n}" for n in range(148))), " word148 word149", " other", " word151 word152",
        len(left) - left.index(" word153"),
    ]  # fmt: skip
    assert [part.text for part in found.left if part.differs] == [" word150"]


_SOURCES = [
    "{" * 500,
    "[" * 5000,
    "{'a': " * 90 + "1" + "}" * 90,
    "{**x}",
    "{1: open}",
    "{1: [2]}",
    "{1: [[3], 2]}",
    "[[]]",
]
_TEXTS = st.text() | st.lists(st.sampled_from(["a", "b", "the", "it"]), max_size=60).map(" ".join)


@given(st.sampled_from(_SOURCES) | _TEXTS, st.sampled_from(_SOURCES) | _TEXTS)
def test_no_source_breaks_it_and_rows_that_are_returned_differ(left: str, right: str) -> None:
    rows = value_rows(left + " " * 40, right)
    assert rows is None or shown(rows)


@given(_TEXTS, _TEXTS)
def test_passages_and_what_is_left_out_make_the_whole_text(left: str, right: str) -> None:
    found = differing_passages(left, right)
    assert (whole(found.left), whole(found.right)) == (len(left), len(right))
    assert any(part.differs for part in (*found.left, *found.right)) == (left != right)
    assert not any(part.omitted and part.differs for part in (*found.left, *found.right))
