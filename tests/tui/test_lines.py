"""Wrapping, fitting and columns: exact to the cell."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from support.quick_rows import first_quick
from textual.content import Content

from console.core.case import Key
from console.tui.render import lines
from console.tui.render.block import Block
from console.tui.render.columns import Column, LongIds, column_widths, row
from console.tui.sanitize import literal

TEXT = st.text(st.sampled_from("ab  c漢e\u0301👩‍👧x—"), max_size=200)


@given(TEXT, st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text: str, width: int) -> None:
    cuts = lines.wrap(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end in cuts)
    assert all(after - before in (0, 1) for (_, before), (after, _) in pairwise(cuts))
    assert all(text[before] == " " for (_, before), (after, _) in pairwise(cuts) if after > before)
    assert cuts[0][0] == 0
    assert cuts[-1][1] == len(text)


def test_words_stay_whole_where_they_can() -> None:
    text = "a wordless verylongword end"
    assert [text[a:b] for a, b in lines.wrap(text, 9)] == ["a", "wordless", "verylongw", "ord end"]
    text = "assert_speed(expected_speed=200, is_on=true)"
    assert [text[a:b] for a, b in lines.wrap(text, 20)] == ["assert_speed(", "expected_speed=200,", "is_on=true)"]


@given(st.lists(st.text(st.sampled_from("ab \n漢\x1b\t"), max_size=30), min_size=1, max_size=8), st.integers(6, 30))
def test_appending_is_the_same_as_knowing_it_all(parts: list[str], width: int) -> None:
    grown, whole = Block("k", text=parts[0]), Block("k", text="".join(parts))
    grown.height_at(width)
    for part in parts[1:]:
        grown.append(part)
    assert grown.height_at(width) == whole.height_at(width)
    shown = [grown.line_at(place, width).plain for place in range(grown.height_at(width))]
    assert shown == [whole.line_at(place, width).plain for place in range(whole.height_at(width))]


def test_a_block_wraps_again_at_another_width() -> None:
    block = Block("k", Content("model"), text="one two three four five")
    assert block.height_at(40) == 3
    assert block.height_at(12) == 1 + 3 + 1
    block.folded = True
    assert block.height_at(12) == 2
    assert block.line_at(0, 40, opens=True).plain.startswith("model  1 line (x)")


def test_a_very_long_line_is_cut_with_a_note() -> None:
    block = Block("k", text="x" * 9_990 + "The end?", indent=0)
    assert block.logical[0].plain.endswith("x … +5,998, e opens all … " + "x" * 992 + "The end?")
    block.height_at(80)
    block.append("y" * 10)
    block.append("z" * 5_000 + "\nnext")
    assert block.logical[0].plain.endswith("… +11,008, e opens all … " + "z" * 1_000)
    assert block.logical[1].plain == "next"


@pytest.mark.parametrize("piece", first_quick([7, 900, 3_999, 4_001, 1], 4))
def test_a_very_long_line_is_cut_alike_however_it_arrives(piece: int) -> None:
    text = "".join(f"{number} " for number in range(2_500))
    whole, grown = Block("k", text=text), Block("k", text=text[:piece])
    grown.height_at(60)
    for start in range(piece, len(text), piece):
        grown.append(text[start : start + piece])
    assert grown.logical == whole.logical
    height = whole.height_at(60)
    assert [grown.line_at(place, 60).plain for place in range(grown.height_at(60))] == [
        whole.line_at(place, 60).plain for place in range(height)
    ]


@given(TEXT, st.integers(0, 40), st.booleans())
def test_fit_is_exact(text: str, width: int, right: bool) -> None:
    assert lines.fit(literal(text), width, right=right).cell_length == width


def test_a_number_is_left_out_rather_than_cut() -> None:
    cuts = [lines.fit(Content("starter, 1,150 cases"), width).plain for width in (10, 12, 14, 15)]
    assert cuts == ["starter, …", "starter, …  ", "starter, …    ", "starter, 1,150…"]
    assert lines.fit(Content("2.5 s"), 2).plain == "2…"  # where nothing else would be left


@pytest.mark.parametrize(
    ("width", "shown"), [(20, "… the newest words  "), (14, "… newest words"), (12, "… words     "), (5, "… rds")]
)
def test_the_end_of_a_text_loses_its_beginning(width: int, shown: str) -> None:
    assert lines.fit(Content("… the newest words"), width).plain == shown


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 3)), min_size=1, max_size=6),
    st.integers(10, 160),
)
def test_columns_fill_the_row(columns: list[tuple[int, int]], total: int) -> None:
    least, shares = [width for width, _ in columns], [share for _, share in columns]
    widths = column_widths(least, shares, total, 2)
    used = sum(widths) + 2 * (len(widths) - 1)
    if sum(shares) and used >= sum(least) + 2 * (len(least) - 1):
        assert used == total or (used > total and all(w <= 4 for w, s in zip(widths, shares, strict=True) if s))
    assert all(width == least[place] for place, width in enumerate(widths) if not shares[place])


def test_a_row_leaves_out_columns_that_have_no_room() -> None:
    columns = [Column("a", 4, 1), Column("b", 4, right=True, from_width=20)]
    assert row(columns, [Content("one"), Content("2")], 12).plain == "one         "
    assert row(columns, [Content("one"), Content("2")], 20).plain == "one                2"


def test_ids_that_would_be_cut_alike_begin_where_they_differ() -> None:
    causes = ("no_sim", "bad_vpn", "data_off", "no_sim|bad_vpn", "no_sim|data_off", "bad_vpn|data_off")
    long = [f"phone_[mobile_data_issue]airplane_mode|{cause}|roaming_abroad[PERSONA:None]" for cause in causes]
    names = [*long, "phone_[sms_issue]no_sim[PERSONA:None]", "phone_7", "Which of these two answers is the better one?"]
    starts = lines.tell_apart(names, 24)
    shown = [lines.fit_name(lines.begun_at(Content(name), starts[name], 24), 24).plain for name in names]
    assert len({lines.fit_name(Content(name), 24).plain for name in names}) == 3 + 1
    assert len(set(shown)) == len(names)
    assert shown[1] == "…bad_vpn|roa…RSONA:None]"
    assert [line.rstrip() for line in shown[-2:]] == ["phone_7", "Which of these two answ…"]
    assert {cell_len(line) for line in shown} == {24}


def test_a_sign_of_folding_stays_before_ids_that_begin_where_they_differ() -> None:
    columns = [Column("case", 14, 1, is_name=True)]
    rows = [[Content(f"▸ memory_{kind}_7-of-a-very-long-customer")] for kind in ("kv", "vector", "rec_sum")]
    ids = LongIds()
    faces = (
        ids.told_apart(columns, cells, 14, place, lambda first, end: rows[first:end])
        for place, cells in enumerate(rows)
    )
    shown = {row(columns, cells, 14).plain for cells in faces}
    assert len(shown) == len(rows)
    assert all(cells.startswith("▸ …") for cells in shown)


def test_the_first_notes_of_a_title_give_way_to_its_name() -> None:
    block = Block("k", Content("assistant"), aside=Content("28 in  89 out  0.3 s  first difference"))
    for width, aside in (
        (50, "28 in  89 out  0.3 s  first difference"),
        (42, "89 out  0.3 s  first difference"),
        (27, "first difference"),
        (26, ""),
    ):
        shown = block.line_at(0, width).plain
        assert len(shown) == width
        assert shown.split() == ["assistant", *aside.split()]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (30, "web_search_base_0 attempt 2"),
        (26, "web_sear…_base_0 attempt 2"),
        (24, "web_sea…base_0 attempt 2"),
        (20, "web_search_base_0   "),
        (12, "web_se…ase_0"),
    ],
)
def test_a_retried_case_keeps_the_end_of_its_id(width: int, shown: str) -> None:
    assert lines.fit_name(Content(str(Key("web_search_base_0", 0, 2))), width).plain.rstrip() == shown.rstrip()


@pytest.mark.parametrize(
    ("words", "room", "shown"),
    [
        ("Failures  5 failed · 1 setup broken, latest first", 46, "Failures  5 failed · 1 setup broken"),
        ("5 failed · 1 setup broken · by reason", 34, "5 failed · 1 setup broken"),
        ("5 failed · 1 setup broken · by reason", 40, "5 failed · 1 setup broken · by reason"),
        ("1 match · a filter of many words that has no end", 30, "1 match · a filter of many wo…"),
    ],
)
def test_a_part_of_a_title_without_room_goes_as_a_whole(words: str, room: int, shown: str) -> None:
    assert lines.fit_parts(Content(words), room).plain == shown
