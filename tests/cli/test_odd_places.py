"""Devices, pipes, links and closed streams where a file or a run is expected: one sentence, and nothing is replaced."""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_quick

TOP = Path(__file__).resolve().parents[2]
NEEDS_DATA = pytest.mark.skipif(not (TOP / "data" / "bfcl").exists(), reason="needs `eval-console pull bfcl`")


@pytest.fixture
def run(console: Any) -> str:
    ended = console("run", "-m", "sim/careful", "-s", "bfcl-starter", "-n", "1", "--json", "--quiet")
    return ended.data["summary"]["id"]


def apart(home: Path, words: str, redirection: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command under a shell that redirects its streams."""
    line = f"exec {sys.executable} -m console {words} {redirection}"
    environment = dict(os.environ) | {"PYTHONPATH": str(TOP)}
    return subprocess.run(
        ["sh", "-c", line], cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("name", ["./loop", "/"])
@pytest.mark.parametrize("verb", ["show", "resume", "watch", "merge", "compare", "failures"])
def test_a_place_that_holds_no_run_is_named(console: Any, home: Path, verb: str, name: str) -> None:
    (home / "runs").mkdir()
    (home / "loop").symlink_to("loop")
    ended = console(verb, name, *([name] if verb in ("compare", "merge") else []))
    assert ended.code == 2, ended.err
    assert "internal error" not in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("models", "--models", "/dev/zero"),
        ("run", "-m", "sim/careful", "-s", "bfcl-starter", "--ids", "@/dev/zero"),
        ("pull", "bfcl", "--from", "/dev/zero"),
        ("check", "bfcl-starter", "/dev/zero"),
        ("check", "aidan-starter", "/dev/urandom"),
        ("import", "/dev/zero", "--format", "eval"),
        ("new", "mine", "--from", "sparse.csv"),
        ("branch", "latest#web_search_base_0", "--at", "1.1", "--reply", "/dev/zero"),
    ],
)
def test_a_file_without_an_end_is_refused(console: Any, home: Path, run: str, words: tuple[str, ...]) -> None:
    make_sparse(home / "sparse.csv")
    ended = console(*words)
    assert ended.code == 2
    assert re.search("larger than|neither a file nor a (folder|pipe)|not an ordinary file", ended.err)


def make_sparse(path: Path) -> None:
    """Make a file of 1 TiB that takes no space."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("suite", first_quick(["bfcl-starter", "aidan-starter", "cave-starter", "dialogue-starter"]))
def test_a_huge_line_ends_the_check_after_the_lines_before_it(console: Any, home: Path, suite: str) -> None:
    rows = home / "rows.jsonl"
    make_sparse(rows)
    with rows.open("r+b") as file:
        file.write(b'{"id": "none", "output": 1}\n')
    ended = console("check", suite, rows)
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert (ended.code, [answer["line"] for answer in answers]) == (2, [1, 2, 3])
    assert "is longer than 16,000,000 bytes" in answers[1]["error"]
    assert "cannot be read to the end: a line has no end" in answers[2]["error"]


@pytest.mark.parametrize("form", first_quick(["inspect-json", "eval", "chat", "promptfoo", "cavebench", "tau2"], 2))
def test_a_huge_log_is_refused(console: Any, home: Path, form: str) -> None:
    make_sparse(home / "log")
    ended = console("import", home / "log", "--format", form)
    assert ended.code == 2, ended.err
    assert "internal error" not in ended.err


@pytest.mark.parametrize("make", [os.mkfifo, make_sparse])
@pytest.mark.parametrize(
    "words", ["bfcl evaluate -s bfcl-starter --result-dir result", pytest.param("import result", marks=NEEDS_DATA)]
)
def test_a_pipe_or_a_huge_file_among_results_is_named(
    console: Any, home: Path, make: Callable[[Path], None], words: str
) -> None:
    file = home / "result" / "m" / "non_live" / "BFCL_v4_simple_python_result.json"
    file.parent.mkdir(parents=True)
    make(file)
    ended = console(*words.split())
    assert ended.code == 2, ended.err
    assert re.search("not an ordinary file|larger than 1 GiB", ended.err)


@pytest.mark.parametrize("name", ["suite.toml", "chart.png", "tests.py"])
def test_a_pipe_in_the_folder_of_a_suite_is_named(home: Path, name: str) -> None:
    folder = home / "data" / "odd"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text('format = "dialogue"\n')
    rows = {"chart.png": '"images": ["chart.png"], "equals": "x"', "tests.py": '"python_tests": "tests.py"'}
    (folder / "cases.jsonl").write_text(f'{{"id": "a", "prompt": "hi", {rows.get(name, rows["chart.png"])}}}\n')
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    ended = apart(home, "suites check odd --data data")
    assert ended.returncode == 2, ended.stderr
    assert name in ended.stderr
    assert "not an ordinary file" in ended.stderr


def test_an_export_writes_to_a_pipe_and_through_a_link_and_replaces_neither(console: Any, home: Path, run: str) -> None:
    pipe, link, target = home / "pipe", home / "link.csv", home / "target.csv"
    os.mkfifo(pipe)
    link.symlink_to(target)
    target.write_text("old")
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert console("export", run, "-o", pipe).code == 0
    text, _ = reader.communicate(timeout=60)
    assert text.startswith(b"case,rollout,")
    assert console("export", run, "-o", link).code == 0
    assert target.read_bytes() == text
    assert pipe.is_fifo()
    assert link.is_symlink()


@pytest.mark.parametrize("words", first_quick(["show latest", "export latest", "show latest --json", "runs --json"], 2))
def test_a_full_disk_below_stdout_is_one_sentence(home: Path, run: str, words: str) -> None:
    ended = apart(home, words, "> /dev/full")
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.strip().endswith(f"cannot be written: {os.strerror(errno.ENOSPC)}")


@pytest.mark.parametrize("redirection", first_quick(["<&- >&- 2>&-", ">&-", "2>&-", "<&-"]))
def test_closed_streams_stop_no_run_and_no_file_takes_their_place(home: Path, redirection: str) -> None:
    ended = apart(home, "run -m sim/careful -s bfcl-starter -n 1 --name quiet", redirection)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    [journal] = (home / "runs").glob("*/journal.jsonl")
    assert all(line.startswith('{"v":') for line in journal.read_text().splitlines())


def test_a_port_that_does_not_exist_is_named(console: Any) -> None:
    ended = console("--serve", "--port", "99999999")
    assert (ended.code, "invalid port 99999999" in ended.err) == (2, True)
