"""What is expected of the model never enters the sandbox: neither as a file that can be read nor in what is sent."""

import bz2
import gzip
import importlib.util
import io
import json
import lzma
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.memory_stage import MemoryStage, cell
from support.quick_rows import first_quick

from console.benchmarks.cavebench.conversation import play
from console.benchmarks.cavebench.conversation.confined import withheld_files
from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.case import Case, Setting
from console.core.outcome import Outcome
from console.core.run import Selection
from console.sandbox import launch, worker
from console.sandbox.worker import Layers, Worker
from console.suites.selection import select_cases
from console.suites.suite import SuiteEntry

STARTER = Path(__file__).resolve().parents[3] / "data" / "cave-starter"
PACKAGE = Path(launch.__file__).resolve().parents[1]
CELL = "console.sandbox.programs.cell"
cave_mode = pytest.mark.skipif(importlib.util.find_spec("cave_agent") is None, reason="cave-agent is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined")

MODULE = '''
"""A scenario of the tests."""
from core.validation import ValidatorResult

def add(a: int, b: int = 1) -> int:
    """Add numbers."""
    return a + b

def asks(response, runtime, turn, actual_calls):
    return ValidatorResult(turn.query == "Add." and turn.validator == "asks", turn.query)

def peeks(response, runtime, turn, actual_calls):
    return ValidatorResult(bool(turn.expected_function_calls), "")

tools = [add]
validators = {"asks": asks, "peeks": peeks}
'''
CANARIES = ("canary-value-71", "canary-cue-72", "canary-reference-73", "canary_read_74", "canary-run-75")
TURN = {
    "query": "Add.",
    "validator": "asks",
    "expected_function_calls": [{"name": "add", "arguments": [{"name": "a", "value": CANARIES[0]}]}],
    "cue": {"code": CANARIES[1], "answer": CANARIES[1]},
    "reference_response": CANARIES[2],
    "expected_variable_reads": [CANARIES[3]],
}
SEARCH = """
import os, sys
sys.setprofile(None)
def readable(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
telling, files, listed = [], 0, 0
for top in dict.fromkeys(os.path.realpath(top) for top in tops):
    for parent, folders, names in os.walk(top):
        listed += len(names)
        for name in names:
            path = os.path.join(parent, name)
            try:
                facts = os.lstat(path)
            except OSError:
                continue
            if facts.st_ctime < since or facts.st_size > 5_000_000 or name.endswith(suffixes) or os.path.islink(path):
                continue
            content = readable(path)
            files += bool(content)
            telling += [path for word in words if word in content]
print(files, listed, telling[:5])
"""
BINARY = (".so", ".a", ".o", ".pyc", ".gz", ".png", ".npy", ".npz", ".whl")


def canary_suite(folder: Path) -> tuple[CaveBenchSuite, Case]:
    """Write a dataset whose expectations lie in the scenario and in many other places."""
    scenario = [{"name": "s", "module": "mod", "conversations": [{"id": "c", "turns": [TURN]}]}]
    text = json.dumps(scenario)
    (folder / "mod.py").write_text(MODULE)
    (folder / "numbers.csv").write_text("1,2,3\n")
    (folder / "s.json").write_text(text)
    for name in ("deep/er/copy.json", "copy.jsonl", "notes.md", ".git/HEAD", ".cache/scenario.json", "old.json.bak"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "runs").mkdir()
    (folder / "runs" / "m.json").write_text(json.dumps({"s": {"expected_calls": [CANARIES[4]]}}))
    suite = CaveBenchSuite(SuiteEntry(name="cave", format="cavebench", folder=folder, title="cave"))
    return suite, select_cases(suite, Selection(), Setting(mode="cave"))[0]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """All bytes that are sent to workers."""
    bytes_sent = bytearray()
    pack = worker.pack

    def packed(frame: dict[str, Any]) -> bytes:
        data = pack(frame)
        bytes_sent.extend(data)
        return data

    monkeypatch.setattr(worker, "pack", packed)
    return bytes_sent


