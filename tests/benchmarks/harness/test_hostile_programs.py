"""Programs that print, wait or fork without end, kill their parent, or leave processes behind break only themselves."""

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.core.outcome import Verdict
from console.core.record import Finished
from console.store.runs import RunFolder

AGENT = """\
import json, os, signal, subprocess, sys, time, urllib.request

def ask(text):
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    with urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]

def leave(**options):
    child = subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"], **options)
    with open(f"{case['id']}.pid", "a") as file:
        print(child.pid, file=file, flush=True)

case = json.load(sys.stdin)
answer = ask(case["id"])
exec(case.get("code", ""))
print(json.dumps({"answer": answer, "score": 1}))
"""
LEAVES = {
    "a session": "leave(start_new_session=True)",
    "a session without variables": "leave(start_new_session=True, env={})",
    "an orphan": "if os.fork() == 0:\n    os.setsid()\n    leave(start_new_session=True)\n    os._exit(0)\nos.wait()",
    "output held open": "leave(stdout=sys.stdout)",
}
HANG = "\nsignal.pause()"


def echo(request: dict[str, Any]) -> Scripted:
    return Scripted(f"to {request['messages'][-1]['content']}")


def write_suite(home: Path, server: OpenAIServer, codes: dict[str, str], limits: str = "") -> None:
    folder = home / "data" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.py").write_text(AGENT)
    command = f'format = "program"\ncommand = ["{sys.executable}", "-S", "agent.py"]\n'
    (folder / "suite.toml").write_text(command + limits)
    rows = [{"id": name, "input": "go", "code": code} for name, code in codes.items()]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')


def verdicts(home: Path) -> dict[str, Verdict]:
    (folder,) = (home / "runs").iterdir()
    return {it.key.case: it.verdict for it in RunFolder(folder).reader().iter_all() if isinstance(it, Finished)}


def left(home: Path) -> list[int]:
    """Return the processes that programs left behind and that still run."""
    pids = [int(pid) for file in (home / "data" / "agents").glob("*.pid") for pid in file.read_text().split()]
    assert pids
    return [pid for pid in pids if runs(pid)]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_output_time_and_processes_are_limited_while_a_program_runs(console: Any, home: Path) -> None:
    endless = {
        "prints": ("while True: sys.stdout.write('y' * 100_000)", "printed more than 1 MiB"),
        "complains": ("while True: sys.stderr.write('y' * 100_000)", "printed more than 1 MiB"),
        "a child prints": ("subprocess.run(['yes'])", "printed more than 1 MiB"),
        "waits": ("signal.pause()", "ran for 0.05 minutes"),
        "reads nothing and stops its driver": (f"os.kill(os.getppid(), {signal.SIGSTOP:d}){HANG}", "ran for 0.05 min"),
        "forks": ("[leave() for _ in range(30)]" + HANG, "has more than 20 processes"),
    }
    codes = {name: code for name, (code, _) in endless.items()}
    with OpenAIServer(echo) as server:
        write_suite(home, server, codes | {"good": ""}, "[limits]\nminutes = 0.05\noutput_mib = 1\nprocesses = 20\n")
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    ended = verdicts(home)
    assert ended.pop("good").outcome == "passed"
    for name, verdict in ended.items():
        assert (verdict.outcome, verdict.reason) == ("broken", "harness_limit"), name
        assert endless[name][1] in verdict.messages[0]
        assert "[limits] in suite.toml" in verdict.messages[0]
    assert not left(home)


def test_time_in_calls_is_not_the_programs(console: Any, home: Path) -> None:
    with OpenAIServer(lambda _: Scripted("slow", latency_s=4)) as server:
        write_suite(home, server, {"patient": ""}, "[limits]\nminutes = 0.05\n")
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    assert verdicts(home)["patient"].outcome == "passed"


def test_temporary_files_of_programs_end_with_the_run(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, {"litter": "import tempfile; print(tempfile.mkdtemp(), file=open('made', 'w'))"})
        console("allow", "agents")
        assert console("run", "-m", "m", "-s", "agents", "--quiet").code == 0
    made = Path((home / "data" / "agents" / "made").read_text().strip())
    assert made.parent.name.startswith("eval-console-")
    assert not made.parent.exists()


def test_a_program_that_kills_its_parents_breaks_only_its_own_case(console: Any, home: Path) -> None:
    codes = {
        "parent": f"{LEAVES['a session without variables']}\nos.kill(os.getppid(), 9){HANG}",
        "group": f"os.killpg(os.getpgid(os.getppid()), 9){HANG}",
        "own group": f"os.killpg(0, 9){HANG}",
    }
    with OpenAIServer(echo) as server:
        write_suite(home, server, codes | {f"good {number}": "" for number in range(3)})
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "-c", "6", "--quiet")
        asked = Counter(request["messages"][-1]["content"] for request in server.requests)
    ended = verdicts(home)
    assert {name for name, verdict in ended.items() if verdict.outcome == "broken"} == set(codes)
    assert set(asked.values()) == {1}, "a lost program gets its answers again"
    assert "lost 3 times" in ended["parent"].messages[0]
    assert not left(home)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
@pytest.mark.parametrize("end", ["", HANG])
def test_what_a_program_leaves_behind_ends_with_it(console: Any, home: Path, end: str) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, {name: code + end for name, code in LEAVES.items()}, "[limits]\nminutes = 0.05\n")
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    assert {verdict.outcome for verdict in verdicts(home).values()} == {"broken" if end else "passed"}
    assert not left(home)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux adopts orphans")
def test_what_a_program_started_ends_with_a_killed_engine(home: Path, console: Any) -> None:
    """The keeper holds the output of the engine open no longer than it takes to end everything."""
    with OpenAIServer(echo) as server:
        write_suite(home, server, {name: code + "\nask('started')" for name, code in LEAVES.items()})
        console("allow", "agents")
        process = subprocess.Popen(
            [sys.executable, "-m", "console", "run", "-m", "m", "-s", "agents", "--quiet"], cwd=home,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )  # fmt: skip
        started: list[str] = []

        def answer(request: dict[str, Any]) -> Scripted:
            started.extend(text for text in (request["messages"][-1]["content"],) if text == "started")
            if len(started) == len(LEAVES):
                process.kill()
            return echo(request)

        server.answer = answer
        process.wait(120)
    for pid in left(home):
        wait_for_end(pid)
    assert not left(home)


def wait_for_end(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([descriptor], [], [], 60)
    os.close(descriptor)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[limits]\nminutes = 0\n", "minutes"),
        ('[limits]\noutput_mib = "64"\n', "output_mib"),
        ("[limits]\nmemory = 1\n", "memory"),
    ],
)
def test_wrong_limits_are_refused_by_name(console: Any, home: Path, toml: str, words: str) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, {"c": ""}, toml)
    refused = console("allow", "agents")
    assert refused.code == 2
    assert words in refused.err
