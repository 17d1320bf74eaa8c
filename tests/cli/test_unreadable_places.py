"""Files and folders that may not be read or traversed: one sentence that names the place, exit code 2, no crash."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.quick_rows import first_quick

from console.cli.exitcode import Exit

PROGRAM = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)()
assert libc.capget(header, data) == 0
for number in (0, 1):
    data[number] &= ~0b110  # root may then read as little as its files' modes say
assert libc.capset(header, data) == 0
from console.__main__ import main
for words in json.loads(sys.argv[1]):
    print("===", flush=True)
    code = main(words)
    print("=== code", int(code), flush=True)
    print("===", file=sys.stderr, flush=True)
"""
REPOSITORY = Path(__file__).resolve().parents[2]


def attempts(home: Path, commands: list[list[str]]) -> list[tuple[int, str]]:
    """Run commands in one process that may read only what modes allow; return code and stderr of each."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=home,
        env={"HOME": str(home), "PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    codes = [int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("=== code")]
    texts = done.stderr.split("===\n")
    return list(zip(codes, texts, strict=False))


@pytest.mark.parametrize("mode", first_quick([0o111, 0o000, 0o444]))
def test_a_folder_that_may_not_be_read_or_traversed(console, home: Path, mode: int) -> None:
    assert console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", 1).code == Exit.OK
    (run,) = [path for path in (home / "runs").iterdir() if (path / "run.json").exists()]
    closed = home / "closed"
    (closed / "inner" / "m" / "non_live").mkdir(parents=True)
    (closed / "inner" / "m" / "non_live" / "BFCL_v4_simple_python_result.json").write_text("{}")
    (closed / "in.jsonl").write_text("{}")
    (closed / "models.toml").write_text("")
    folders = [closed, closed / "inner", run]
    names = ["runs"], ["show", run.name], ["failures", run.name], ["show", "latest"], ["leaderboard"], ["trends"]
    commands = [
        *(list(words) for words in names),
        ["export", run.name, "--format", "json", "--out", "out.json"],
        ["review", run.name],
        ["runs", "--runs", str(closed)],
        ["runs", "--runs", str(closed / "inner")],
        ["suites", "--data", str(closed)],
        ["models", "--models", str(closed / "models.toml")],
        ["check", "aidanbench", str(closed / "in.jsonl")],
        ["import", str(closed / "inner")],
        ["import", str(closed / "inner"), "--format", "verifiers-aidanbench"],
        ["bfcl", "evaluate", "-s", "bfcl-starter", "--result-dir", str(closed / "inner")],
        ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--runs", str(closed / "runs")],
        ["run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--option", f"questions_path={closed}/q"],
        ["doctor"],
    ]
    kept = {folder: folder.stat().st_mode for folder in folders}
    try:
        for folder in reversed(folders):
            folder.chmod(mode)
        ended = attempts(home, commands)
    finally:
        for folder in folders:
            folder.chmod(kept[folder])
    assert len(ended) == len(commands)
    assert "ermission denied" in "".join(said for _, said in ended)
    for words, (code, said) in zip(commands, ended, strict=True):
        assert code != Exit.INTERNAL, (words, said)
        assert "Traceback" not in said, (words, said)
        if code == Exit.USAGE:
            assert len(said.strip()) > 20, words


def test_files_that_may_not_be_read(console, home: Path) -> None:
    assert console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", 1).code == Exit.OK
    (run,) = [path for path in (home / "runs").iterdir() if (path / "run.json").exists()]
    files = [path for path in run.iterdir() if path.is_file()]
    for path in files:
        path.chmod(0)
        try:
            ended = attempts(home, [["runs"], ["show", run.name], ["failures", run.name], ["resume", run.name]])
        finally:
            path.chmod(0o600)
        for code, said in ended:
            assert code != Exit.INTERNAL, (path.name, said)
            assert "Traceback" not in said
