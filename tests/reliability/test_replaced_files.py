"""A pipe, device, folder or link in the place of any file of a run costs that run at most, and stops no command."""

import shutil
from pathlib import Path

import pytest
from support.lookup_suite import only_run
from support.quick_rows import first_quick
from support.replaced_files import KINDS, replace

from console.__main__ import main

FILES = ("journal.jsonl", "journal.jsonl.gz", "journal.jsonl.unsynced", "run.json", "summary.json", "index.msgpack",
         "marks.json", "notes.jsonl", "lock", "live.sock", "engine.log", "labels.lock", "labels.log", "decide.log",
         "server.log", "imported.eval", "files", ".journal.jsonl.gz.new", "../.index/runs.sqlite",
         "../.index/search.sqlite", "../.queue", "../errata.json")  # fmt: skip
VERBS = ("runs", "runs --archived", "show RUN", "failures RUN", "review RUN --all --json", "search the", "trends",
         "leaderboard", "suspects bfcl-starter", "queue", "dispute", "export RUN --format html -o page.html",
         "export RUN --format site -o site", "compare RUN other", "labels RUN", "organize RUN --pin",
         "organize RUN --note x", "tag RUN#x x", "regrade RUN", "retry RUN", "resume RUN", "doctor --offline --deep",
         "organize RUN --archive", "show RUN", "resume RUN", "show other")  # fmt: skip
"""What reads, then what writes; `other` is a sound run beside it."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of two cases."""
    runs = tmp_path_factory.mktemp("played") / "runs"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
        flags = ["--runs", str(runs), "--quiet", "--yes"]
        assert main(["run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "2", *flags]) == 0
    return only_run(runs)


@pytest.mark.timeout(150)
@pytest.mark.parametrize("kind", first_quick(KINDS))
@pytest.mark.parametrize("name", FILES)
def test_whatever_lies_in_the_place_of_a_file_stops_no_command(
    console, played: Path, home: Path, name: str, kind: str
) -> None:
    run = Path(shutil.copytree(played, home / "runs" / played.name))
    shutil.copytree(played, home / "runs" / "other")
    if name == "journal.jsonl.gz":
        (run / "journal.jsonl").unlink()
    replace(run / name, kind)
    for verb in VERBS:
        ended = console(*verb.replace("RUN", run.name).split(), "--yes", "--quiet")
        assert "internal error" not in ended.err, verb
        assert verb not in ("runs", "runs --archived", "show other") or ended.code == 0, (verb, ended.err)
    assert [path.name for path in (home / "runs" / "nowhere", run / "nowhere") if path.exists()] == []


@pytest.mark.parametrize("name", ["lock", "engine.log", "notes.jsonl", "labels.log"])
def test_nothing_is_written_through_a_link(console, played: Path, home: Path, name: str) -> None:
    run, outside = Path(shutil.copytree(played, home / "runs" / played.name)), home / "outside"
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(outside)
    for verb in VERBS:
        console(*verb.replace("RUN", run.name).split(), "--yes", "--quiet")
    assert not outside.exists()
