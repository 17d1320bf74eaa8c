"""`run --shard` and `merge`: four parts united are the whole run, and runs of another plan are refused by name."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cli.conftest import live_in, signals_kept

from console.__main__ import main
from console.core.case import Key
from console.core.outcome import Outcome, Verdict
from console.store.journal_line import decode, encode
from console.store.notes import Note, Notes

SUITE = ("-m", "sim/hasty", "-s", "bfcl-starter", "--category", "memory_kv,simple_python,multi_turn_base", "-r", "2")
OF_TIME = ("seconds", "attempt")


def play(console, *more: str) -> str:
    ended = console("run", *SUITE, "--json", "--quiet", *more)
    assert ended.code in (0, 3), ended.err
    return ended.data["run"]


def exported(console, run: str) -> list[list[str]]:
    """The rows of a run without times, by case: runs end in any order."""
    rows = list(csv.reader(console("export", run, "--format", "csv").out.splitlines()))
    kept = [number for number, name in enumerate(rows[0]) if name not in OF_TIME]
    return sorted([row[number] for number in kept if number < len(row)] for row in rows[1:])


def by_case(report: dict[str, Any]) -> dict[str, Any]:
    """A report whose flaky cases are in order of their names, not in that in which they were played."""
    report["repeats"]["flaky"].sort(key=lambda flaky: flaky["case"])
    return report


def journal_of(run: str) -> Path:
    return Path("runs", run, "journal.jsonl")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of three shards, played once."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as monkeypatch, signals_kept():
        live_in(folder, monkeypatch)
        for number in (1, 2, 3):
            assert main(["run", *SUITE, "--quiet", "--shard", f"{number}/3"]) in (0, 3)
    return folder / "runs"


@pytest.fixture
def shards(console, played: Path) -> list[str]:
    """The names of the three shards, in the current folder."""
    shutil.copytree(played, "runs")
    plans = {path.parent.name: json.loads(path.read_text()) for path in Path("runs").glob("*/run.json")}
    return sorted(plans, key=lambda run: plans[run]["shard"]["number"])


def test_merged_shards_are_the_whole_run(console, shards):
    whole = console("run", *SUITE, "--json", "--quiet").data
    merged = console("merge", *shards, "--json")
    assert merged.code == 0, merged.err
    assert by_case(merged.data["report"]) == by_case(whole["report"])
    for name in ("tally", "scores", "reasons", "planned", "state", "categories", "score_interval"):
        ours, theirs = merged.data["summary"].get(name), whole["summary"].get(name)
        assert ours == pytest.approx(theirs) if name == "scores" else ours == theirs
    assert exported(console, merged.data["run"]) == exported(console, whole["run"])
    manifest = json.loads(Path("runs", merged.data["run"], "run.json").read_text())
    assert manifest["merged"] == shards
    assert "shard" not in manifest


def test_shards_keep_chains_whole_and_share_no_case(console, shards):
    played = [
        {json.loads(line)["key"][0] for line in journal_of(run).read_text().splitlines() if '"t":"started"' in line}
        for run in shards
    ]
    assert sum(map(len, played)) == len(set[str]().union(*played))
    for scenario in ("student", "customer"):
        assert sum(any(scenario in case for case in run) for run in played) == 1


def test_what_no_shard_played_is_not_run_and_can_be_resumed(console, shards):
    merged = console("merge", *shards[:2], "--json")
    assert merged.code == 3
    assert "rollouts were not run" in merged.err
    assert "resume" in merged.err
    summary = merged.data["summary"]
    assert summary["state"] == "stopped"
    assert "have ended in none of the merged runs" in summary["message"]
    resumed = console("resume", merged.data["run"], "--json", "--quiet")
    assert resumed.code == 0, resumed.err
    whole = console("merge", *shards, "--json").data
    assert by_case(resumed.data["report"]) == by_case(whole["report"])


def test_of_doubled_rollouts_the_first_answer_counts(console, shards):
    again = play(console, "--shard", "1/3")
    merged = console("merge", again, *shards, "--json")
    assert merged.code == 0
    assert "in several runs" in merged.err
    manifest_of = {run: journal_of(run).read_text() for run in (again, shards[0])}
    united = journal_of(merged.data["run"]).read_text().splitlines()
    finished = [line for line in united if '"t":"finished"' in line]
    assert all(line in manifest_of[shards[0]] for line in finished if json.loads(line)["key"][0] in manifest_of[again])
    assert len(finished) == merged.data["summary"]["planned"]


def test_a_copy_of_a_run_is_merged_with_it(console, shards):
    """It was copied before the run ended, so both begin with the same session."""
    copy = Path("runs", f"{shards[0]}-copy")
    shutil.copytree(Path("runs", shards[0]), copy)
    lines = journal_of(copy.name).read_bytes().splitlines(keepends=True)
    journal_of(copy.name).write_bytes(b"".join(lines[: len(lines) // 2]))
    (copy / "summary.json").unlink()
    whole = console("merge", *shards, "--json").data
    merged = console("merge", copy.name, *shards, "--json")
    assert merged.code == 0, merged.err
    assert merged.data["summary"].get("damaged", 0) == 0
    assert by_case(merged.data["report"]) == by_case(whole["report"])


def test_an_answer_counts_before_a_rollout_that_broke_earlier(console, shards):
    again = play(console, "--shard", "1/3")
    lines = journal_of(shards[0]).read_bytes().splitlines()
    place = next(number for number, line in enumerate(lines) if b'"t":"finished"' in line)
    broken = msgspec.structs.replace(decode(lines[place]), verdict=Verdict(Outcome.BROKEN, "server"), output=None)
    lines[place] = encode(broken).removesuffix(b"\n")
    journal_of(shards[0]).write_bytes(b"\n".join(lines) + b"\n")
    assert console("merge", *shards, "--json").data["summary"]["tally"]["broken"] == 1
    assert console("merge", *shards, again, "--json").data["summary"]["tally"].get("broken", 0) == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"versions": {"eval-console": "0.0.1"}}, "versions.eval-console"),
        ({"dataset": {"name": "bfcl-starter", "sha256": "other"}}, "dataset"),
        ({"model": {"name": "sim/hasty", "model_id": "other"}}, "model.model_id"),
        ({"rollouts": 3}, "rollouts"),
        ({"selection": {"limit": 7}}, "selection"),
    ],
)
def test_a_run_of_another_plan_is_refused_by_name_and_place(console, shards, change, named):
    path = Path("runs", shards[1], "run.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    before = set(Path("runs").iterdir())
    merged = console("merge", *shards)
    assert merged.code == 2
    assert shards[1] in merged.err
    assert named in merged.err
    assert set(Path("runs").iterdir()) == before


def test_one_run_alone_or_twice_is_refused(console, shards):
    for which in (shards[:1], [shards[0], shards[0]]):
        merged = console("merge", *which)
        assert (merged.code, "two or more" in merged.err) == (2, True)


def test_a_damaged_line_is_named_and_its_rollout_is_played_anew(console, shards):
    path = journal_of(shards[0])
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if b'"t":"finished"' in line)
    lines[place] = lines[place].replace(b'"t"', b'"T"', 1)
    path.write_bytes(b"".join(lines))
    merged = console("merge", *shards, "--json")
    assert merged.code == 3
    assert f"{shards[0]}/journal.jsonl:{place + 1}" in merged.err
    assert console("resume", merged.data["run"], "--quiet").code == 0


def test_trends_and_leaderboards_leave_shards_out_and_count_what_they_make(console, shards):
    assert console("leaderboard", "--json").data["boards"] == []
    merged = console("merge", *shards, "--json").data["run"]
    assert merged in console("leaderboard", "--json").out


def test_what_readers_said_of_the_answers_comes_along(console, shards):
    notes = {run: Notes(Path("runs", run)) for run in shards}
    played = {
        run: [
            Key(*json.loads(line)["key"]) for line in journal_of(run).read_text().splitlines() if '"finished"' in line
        ]
        for run in shards
    }
    for number, run in enumerate(shards):
        notes[run].add(Note(played[run][0], "tag", "model", at=10.0 - number))
    notes[shards[0]].add(Note(played[shards[1]][0], "comment", "of an answer that is another run's", at=1.0))
    notes[shards[0]].add(Note(played[shards[1]][0], "dispute", "its ground truth is wrong", at=2.0))
    merged = console("merge", *shards, "--json").data["run"]
    told = [(note.key, note.kind) for note in Notes(Path("runs", merged)).all()]
    assert told == [
        (played[shards[1]][0], "dispute"),
        *((played[run][0], "tag") for run in reversed(shards)),
    ]
