"""Looking for a text in a journal finds everybody's words, and only them."""

from pathlib import Path

import pytest

from console.core.case import Case, Key
from console.core.chat import Reply, ToolCall
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Finished, Opened, Started
from console.store.journal import JournalWriter
from console.store.search import TextSearch, conversations_with


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Three conversations, and a line that is no conversation's."""
    path = tmp_path / "journal.jsonl"
    writer = JournalWriter(path)
    writer.append(Opened(at=1.0, pid=1, host="zebra"))
    for name, text in (("a", "A Zebra\ncrossed."), ("b", 'Straße, "quoted" and a\\b'), ("c", "content of passed")):
        key = Key(name)
        writer.append(Started(at=2.0, key=key, case=Case(name, "live")))
        reply = Reply(text, (ToolCall("1", "get", '{"city": "Lima"}'),) if name == "b" else ())
        asked = [{"role": "user", "content": "hello"}]
        writer.append(Asked(at=3.0, key=key, n=1, digest="d", reply=reply, messages=asked))
        writer.append(Finished(at=4.0, key=key, verdict=Verdict(Outcome.PASSED)))
    writer.close()
    return path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("zebra", "a"),
        ("ZEBRA", "a"),
        ("straße", "b"),
        ('"quoted"', "b"),
        ("a\\b", "b"),
        ('"city": "lima"', "b"),
        ("hello", "abc"),
        ("content", "c"),
        ("passed", "c"),
        ("user", ""),
        ("asked", ""),
        ("nowhere", ""),
    ],
)
def test_finds(text: str, names: str, journal: Path) -> None:
    assert {key.case for key in TextSearch(journal, text).run()} == set(names)


def test_it_goes_on_where_it_was_and_can_be_stopped(journal: Path) -> None:
    search = TextSearch(journal, "zebra")
    assert not list(search.run(lambda: True))
    assert search.is_behind
    assert [key.case for key in search.run()] == ["a"]
    assert not search.is_behind
    writer = JournalWriter(journal)
    writer.append(Started(at=5.0, key=Key("d"), case=Case("d", "live", title="another zebra")))
    writer.close()
    assert [key.case for key in search.run()] == ["d"]


def test_several_texts_by_conversation(journal: Path, tmp_path: Path) -> None:
    assert conversations_with(journal, ("zebra", "hello")) == {
        ("a", 0): {"zebra", "hello"}, ("b", 0): {"hello"}, ("c", 0): {"hello"},
    }  # fmt: skip
    assert conversations_with(tmp_path / "absent", ("zebra",)) == {}
