"""The one door for foreign text, and the last net behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from support.quick_rows import first_size
from textual.color import Color

from console.tui.sanitize import LINE_LIMIT, ControlCharacterFilter, literal, one_line, plain_line, shorten

EVERYTHING = st.text(st.characters(exclude_categories=()))
BLACK = Color(0, 0, 0)


@given(EVERYTHING)
def test_literal_draws_exactly_what_it_says(text: str) -> None:
    content = literal(text)
    segments = content.render_segments()
    assert "".join(segment.text for segment in segments) == content.plain
    lines = [Segment(line) for segment in segments for line in segment.text.split("\n")]
    assert ControlCharacterFilter().apply(lines, BLACK) == lines


@given(EVERYTHING, st.integers(1, 60))
def test_one_line_fits(text: str, width: int) -> None:
    content = one_line(text, width)
    assert content.cell_length <= width
    assert "\n" not in content.plain


def test_markup_is_never_parsed(hostile: str) -> None:
    for content in (literal(hostile), one_line(hostile)):
        assert not any(style.meta for _, style in content.render(end="") if not isinstance(style, str))
        assert "\x1b" not in content.plain
    assert "[@click=app.quit]" in literal("[@click=app.quit]").plain


def test_marks_are_muted_and_the_rest_is_not() -> None:
    content = literal("a\x1bb")
    assert content.plain == "a^[b"
    assert [(span.start, span.end) for span in content.spans] == [(1, 3)]


@pytest.mark.parametrize("size", first_size([10, 1_000_000, 1_000_001, 10_000_000]))
def test_long_texts_show_head_and_tail(size: int) -> None:
    text = "h" * (size // 2) + "t" * (size - size // 2)
    shown = shorten(text, 1_000_000)
    assert len(shown) <= 1_000_100
    assert (shown == text) == (size <= 1_000_000)
    assert shown.startswith("h")
    assert shown.endswith("t")


def test_plain_line_is_clean_and_short(hostile: str) -> None:
    text = plain_line(hostile * 1000)
    assert "\x1b" not in text
    assert "\n" not in text
    assert len(plain_line("x" * 10_000)) == LINE_LIMIT


@given(EVERYTHING)
def test_the_sieve_lets_nothing_through(text: str) -> None:
    found = ControlCharacterFilter().apply([Segment("ok", Style(bold=True)), Segment(text)], BLACK)
    left = "".join(segment.text for segment in found)
    assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in left)
    assert not set("\u202e\u2066\u200f\u061c") & set(left)


def test_the_sieve_leaves_control_segments_alone() -> None:
    segment = Segment("\x1b[0m", None, [(0,)])  # pyright: ignore[reportArgumentType]
    assert ControlCharacterFilter().apply([segment], BLACK) == [segment]
