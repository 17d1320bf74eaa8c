"""`search` and `history` look into all runs, and say so where there is nothing."""

import os
from pathlib import Path
from random import Random

import pytest

from console.cli import search_index
from console.cli.exitcode import Exit
from console.store.lock import RunLock
from console.store.search_index import search_path

RUN = ("run", "-s", "dialogue-starter", "--quiet")


def test_search_and_history(console):
    names = [console(*RUN, "-m", model, "--json").data["run"] for model in ("sim/hasty", "sim/careful")]
    shown = console("search", "BOOKING", "!weather", "-n", "1", "--json").data
    assert [run["run"] for run in shown["runs"]] == names[::-1]
    failed = console("search", "BOOKING", "--filter", "is:failed", "-n", "1", "--json").data
    assert {hit["outcome"] for run in failed["runs"] for hit in run["hits"]} == {"failed"}
    hit = shown["runs"][0]["hits"][0]
    (start, end), *_ = hit["passage"]["marks"]
    assert hit["passage"]["text"][start:end].casefold() == "booking"
    text = console("search", "booking", "-n", "1").out
    assert all(name in text for name in names)
    assert " more (run:" in text
    nothing = console("search", "xylophone")
    assert (nothing.code, nothing.out) == (Exit.OK, "")
    assert "in 2 runs matches" in nothing.err

    history = console("history", "dialogue-starter", hit["case"], "--json").data
    assert [run["run"] for run in history["runs"]] == names[::-1]
    assert len({run["digest"] for run in history["runs"]}) == 1
    table = console("history", "dialogue-starter", hit["case"]).out
    assert table.count("same") == 2


def test_what_cannot_be_searched_for(console):
    for line, words in (
        (("search", "!refund"), "no word to search for"),
        (("search", "refund", "--filter", "is:faild"), "Did you mean failed"),
        (("history", "nothing", "here"), "no run has played"),
    ):
        refused = console(*line)
        assert refused.code == Exit.USAGE
        assert words in refused.err
    assert console("search", "refund").code == Exit.OK
    assert console("index").code == Exit.OK


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"not a database " * 400, id="another file"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: data[:100] + b"\xff" * 4000 + data[4100:], id="its tables overwritten"),
        pytest.param(lambda data: data.replace(b"CREATE TABLE", b"\xff\xfe\xfdATE TABLE"), id="names that are no text"),
    ],
)
def test_a_damaged_index_is_replaced(console, home: Path, damage):
    console(*RUN, "-m", "sim/hasty")
    expected = console("search", "booking")
    assert expected.out
    index = search_path(home / "runs")
    for end in ("-wal", "-shm"):
        index.with_name(index.name + end).unlink(missing_ok=True)
    for line in (("search", "booking"), ("history", "nothing", "here")):
        index.write_bytes(damage(index.read_bytes()))
        ended = console(*line)
        assert ended.code in (Exit.OK, Exit.USAGE), ended.err
        assert console("search", "booking").out == expected.out


def test_facts_that_are_no_text_are_indexed_again(console, home: Path):
    console(*RUN, "-m", "sim/hasty")
    expected = console("search", "booking")
    index = search_path(home / "runs")
    index.write_bytes(index.read_bytes().replace(b"_missing", b"\xff" * 8))
    assert console("search", "booking").out == expected.out


def test_every_search_is_answered_whatever_byte_of_the_index_is_changed(console, home: Path):
    """Each search has to write as well, since a run has been added."""
    console(*RUN, "-m", "sim/hasty")
    console("search", "booking")
    index = search_path(home / "runs")
    whole = index.read_bytes()
    added = console(*RUN, "-m", "sim/careful", "--json").data["run"]
    draw = Random(4)
    for _ in range(40):
        for end in ("", "-wal", "-shm"):
            index.with_name(index.name + end).unlink(missing_ok=True)
        damaged = bytearray(whole)
        for _ in range(draw.choice((1, 1, 40))):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        index.write_bytes(damaged)
        ended = console("search", "booking", "-n", "1")
        assert ended.code == Exit.OK, ended.err
        assert added in ended.out
        assert console("history", "dialogue-starter", "nothing").code == Exit.USAGE


def test_an_index_whose_writer_is_stopped_is_used_as_it_is(console, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_index, "PATIENCE_S", 0.2)
    console(*RUN, "-m", "sim/hasty")
    index = search_path(home / "runs")
    index.parent.mkdir(exist_ok=True)
    with RunLock(index.with_suffix(".lock")):
        for line in (("search", "booking"), ("history", "dialogue-starter", "facts")):
            ended = console(*line)
            assert ended.code == Exit.LOCKED
            assert f"process {os.getpid()} holds the search index" in ended.err
    expected = console("search", "booking").out
    with RunLock(index.with_suffix(".lock")):
        ended = console("search", "booking")
    assert (ended.code, ended.out) == (Exit.OK, expected)
    assert "The newest conversations may be missing here." in ended.err
