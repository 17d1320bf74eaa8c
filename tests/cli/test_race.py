"""`run --until best`: a race of several models, whose engines are processes of their own, and its report."""

import os
import signal
from pathlib import Path

import pytest
from support.ray_runs import Playing, until

from console.core.record import Looked
from console.store.journal import JournalReader
from console.store.runs import RunFolder

RACE = ("run", "-m", "sim/careful", "-m", "sim/rambling", "-s", "bfcl-starter", "--until", "best")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-m", "sim/hasty"), "--until best: needs at least two models"),
        (("-m", "sim/hasty", "-m", "sim/careful", "--queue"), "--until best: cannot be combined with --queue"),
        (("-m", "sim/hasty", "-m", "sim/careful", "--by", "category"), "--by: cannot be combined with --until best"),
        (("-m", "sim/hasty", "-m", "sim/careful", "--shard", "1/2"), "can decide nothing"),
    ],
)
def test_what_does_not_go_with_a_race_is_refused(console, home, options, words):
    ended = console("run", "-s", "bfcl-starter", "--until", "best", *options)
    assert ended.code == 2
    assert words in ended.err


def test_a_race_says_before_how_long_it_may_take(console, home):
    ended = console(*RACE, "--dry-run")
    assert "a model is out: −10 points after about" in ended.out
    assert "equal models: all 115 cases" in ended.out


def standings(folder: Path) -> list[object]:
    listed = JournalReader(folder / "journal.jsonl").iter_all()
    return [record.look.standings for record in listed if isinstance(record, Looked) and record.look.standings]


@pytest.mark.slow
def test_a_race_ends_with_the_best_and_is_resumed_after_kills(console, home):
    whole = console(*RACE, "-c", "8", "--runs", "whole", "--json")
    assert whole.code == 0, whole.err
    best, other = whole.lines
    assert (best["sequential"]["decision"], other["sequential"]["decision"]) == ("best", "worse")
    assert best["sequential"]["ended_early"]
    assert best["sequential"]["models"] == ["sim/careful", "sim/rambling"]
    assert best["sequential"]["runs"] == [best["run"], other["run"]]
    assert "sim/rambling −" in whole.err
    killed = Playing(home, *RACE, "-c", "2", EVAL_CONSOLE_SIM_PACE="real")
    folders = until(lambda: len(found := sorted(home.glob("runs/*/journal.jsonl"))) == 2 and found, "no two runs")
    until(lambda: all(path.stat().st_size > 20_000 for path in folders), "nothing was played")
    for path in folders:
        reader = JournalReader(path)
        opened = next(iter(reader.iter_all()))
        os.kill(opened.pid, signal.SIGKILL)  # pyright: ignore
    code, _ = killed.wait()
    assert code == 3
    name = RunFolder(folders[0].parent).name
    resumed = console("resume", name, "--runs", "runs")
    assert resumed.code == 0, resumed.err
    text = resumed.out
    assert "the best of 2 models" in text
    assert "worse than sim/careful" in text
    for run, path in zip(sorted((home / "whole").iterdir()), folders, strict=True):
        assert standings(run) == standings(path.parent)
    again = console("resume", name, "--runs", "runs")
    assert again.code == 5
    detached = console(*RACE, "--runs", "apart", "--detach")
    apart = [RunFolder(home / "apart" / line) for line in detached.out.split()]
    until(lambda: all(run.summary().state in ("decided", "completed") for run in apart), "the race did not end")
    assert [standings(run.path) for run in apart] == [standings(run) for run in sorted((home / "whole").iterdir())]