def search(words: Sequence[str], since: float, folder: Path) -> str:
    """Return a cell that looks for words in every file that can be read."""
    names = [word.encode() for word in words]
    places = f"[{str(folder)!r}, os.getcwd(), os.environ['HOME'], '/', '/usr', '/lib', '/etc', sys.prefix, *sys.path]"
    return f"import os, sys\ntops, since, words, suffixes = {places}, {since}, {names}, {BINARY}\n{SEARCH}"


LEVELS = {
    "all": Layers(),
    "no mounts": Layers(mounts=False),
    "both": Layers(namespaces=False),
    "landlock": Layers(namespaces=False, seccomp=False),
}


@cave_mode
@pytest.mark.parametrize("level", first_quick(["all", "landlock", "no mounts", "both"]))
async def test_no_file_and_no_message_holds_what_is_expected(
    tmp_path: Path, sent: bytearray, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    """The whole file system is searched for files that are not older than the test."""
    start = Worker.start

    async def started(*arguments: Any, **options: Any) -> Worker:
        return await start(*arguments, **options, layers=LEVELS[level])

    monkeypatch.setattr(play.Worker, "start", started)
    since = time.time() - 60
    suite, case = canary_suite(tmp_path)
    # Words are put together inside, so that neither the cell nor this reply is what is looked for.
    halves = [(word[:-2], word[-2:]) for word in CANARIES]
    code = search([], since, tmp_path).replace(", [], ", f", [(a + b).encode() for a, b in {halves}], ", 1)
    stage = MemoryStage(lambda turn, step, messages: cell(code) if step == 0 else "done")
    output = await suite.play(
        case, stage, Setting(mode="cave", options={"i_trust_this_model": True, "cell_seconds": 200.0})
    )
    shown = next(data for kind, _, data in stage.notes if kind == "cell")
    files, listed, telling = shown["output"].split(maxsplit=2)
    assert telling.strip() == "[]"
    assert int(files) >= 2, "module and numbers can be read"
    assert int(listed) > 1000
    assert output["turns"][0]["validator"]["success"]
    for word in CANARIES:
        assert word.encode() not in bytes(sent)


@pytest.mark.parametrize("mode", [pytest.param("cave", marks=cave_mode), "json"])
async def test_nothing_of_the_bundled_suite_is_sent_or_readable(sent: bytearray, mode: str) -> None:
    """Cues and answers of the starter's own scenarios, in both modes; text files of every folder code comes from."""
    suite = CaveBenchSuite(SuiteEntry(name="starter", format="cavebench", folder=STARTER, title="starter"))
    cases = [
        case
        for case in select_cases(suite, Selection(), Setting(mode=mode))
        if mode == "json" or case.category in ("bike_counter", "kitchen")
    ]
    assert cases
    words = [word for case in cases for turn in case.data["conversation"]["turns"] for word in _cue_words(turn)]
    assert len(words) > 3
    for case in cases:
        stage = MemoryStage(lambda turn, step, messages: "I do not know.")
        await suite.play(case, stage, Setting(mode=mode))
    assert [word for word in words if word.encode() in bytes(sent)] == []
    withheld = withheld_files(STARTER, {path.relative_to(STARTER).as_posix() for path in STARTER.rglob("*.json")})
    box = await Worker.start(CELL, read_only=[STARTER], hidden=withheld, allow_weaker=True)
    if box.level.files:
        code = f"tops, since, suffixes = [{str(STARTER)!r}, {str(PACKAGE)!r}], 0, {BINARY}\n"
        result = await box.call("run", {"code": f"{code}words = {[word.encode() for word in words]}\n{SEARCH}"})
        files, _, telling = result["output"].split(maxsplit=2)
        assert int(files) > 100
        assert telling.strip() == "[]"
    await box.kill()


def _cue_words(turn: dict[str, Any]) -> list[str]:
    """Return texts long enough to stand nowhere else."""
    cue = turn.get("cue", {})
    return [text for text in (cue.get("code", ""), cue.get("answer", "")) if len(text) > 30 and "\n" not in text]


@cave_mode
async def test_a_validator_that_asks_for_expectations_is_told_that_they_stay_outside(tmp_path: Path) -> None:
    suite, case = canary_suite(tmp_path)
    turn = TURN | {"validator": "peeks", "expected_function_calls": [], "expected_variable_reads": []}
    case = Case(case.id, case.category, case.data | {"conversation": {"id": "c", "turns": [turn]}})
    output = await suite.play(case, MemoryStage(lambda turn, step, messages: "done"), Setting(mode="cave"))
    verdict = suite.score(case, output, Setting(mode="cave"))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "validator_error")
    assert "does not enter the sandbox" in verdict.messages[0]


