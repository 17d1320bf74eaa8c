"""Every block of docs/extending.md does what it says: files are written, commands run, in order, in an empty folder."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "extending.md"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT_S = 400


@dataclass(frozen=True)
class Block:
    """One fenced block: a file to be written where it names one, else commands."""

    line: int
    language: str
    path: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    for match in FENCE.finditer(page):
        yield Block(page.count("\n", 0, match.start()) + 1, match[1], match[2] or "", match[3])


@pytest.fixture
def shell(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """One shell for all commands, so that a variable of one block is there in the next; `eval-console` is this one."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("eval-console", "-m console"), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        program.chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EVAL_CONSOLE_", "PYTEST_"))}
    homes = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("STATE", "DATA", "CONFIG", "CACHE")}
    environment = {
        **kept,
        **homes,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "EVAL_CONSOLE_SIM_PACE": "flat",
        "PIP_NO_INDEX": "1",
    }
    with subprocess.Popen(
        ["bash"], cwd=folder, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def run(shell: "subprocess.Popen[str]", text: str) -> tuple[int, str]:
    """Run a block and return the code of its first failing command, or 0, and what it wrote."""
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"trap 'failed=$?' ERR; failed=0; set -o pipefail\n{text}\necho; echo \"ended $failed\"\n")
    shell.stdin.flush()
    written: list[str] = []
    for line in shell.stdout:
        if (ended := re.fullmatch(r"ended (\d+)\n", line)) is not None:
            return int(ended[1]), "".join(written)
        written.append(line)
    return -1, "".join(written)


def run_blocks(shell: "subprocess.Popen[str]", tmp_path: Path, page: Path) -> None:
    """Write the files and run the commands of a page, in order; fail at the first command that does."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.path:
            path = tmp_path / "empty" / block.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            continue
        assert block.language == "sh", f"{page.name}:{block.line}: neither a file nor commands"
        code, written = run(shell, block.text)
        assert code == 0, f"{page.name}:{block.line} ended with {code}:\n{written}"
        assert "Traceback" not in written


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S)
def test_every_block_does_what_it_says(shell: "subprocess.Popen[str]", tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the package of the page is built with it")
    run_blocks(shell, tmp_path, PAGE)


def test_the_runner_sees_a_command_that_fails(shell: "subprocess.Popen[str]") -> None:
    assert run(shell, "echo a\nfalse\necho b") == (1, "a\nb\n\n")
    assert run(shell, "eval-console suites nothing")[0] == 2
    assert run(shell, "echo a") == (0, "a\n\n")


def test_the_page_has_all_three_ways() -> None:
    kinds = [block.language for block in blocks(PAGE.read_text(encoding="utf-8"))]
    assert {"sh", "toml", "python", "csv", "jsonl"} <= set(kinds)
    assert kinds.count("sh") >= 6
