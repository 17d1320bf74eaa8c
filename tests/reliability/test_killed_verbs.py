"""Kill -9 at seeded moments of every verb that makes a run, again and again: resumed, it is that of an undisturbed one.

The moment is a number of lines in the new journals, so that it depends on no machine.
"""

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reliability.conftest import COMMAND
from server.openai_server import OpenAIServer, Scripted, say_ok

MODEL = '[{name}]\nmodel_id = "{name}"\nbase_url = "{url}"\napi_key_env = "SERVED_KEY"\n'
AT_ONCE, LINES = 3, 60
BASE = ("run", "-m", "one", "-s", "bfcl-starter", "-n", "20", "-c", str(AT_ONCE), "--name", "base")
SET = ("--set", "system=text.txt", "--seed", "3")
VERBS = {
    "run": (*BASE[:-1], "again"),
    "try": ("try", "base", *SET, "-n", "6", "--guard", "6"),
    "try with a control": ("try", "base", *SET, "-n", "3", "--guard", "3", "--control"),
    "try of 200": ("try", "base", *SET, "-n", "10", "--guard", "10", "-r", "10"),
    "branch": ("branch", "base#web_search_base_0", "-r", "6"),
    "regrade": ("regrade", "base"),
    "race": ("run", "-m", "one", "-m", "two", "-s", "bfcl-starter", "-n", "12", "--until", "best"),
}
LONG = "try of 200"
"""An experiment of 200 conversations, which is killed five times."""
ENDED = ("completed", "decided")


class Witness:
    """Answers, and remembers how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.server = OpenAIServer(self._answer, models=("one", "two"))

    def _answer(self, request: dict[str, Any]) -> Scripted:
        self.asked += 1
        return say_ok(request)


@pytest.fixture
def witness(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    witness = Witness()
    with witness.server:
        models = "".join(MODEL.format(name=name, url=witness.server.base_url) for name in ("one", "two"))
        (home / "models.toml").write_text(models)
        (home / "text.txt").write_text("Be careful.")
        monkeypatch.setenv("SERVED_KEY", "not-needed")
        yield witness


def killed_at(process: "subprocess.Popen[str]", runs: Path, more: int) -> None:
    """Kill a command, and the engines that it has started, when there are so many lines more in journals, or never."""
    until = lines_in(runs) + more
    while process.poll() is None:
        if lines_in(runs) >= until:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                process.send_signal(signal.SIGSTOP)  # so that it starts no engine that is not listed
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                watched = [os.pidfd_open(int(number)) for number in listed]
                for number in (process.pid, *map(int, listed)):
                    os.kill(number, signal.SIGKILL)
                for engine in watched:  # an engine that is still dying holds its run
                    select.select([engine], [], [])
                    os.close(engine)
        time.sleep(0.002)
    process.communicate()


def lines_in(runs: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in runs.glob("*/journal.jsonl"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc, to find a race's engines")
@pytest.mark.parametrize("verb", VERBS)
def test_killed_and_resumed_it_is_as_undisturbed(
    console: Any,
    home: Path,
    witness: Witness,
    start: Callable[..., "subprocess.Popen[str]"],
    verb: str,
    record_property: Callable[[str, object], None],
) -> None:
    def play(*words: str) -> list[dict[str, Any]]:
        console(*words, "--runs", str(runs), "--yes", "--quiet")
        return listed()

    def listed() -> list[dict[str, Any]]:
        every = console("runs", "--runs", str(runs), "--json").data["runs"]
        return sorted((run for run in every if run["id"] != base), key=lambda run: (run["model"], run["id"]))

    def due() -> tuple[str, ...]:
        unfinished = [run["id"] for run in listed() if run["state"] not in ENDED]
        return ("resume", unfinished[0]) if unfinished else () if listed() else VERBS[verb]

    def results() -> list[Any]:
        return [
            (run["state"], {name: count for name, count in run["tally"].items() if name != "calls"}) for run in listed()
        ]

    runs, base = home / "undisturbed", ""
    [first] = play(*BASE)
    base = first["id"]
    parent = {
        path.name: path.read_bytes() for path in (runs / base).iterdir() if path.name in ("run.json", "journal.jsonl")
    }
    clean = home / "clean"
    shutil.copytree(runs, clean)
    witness.asked = 0
    play(*VERBS[verb])
    expected, asked = results(), witness.asked
    assert all(state in ENDED for state, _ in expected)
    assert verb != LONG or sum(tally["passed"] + tally["failed"] for _, tally in expected) == 200, expected
    trials = int(os.environ.get("EVAL_CONSOLE_VERB_KILLS", "3"))
    for seed in range(trials):
        chance, runs = random.Random(f"{verb} {seed}"), home / f"trial-{seed}"
        shutil.copytree(clean, runs)
        witness.asked = kills = 0
        most, times = (2 * LINES, 5) if verb == LONG else (LINES, chance.randint(1, 3))
        for lines in chance.choices(range(most), k=times):
            if words := due():
                process = start([*COMMAND, *words, "--runs", str(runs), "--yes", "--quiet"])
                killed_at(process, runs, lines)
                kills += 1
        assert verb != LONG or kills == 5
        while words := due():
            assert console(*words, "--runs", str(runs), "--yes", "--quiet").code in (0, 3)
        assert results() == expected, (verb, seed)
        assert witness.asked <= asked + 2 * AT_ONCE * kills, (verb, seed)
        assert {name: (runs / base / name).read_bytes() for name in parent} == parent, (verb, seed)
    record_property("trials", trials)
