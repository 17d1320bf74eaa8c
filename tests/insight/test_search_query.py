"""A search query means what its signs say, and any text is one."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.core.fault import UsageError
from console.insight.passage import Passage, PassageKind
from console.insight.search_query import (
    SearchQuery,
    Term,
    best_passage,
    excerpt,
    index_text,
    marks_in,
    passage_text,
    read_query,
)

TEXTS = (
    "The refund of 41.50 was cancelled, very sorry",
    "refunds are sorry, very much",
    "Straße in São Paulo: get_current_weather",
    "東京の天気は晴れです",
    "",
)


def found(query: SearchQuery) -> list[int]:
    """Return the numbers of the texts that SQLite finds."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE said USING fts5 (text, content='', tokenize='ascii')")
    passages = [Passage(PassageKind.USER, text) for text in TEXTS]
    rows = [(number, index_text([passage])) for number, passage in enumerate(passages)]
    table.executemany("INSERT INTO said (rowid, text) VALUES (?, ?)", rows)
    if not query.expression:
        return []
    rows = table.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rowid", (query.expression,))
    return [number for (number,) in rows]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("refund", [0]),
        ("REFUND sorry", [0]),
        ("refund*", [0, 1]),
        ('"very sorry"', [0]),
        ("sorry -refund", [1]),
        ("sorry !refund", [1]),
        ('sorry -"very sorry"', [1]),
        ("41.50", [0]),
        ("strasse", [2]),
        ("sao paulo", [2]),
        ("current_weather", [2]),
        ("天気", [3]),
        ("京の天", [3]),
        ("天京", []),
        ("天*", [3]),
        ("-refund", []),
        ("AND OR NOT", []),
        ('"very sor"*', [0]),
        ("!!", []),
    ],
)
def test_finds(text: str, numbers: list[int]):
    assert found(read_query(text)) == numbers


def test_terms_of_the_filter_and_of_runs():
    query = read_query("sorry is:failed suite:Shop,air !cat:live http://x", "run:0117 !time>3")
    assert query.terms == (Term(("sorry",)), Term(("http", "x")))
    assert query.filter.text == "is:failed !cat:live !time>3"
    assert query.covers("2026-0117-a", "my-shop")
    assert not query.covers("2026-0118-a", "my-shop")
    assert not query.covers("2026-0117-a", "talk")
    with pytest.raises(UsageError):
        read_query("sorry is:faild")


@given(st.text(max_size=60))
def test_any_text_is_a_query_that_finds_what_it_marks(text: str):
    try:
        query = read_query(text)
    except UsageError:  # a bad value in a filter term
        return
    for number in found(query):
        shown = passage_text(Passage(PassageKind.USER, TEXTS[number]))
        assert all(marks_in(shown, [term]) for term in query.terms)


@given(st.text(max_size=80), st.integers(0, 80), st.integers(1, 20))
def test_every_part_of_a_text_between_words_finds_it(text: str, start: int, length: int):
    passage = Passage(PassageKind.ASSISTANT, text)
    part = passage_text(passage).replace('"', " ").split()[start:][:length]
    query = read_query('"' + " ".join(part) + '"')
    assert best_passage([passage], query.terms) is (passage if query.terms else None)
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE said USING fts5 (text, content='', tokenize='ascii')")
    table.execute("INSERT INTO said VALUES (?)", (index_text([passage]),))
    if query.terms:
        assert table.execute("SELECT count(*) FROM said WHERE said MATCH ?", (query.expression,)).fetchone() == (1,)


def test_a_phrase_does_not_span_passages():
    passages = [Passage(PassageKind.USER, "so very"), Passage(PassageKind.ASSISTANT, "sorry indeed")]
    assert " very ¶ sorry " in f" {index_text(passages)} "
    assert best_passage(passages, read_query('"very sorry"').terms) is None
    assert best_passage(passages, read_query("indeed sorry very").terms) is passages[1]
    instructions = Passage(PassageKind.SYSTEM, "so very sorry")
    assert best_passage([instructions, *passages], read_query("very").terms) is passages[0]
    assert best_passage([instructions, *passages], read_query("very sorry").terms) is instructions


def test_encoded_data_is_not_indexed():
    assert index_text([Passage(PassageKind.USER, f"see {'aB3/' * 200} here")]) == "see here"


def test_an_excerpt_is_cut_around_its_matches():
    terms = read_query("cancelled refund").terms
    shown = excerpt(f"{'word ' * 50}the\n refund was   cancelled {'word ' * 50}", terms, 40)
    assert [shown.text[start:end] for start, end in shown.marks] == ["refund", "cancelled"]
    assert shown.text.startswith("… ")
    assert shown.text.endswith(" …")
    assert len(shown.text) <= 44
    assert "the refund was cancelled" in shown.text
