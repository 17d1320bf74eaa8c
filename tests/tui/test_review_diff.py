"""Expected beside actual keeps to its width, keeps the difference in sight, and shows foreign text as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.core.ascii_text import to_ascii
from console.core.comparison import Comparison, Mark, Pair, Row
from console.tui.render.diff import (
    Equal,
    Layout,
    Style,
    fitting,
    heading,
    hides_equal,
    pair_lines,
    turn_strip,
    turns_of,
)
from console.tui.symbols import SYMBOLS, bar, spark

PAIR = Pair(
    Mark.DIFFERS,
    "get_current_weather",
    "get_current_weather",
    (
        Row(Mark.SAME, "location", ("'Chicago, IL'", "'Chicago'"), "'Chicago, IL'"),
        Row(Mark.DIFFERS, "unit", ("'fahrenheit'",), "'imperial'", "not allowed", decisive=True),
        Row(Mark.OMITTED, "days", ("1", "2"), None, optional=True),
        Row(Mark.EXTRA, "lang", (), "'en'", "not in schema"),
    ),
)


def drawn(pairs: list[Pair], width: int = 80, **style) -> list[str]:
    return [line.plain.rstrip() for line in pair_lines(pairs, width, Style(**style))]


def test_side_by_side():
    assert heading(80, Style())[0].plain.split() == ["EXPECTED", "│", "ACTUAL"]
    assert drawn([PAIR]) == [
        " = get_current_weather                   │ get_current_weather",
        " =   location  'Chicago, IL' | 'Chicago' │   location  'Chicago, IL'",
        "▌≠   unit      'fahrenheit'              │   unit      'imperial'",
        "               not allowed               │",
        " ·   days      1 | 2  (may be left out)  │             —",
        " +   lang                                │   lang      'en'",
        "               not in schema             │",
    ]


def test_a_long_call_is_cut_before_its_last_argument():
    call = "assert_data_refueling_amount(customer_id='C1001', line_id='L1002', expected_amount=2.0) is True"
    assert drawn([Pair(Mark.DIFFERS, call, "does not hold", kind="check")]) == [
        " ≠ assert_data_refueling_amount(         │ does not hold",
        "     customer_id='C1001',                │",
        "     …expected_amount=2.0) is True       │",
    ]
    ending = f"amounts=[{', '.join(['2.0'] * 60)}], total=120.0)"
    for pair in (Pair(Mark.SAME, f"pay({ending}", f"pay({ending}"), Pair(Mark.MISSING, f"pay({ending}")):
        for layout in (Layout.SIDES, Layout.STACKED):
            shown = drawn([pair], layout=layout)
            assert shown[2].endswith(" total=120.0)")
            assert len(drawn([pair], layout=layout, wrap=True)) > len(shown)


def test_signs_of_blame_are_neither_expected_nor_actual():
    signs = [
        Pair(Mark.OMITTED, "blame: agent", "by these signs", kind="blame"),
        Pair(Mark.OMITTED, "agent: missing write", "refuel_data is not done", kind="blame"),
    ]
    for layout in Layout:
        assert drawn(signs, layout=layout) == [
            " · blame: agent  by these signs",
            " · agent: missing write  refuel_data is not done",
        ]


def test_a_value_is_wrapped_beside_its_name_and_below_a_long_one():
    ids = '["1151293680", "4983901480"]'
    rows = (Row(Mark.DIFFERS, "item_ids", (ids,), "[]"), Row(Mark.DIFFERS, "line_items[0].description", (ids,), "null"))
    assert drawn([Pair(Mark.DIFFERS, "orders", "orders", rows, kind="state")], 70)[1:] == [
        ' ≠   item_ids  ["1151293680",       │   item_ids  []',
        '               "4983901480"]        │',
        " ≠   line_items[0].description",
        '         ["1151293680",             │       null',
        '         "4983901480"]              │',
    ]


def test_what_agrees_can_be_folded():
    lines = drawn([PAIR], equal=Equal.HIDDEN)
    assert "2 equal (x)" in lines[-1]
    assert not any("location" in line for line in lines)


def test_too_narrow_for_two_sides_means_stacked():
    """A pane of 70 cells has room for 66 cells of text."""
    assert fitting(Layout.SIDES, 65) is Layout.STACKED
    assert fitting(Layout.SIDES, 66) is Layout.SIDES
    lines = drawn([PAIR], 50)
    assert heading(50, Style()) == []
    assert "  both      'Chicago, IL'" in "\n".join(lines)
    assert "  expected  'fahrenheit'" in "\n".join(lines)
    assert "  actual    'imperial'" in "\n".join(lines)


def test_changed_lines():
    lines = drawn([PAIR], layout=Layout.CHANGES)
    assert "−   unit = 'fahrenheit'" in lines
    assert "+   unit = 'imperial'" in lines
    assert "  get_current_weather" in lines


def test_a_late_difference_is_kept_in_sight_unless_wrapped():
    same = "q" * 300
    pair = Pair(Mark.DIFFERS, "f", "f", (Row(Mark.DIFFERS, "text", (same + "LEFT",), same + "RIGHT"),))
    row = drawn([pair])[1]
    assert "LEFT" in row
    assert "RIGHT" in row
    wrapped = "".join(drawn([pair], wrap=True))
    assert wrapped.count("q") == 600


ORDERS = [
    Pair(
        Mark.DIFFERS, "save", "save",
        (Row(Mark.DIFFERS, "orders", ("{'W1': {'status': 'pending', 'items': [1, 2]}, 'W2': 1}",),
             "{'W1': {'status': 'cancelled', 'items': [1, 2]}, 'W2': 1, 'W3': {'id': 3}}", decisive=True),),
    )
]  # fmt: skip


def test_big_values_show_the_paths_that_differ():
    assert drawn(ORDERS) == [
        " = save                                  │ save",
        "▌≠   orders.W1.status  'pending'         │   orders.W1.status  'cancelled'",
        "▌+   orders.W3                           │   orders.W3         {id: 3}",
        " =   3 other paths are equal (x)",
    ]
    shown = drawn(ORDERS, equal=Equal.SHOWN)
    assert " =   orders.W1.items[0]  1               │   orders.W1.items[0]  1" in [
        line.replace("▌", " ") for line in shown
    ]
    assert not any("(x)" in line for line in shown)
    assert hides_equal(ORDERS, Style())
    assert not hides_equal(ORDERS, Style(equal=Equal.SHOWN))
    assert any("orders.W1.status" in line for line in drawn(ORDERS, 60))


def test_a_long_text_is_shown_around_the_words_that_differ():
    text = "Please call the shop in the morning and ask whether the blue lamp is still there. " * 5
    row = Row(Mark.DIFFERS, "note", (text,), text.replace("blue", "red", 1))
    for lines in (
        drawn([Pair(Mark.DIFFERS, "f", "f", (row,))], 100),
        drawn([Pair(Mark.DIFFERS, text, row.actual or "")], 100),
    ):
        whole = " ".join(lines)
        assert "blue" in whole
        assert "red" in whole
        assert "characters equal" in whole
        assert len(lines) < 6


def test_turns():
    pairs = (Pair(Mark.SAME, "a", "a", turn=0), Pair(Mark.MISSING, "b", "", turn=2), Pair(Mark.SAME, "c", "c", turn=2))
    comparison = Comparison("", pairs)
    assert [(turn, len(found)) for turn, found in turns_of(comparison)] == [(0, 1), (2, 2)]
    assert turn_strip(comparison).plain.startswith("turn  1 ✓   3 ✗")
    assert not turn_strip(Comparison("", pairs[:1]))


def test_plain_signs(monkeypatch):
    for name, sign in (("is_ascii", True), ("cut", "~")):
        monkeypatch.setattr(SYMBOLS, name, sign)
    lines = [to_ascii(line) for line in drawn([PAIR])]
    assert lines[2].startswith(">#   unit")
    assert "|   unit" in lines[2]
    assert all(line.isascii() for line in lines[:4])
    assert (bar(0.5, 8), spark([0.0, 1.0], 5)) == ("####", "_#")


TEXT = st.text(max_size=60)
ROW = st.builds(
    Row, st.sampled_from(Mark), TEXT, st.lists(TEXT, max_size=3).map(tuple), st.none() | TEXT, TEXT,
    st.booleans(), st.booleans(),
)  # fmt: skip
PAIRS = st.lists(
    st.builds(Pair, st.sampled_from(Mark), TEXT, TEXT, st.lists(ROW, max_size=4).map(tuple), TEXT), max_size=3
)


@example([Pair(Mark.SAME, "", "", (Row(Mark.SAME, "", (), "000 000 000"), Row(Mark.SAME, "0" * 25)))],
         70, Layout.SIDES, False, Equal.USUAL)  # fmt: skip
@given(PAIRS, st.integers(40, 160), st.sampled_from(Layout), st.booleans(), st.sampled_from(Equal))
def test_no_line_is_wider_than_the_pane_and_none_holds_a_control_character(pairs, width, layout, wrap, equal):
    for line in pair_lines(pairs, width, Style(layout, wrap, equal)):
        assert line.cell_length <= width
        assert not any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in line.plain)


@pytest.mark.parametrize("layout", Layout)
def test_ten_megabytes_are_cut(layout):
    huge = "a" * 10_000_000
    pair = Pair(Mark.DIFFERS, huge, huge, (Row(Mark.DIFFERS, huge, (huge,), huge + "b", huge),))
    lines = pair_lines([pair], 80, Style(layout))
    assert sum(len(line) for line in lines) < 20_000
