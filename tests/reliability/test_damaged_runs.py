"""Run folders that somebody or something has damaged, moved or made with another version; through the commands."""

import json
import os
import shutil
import struct
import tracemalloc
import zlib
from pathlib import Path
from zlib import crc32

import pytest
from support.lookup_suite import only_run
from support.quick_rows import first_quick

from console.__main__ import main
from console.core.case import Key
from console.core.record import Finished
from console.store.journal import JournalReader
from console.store.notes import Note, Notes


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of six cases."""
    runs = tmp_path_factory.mktemp("played") / "runs"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
        flags = ["--runs", str(runs), "--quiet"]
        assert main(["run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "6", *flags]) == 0
    return only_run(runs)


@pytest.fixture
def run(played: Path, home: Path) -> Path:
    """A copy of that run, in the home of the test."""
    return Path(shutil.copytree(played, home / "runs" / played.name))


def outcomes(console, run: Path) -> dict[str, str]:
    listed = console("review", run.name, "--all", "--json").lines
    return {one["case"]: one["outcome"] for one in listed}


def signed(line: bytes, **changes: object) -> bytes:
    """Return a journal line with other values and a checksum that holds."""
    table = json.loads(line) | changes
    del table["crc"]
    body = json.dumps(table, separators=(",", ":")).encode()[:-1]
    return body + b',"crc":"%08x"}' % crc32(body)


def torn(data: bytes) -> bytes:
    return data[: data.rindex(b'"t":"finished"') + 40]


def flipped(data: bytes) -> bytes:
    at = data.index(b'"t":"finished"') + 30
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def with_junk(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:4], b"\x00\xff\xfe{\x1b]52;c;aGk=\x07\n", *lines[4:]])


def emptied(data: bytes) -> bytes:
    return b""


def glued(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines[:3], lines[3][:-1], *lines[4:]])


def twice(data: bytes) -> bytes:
    return data + data


@pytest.mark.parametrize(
    "damage", [torn, flipped, with_junk, emptied, glued, twice], ids=lambda damage: damage.__name__
)
def test_damage_is_reported_and_resume_mends_it(console, run: Path, damage) -> None:
    before = outcomes(console, run)
    journal = run / "journal.jsonl"
    journal.write_bytes(damage(journal.read_bytes()))
    for command in (("show", run.name), ("review", run.name, "--all", "--json"), ("runs",), ("failures", run.name)):
        ended = console(*command)
        assert ended.code == 0, ended.err
        assert "\x1b" not in ended.out + ended.err
    kept = journal.read_bytes()
    left = outcomes(console, run)
    assert all(before[case] == outcome for case, outcome in left.items() if outcome in ("passed", "failed"))
    resumed = console("resume", run.name, "--json", "--quiet")
    assert resumed.code in (0, 5), resumed.err
    assert outcomes(console, run) == before, "what was lost is run again, and comes out the same"
    whole = kept[: kept.rfind(b"\n") + 1]
    assert journal.read_bytes().startswith(whole), "what was there stays as it was"
    if resumed.code == 0:
        aside = b"".join(path.read_bytes() for path in run.glob("torn-*.bin"))
        assert aside == kept[len(whole) :]
    if damage in (flipped, with_junk, glued, twice):
        assert "1 damaged journal line" in console("show", run.name).out


@pytest.mark.parametrize("copied", [twice, lambda data: data.replace(b"\n", b"\r\n")], ids=["twice", "line ends"])
def test_a_journal_that_a_tool_has_copied_badly_gives_the_same_numbers(console, run: Path, copied) -> None:
    before, journal = console("show", run.name, "--json").data["summary"], run / "journal.jsonl"
    journal.write_bytes(copied(journal.read_bytes()))
    after = console("show", run.name, "--json").data["summary"]
    assert after["tally"] == before["tally"]
    assert after["seconds"] == before["seconds"]


@pytest.mark.parametrize("name", ["journal.jsonl", "journal.jsonl.gz", "run.json"])
@pytest.mark.parametrize("kind", ["device", "pipe", "itself"])
def test_a_journal_or_manifest_that_is_no_file_costs_its_own_run_only(console, run: Path, kind: str, name: str) -> None:
    (run / ("run.json" if name == "run.json" else "journal.jsonl")).unlink()
    (run / "summary.json").unlink()
    if kind == "pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to("/dev/zero" if kind == "device" else name)
    for command in (("show", run.name), ("resume", run.name)):
        ended = console(*command)
        assert ended.code in (2, 3), ended.err
        assert "internal error" not in ended.err
    assert console("runs", "--archived").code == 0


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_journal_that_is_another_file_is_read_but_never_written(console, run: Path, home: Path, link) -> None:
    other = (run / "journal.jsonl").rename(home / "other")
    other.write_bytes(b"".join(other.read_bytes().splitlines(keepends=True)[:-3]))
    link(other, run / "journal.jsonl")
    before = other.read_bytes()
    assert console("show", run.name).code == 0
    ended = console("resume", run.name, "--yes")
    assert ended.code == 3
    assert "replace it by a copy" in ended.err
    assert other.read_bytes() == before


def test_a_block_of_an_archive_that_unpacks_to_more_than_a_block_is_damaged(console, run: Path) -> None:
    assert console("organize", run.name, "--archive").code == 0
    packed = run / "journal.jsonl.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    content = packer.compress(bytes(100 << 20)) + packer.flush()
    head = packed.read_bytes()[:16]
    length = struct.pack("<I", 20 + len(content) + 8)
    packed.write_bytes(head + length + content + struct.pack("<II", 0, 1 << 20))
    tracemalloc.start()
    try:
        assert console("show", run.name).code == 2
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def test_what_a_newer_version_wrote_is_read_around_and_never_continued(console, run: Path) -> None:
    journal = run / "journal.jsonl"
    lines = journal.read_bytes().splitlines()
    lines[2] = signed(lines[2], v=99, t="dreamt")
    journal.write_bytes(b"\n".join([*lines[:-2], b""]))
    before = journal.read_bytes()
    shown = console("show", run.name)
    assert shown.code == 0
    assert "1 damaged journal line" in shown.out
    refused = console("resume", run.name)
    assert refused.code == 2
    assert "line 3 was written by a newer version" in refused.err
    assert journal.read_bytes() == before


def test_what_an_older_version_wrote_is_read(console, run: Path) -> None:
    before = outcomes(console, run)
    journal = run / "journal.jsonl"
    older = [signed(line, v=0) for line in journal.read_bytes().splitlines()]
    journal.write_bytes(b"\n".join([*older, b""]))
    (run / "summary.json").unlink()
    assert outcomes(console, run) == before
    assert console("show", run.name, "--json").data["summary"].get("damaged", 0) == 0


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\x00", b"[]", b'{"state": 7}', b'{"journal_bytes": 1}'])
def test_a_damaged_summary_is_made_anew(console, run: Path, text: bytes) -> None:
    before = console("show", run.name, "--json").data["summary"]["tally"]
    (run / "summary.json").write_bytes(text)
    assert console("show", run.name, "--json").data["summary"]["tally"] == before
    assert json.loads((run / "summary.json").read_bytes())["tally"]["passed"] == before["passed"]


def test_a_summary_in_which_one_digit_was_changed_is_made_anew(console, run: Path) -> None:
    """Valid JSON with a number that is wrong: what is listed must be what the journal says."""
    (before,) = console("runs", "--json").data["runs"]
    sound = (run / "summary.json").read_bytes()
    digits = [place for place in range(len(sound)) if sound[place : place + 1].isdigit()]
    for place in digits[:: max(1, len(digits) // 25)]:
        other = b"%d" % ((int(sound[place : place + 1]) + 1) % 10)
        (run / "summary.json").write_bytes(sound[:place] + other + sound[place + 1 :])
        shutil.rmtree(run.parent / ".index", ignore_errors=True)
        (listed,) = console("runs", "--json").data["runs"]
        assert {**listed, "updated": 0} == {**before, "updated": 0}, sound[place - 20 : place + 5]


def test_a_copied_run_is_listed_by_the_name_of_its_folder(console, run: Path) -> None:
    console("show", run.name)
    shutil.copytree(run, run.parent / "a copy")
    assert {listed["id"] for listed in console("runs", "--json").data["runs"]} == {run.name, "a copy"}
    assert console("show", "a copy").out.startswith("a copy ")
    assert console("show", "a copy", "--json").data["run"] == "a copy"
    assert console("show", run.name, "--json").data["run"] == run.name


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\x00", b"[]", b'{"id": 7}'])
def test_a_run_with_a_damaged_manifest_is_named_and_hides_no_other(console, run: Path, text: bytes) -> None:
    other = console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "1", "--json", "--quiet").data["run"]
    (run / "run.json").write_bytes(text)
    listed = console("runs")
    assert listed.code == 0
    assert other in listed.out
    assert run.name in listed.out + listed.err
    for command in (("show", run.name), ("resume", run.name), ("review", run.name)):
        refused = console(*command)
        assert refused.code == 2
        assert "run.json" in refused.err


@pytest.mark.parametrize(
    "verb", [("branch",), ("branch", "--decide"), ("try", "--set", "params.temperature=0.2")], ids=" ".join
)
def test_what_follows_a_run_plays_though_a_graded_case_has_no_reply(console, run: Path, verb: tuple[str, ...]) -> None:
    journal = run / "journal.jsonl"
    asked = [json.loads(line)["key"][0] for line in journal.read_bytes().splitlines() if b'"t":"asked"' in line]
    failed = next(case for case, outcome in outcomes(console, run).items() if outcome == "failed")
    silent = next(case for case in asked if case != failed)
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"t":"asked"' not in line or json.loads(line)["key"][0] != silent]
    journal.write_bytes(b"".join(kept))
    of = run.name if verb[0] == "try" else f"{run.name}#{failed}"
    ended = console(verb[0], of, *verb[1:], "--yes", "--quiet")
    assert ended.code == 0, ended.err


def test_a_note_after_a_cut_one_is_whole(run: Path) -> None:
    notes = Notes(run)
    first = notes.add(Note(Key("a"), "comment", "first"))
    with notes.path.open("ab") as file:
        file.write(b'{"key":["a",0,1],"kind":"comm')
    second = notes.add(Note(Key("b"), "comment", "second"))
    assert notes.all() == [first, second]


def test_folders_that_are_no_runs_disturb_nobody(console, run: Path, home: Path) -> None:
    runs = home / "runs"
    (runs / "loop").symlink_to("loop")
    (runs / "gone").symlink_to(home / "nowhere")
    (runs / "file").write_text("")
    (runs / "empty").mkdir()
    (runs / "deep").mkdir()
    (runs / "deep" / "run.json").symlink_to("run.json")
    listed = console("runs", "--json")
    assert listed.code == 0
    assert [one["id"] for one in listed.data["runs"]] == [run.name]
    assert console("show", "latest").code == 0


def test_a_journal_that_is_no_file_is_named(console, run: Path) -> None:
    journal = run / "journal.jsonl"
    journal.unlink()
    journal.mkdir()
    for command in (("review", run.name), ("show", run.name), ("resume", run.name)):
        refused = console(*command)
        assert refused.code == 2, refused.err
        assert "journal.jsonl" in refused.err


def test_a_run_that_was_moved_away_is_gone_and_one_that_was_copied_is_there(console, run: Path, home: Path) -> None:
    shutil.copytree(run, home / "runs" / "copied")
    before = outcomes(console, run)
    moved = run.rename(home / "elsewhere")
    gone = console("show", run.name)
    assert gone.code == 2
    assert "no run is named" in gone.err
    assert outcomes(console, home / "runs" / "copied") == before
    assert console("show", f"{moved}{os.sep}").code == 0
    assert [r for r in JournalReader(moved / "journal.jsonl").read_new() if isinstance(r, Finished)]


def changed_in_place(data: bytes) -> bytes:
    """Turn a failure into a pass by hand, with a checksum that holds and no byte more."""
    lines = data.splitlines()
    at = next(n for n, line in enumerate(lines) if b'"t":"finished"' in line and b'"passed"' in line)
    lines[at] = signed(lines[at].replace(b'"passed"', b'"failed"'))
    return b"\n".join([*lines, b""])


def last_line_gone(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(lines[:-2])


@pytest.mark.parametrize("keeps_time", first_quick([True, False]), ids=["time kept", "time changed"])
@pytest.mark.parametrize("damage", [flipped, changed_in_place, last_line_gone], ids=lambda damage: damage.__name__)
def test_damage_is_noticed_while_the_summary_is_there(console, run: Path, damage, keeps_time: bool) -> None:
    journal = run / "journal.jsonl"
    before, times = journal.read_bytes(), journal.stat()
    assert console("show", run.name).code == 0
    assert console("doctor", "--offline", "--deep", "--json").data["findings"][-2]["state"] == "good"
    journal.write_bytes(damage(before))
    assert len(damage(before)) == len(before) or damage is last_line_gone
    if keeps_time:
        os.utime(journal, ns=(times.st_atime_ns, times.st_mtime_ns))
    for _ in range(2):
        deep = console("doctor", "--offline", "--deep", "--json")
        assert deep.code == 2
        text = " ".join(
            one["text"] for one in deep.data["findings"] if one["area"] == "journals" and one["state"] == "bad"
        )
        assert run.name in text
        listed = console("runs")
        shown = console("show", run.name).out
        if damage is flipped:
            assert (
                f"journal.jsonl:{before.rindex(b'finished') and _line_of(before, damage(before))}: the checksum" in text
            )
            assert f"skipped: {_line_of(before, damage(before))}" in shown
            assert f"{run.name}: 1 damaged journal line" in listed.err
        elif damage is changed_in_place:
            assert "was changed in a part that had been summarized" in text
            assert "was changed in a part that had been summarized" in shown
            assert f"{run.name}: the journal was changed" in listed.err
        else:
            assert "the journal was shortened" in text
            assert "the journal was shortened" in shown
    resumed = console("resume", run.name)
    if damage is flipped:
        assert f"{run.name}/journal.jsonl:{_line_of(before, damage(before))}: the checksum" in resumed.err
        assert "run again" in resumed.err


def _line_of(before: bytes, after: bytes) -> int:
    at = next(n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one != other)
    return before[:at].count(b"\n") + 1
