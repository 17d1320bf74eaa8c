"""Foreign text becomes visible and harmless, and nothing of it disappears."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from console.core.text import mark_of, marked, visible, visible_line, without_hidden

UNSAFE = {chr(code) for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if chr(code) != "\n"}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
EVERYTHING = st.text(st.characters(exclude_categories=()))


@given(EVERYTHING)
def test_nothing_a_terminal_obeys_is_left(text: str) -> None:
    shown = visible(text)
    assert not UNSAFE & set(shown)
    assert not BIDI & set(shown)
    assert not any(unicodedata.category(character) == "Cs" for character in shown)


@given(EVERYTHING)
def test_ranges_are_exactly_the_marks(text: str) -> None:
    shown, ranges = marked(text)
    assert shown == visible(text)
    assert all(first < last for first, last in ranges)
    kept = list(shown)
    for first, last in reversed(ranges):
        del kept[first:last]
    assert "".join(kept) == without_hidden(text).replace("\t", "    ")


@given(EVERYTHING)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_marks_are_readable() -> None:
    assert visible("a\x1b[31m\x7f\x9b\u202e\ud800\r\n") == "a^[[31m^?‹9B›‹U+202E›‹U+D800›^M\n"
    assert mark_of("\x00") == "^@"
    assert visible_line("one\ntwo\tthree") == "one two    three"


def test_joined_emoji_stay_whole_and_a_bare_joiner_shows() -> None:
    assert visible("👩‍👩‍👧") == "👩‍👩‍👧"
    assert visible("a\u200db") == "a‹U+200D›b"


def test_whatever_is_not_seen_shows_as_a_mark() -> None:
    """All format characters of Unicode but the few that have a shape, and what a font draws as nothing."""
    have_a_shape = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    formats = {code for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cf", "Cc", "Zl", "Zp")}
    fillers = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
    for code in (formats | fillers) - have_a_shape - {ord("\n"), ord("\t")}:
        assert visible(f"a{chr(code)}b") == f"a{mark_of(chr(code))}b", hex(code)


def test_an_emoji_keeps_what_it_is_made_of() -> None:
    for emoji in ("👩‍👩‍👧", "❤️‍🔥", "🏳️‍🌈", "👍🏽", "1️⃣", "#️⃣", "©️", "☠️", "🇩🇪", "✔︎", "‼️", "👨🏽‍💻"):
        assert visible(emoji) == emoji, emoji.encode("unicode_escape")
    assert visible("❤️️") == "❤️‹U+FE0F›", "only one selector chooses"
    assert visible("🏴\U000e0067\U000e007f") == "🏴‹U+E0067›‹U+E007F›", "letters that nobody sees"


def test_ordinary_text_is_left_alone() -> None:
    text = "Grüße, 漢字, עברית, हिन्दी — “quoted” [/x] $1 {0}\nnext"
    assert visible(text) == text