async def test_hidden_files_can_be_listed_and_not_opened(tmp_path: Path) -> None:
    for name in ("given/open.txt", "given/hidden.txt", "given/in/open.txt", "given/in/hidden.txt", "given/shut/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    hidden = [tmp_path / "given" / name for name in ("hidden.txt", "in/hidden.txt", "shut")]
    box = await Worker.start(CELL, read_only=[tmp_path / "given"], hidden=hidden, allow_weaker=True)
    if not box.level.files:
        await box.kill()
        pytest.skip("files stay open here")
    code = f"""
import os
for parent, folders, names in os.walk({str(tmp_path / "given")!r}):
    for name in names:
        try:
            print(name, open(os.path.join(parent, name)).read())
        except OSError as error:
            print(name, type(error).__name__)
os.symlink({str(hidden[0])!r}, "link")
try:
    print(open("link").read())
except OSError:
    print("link refused")
"""
    lines = (await box.call("run", {"code": code}))["output"].splitlines()
    assert lines.count("open.txt text") == 2
    assert lines.count("hidden.txt PermissionError") == 2
    assert lines.count("x.txt PermissionError") == 1
    assert lines[-1] == "link refused"
    await box.kill()


def test_the_suites_inside_an_installed_package_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    suites = ("console/bundled/cave-starter/s.json", "console/bundled/other/x")
    for name in ("console/sandbox/inside.py", "np/a.py", *suites):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("x")
    monkeypatch.setattr(launch, "_PACKAGE", site / "console")
    own = site / "console" / "bundled" / "cave-starter"
    listed, opened = launch.open_paths([site, site / "console", own], [own / "s.json"])
    assert {Path(path).relative_to(site).as_posix() for path in opened} == {"console/sandbox", "np"}
    names = {Path(path).relative_to(site).as_posix() for path in listed}
    assert names == {".", "console", "console/bundled/cave-starter"}


def test_packed_copies_of_what_is_expected_are_withheld_and_packed_data_is_not(tmp_path: Path) -> None:
    told, data = json.dumps([TURN]).encode() * 3, b"1,2,3\n" * 1000
    writers: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped, "tar.gz": tarred
    }  # fmt: skip
    for kind, write in writers.items():
        (tmp_path / f"told.{kind}").write_bytes(write(told))
        (tmp_path / f"data.{kind}").write_bytes(write(data))
        (tmp_path / f"cut.{kind}").write_bytes(write(told)[:-20])
    (tmp_path / "across.gz").write_bytes(gzip.compress(b" " * ((1 << 20) - 5) + told))
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(300 << 20), 1))
    names = {path.name for path in withheld_files(tmp_path, [])}
    assert {f"told.{kind}" for kind in writers} | {"across.gz", "bomb.gz"} <= names
    assert not [name for name in names if name.startswith("data")]
    assert {"cut.gz", "cut.xz", "cut.bz2"} <= names


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", content)
    return out.getvalue()


def tarred(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        facts = tarfile.TarInfo("a.json")
        facts.size = len(content)
        archive.addfile(facts, io.BytesIO(content))
    return out.getvalue()


@cave_mode
async def test_a_later_query_is_not_sent_before_its_turn(tmp_path: Path, sent: bytearray) -> None:
    suite, case = canary_suite(tmp_path)
    later = {"query": "canary-query-76"}
    case = Case(case.id, case.category, case.data | {"conversation": {"id": "c", "turns": [TURN, later]}})
    sent_by_turn: dict[int, bool] = {}

    def answer(turn: int, step: int, messages: Any) -> str:
        sent_by_turn[turn] = b"canary-query-76" in bytes(sent)
        return "done"

    await suite.play(case, MemoryStage(answer), Setting(mode="cave"))
    assert sent_by_turn == {0: False, 1: True}
