"""Code of a suite that tries to leave, stop or hold the engine: its case is broken, the others and the command end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.escaping_suite import write_escaping_suite
from support.quick_rows import first_quick

PLAY = {
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "SystemExit": "sys.exit(0)",
    "os._exit": "os._exit(0)",
    "CancelledError": "raise asyncio.CancelledError",
    "a BaseException of its own": "raise Own('mine')",
    "an exception without a message": "raise Unspeakable",
    "its own task cancelled": "asyncio.current_task().cancel(); await asyncio.sleep(0)",
    "KeyboardInterrupt in a task that is awaited": "await asyncio.gather(raises(KeyboardInterrupt()))",
    "SystemExit in a task that is awaited": "await asyncio.create_task(raises(SystemExit(0)))",
    "KeyboardInterrupt in a task": "task = asyncio.create_task(raises(KeyboardInterrupt())); await until_stopped()",
    "SystemExit in a callback": "loop.call_soon(throws, SystemExit(0)); await until_stopped()",
    "GeneratorExit in a callback": "loop.call_soon(throws, GeneratorExit()); await until_stopped()",
    "an error in a callback": "loop.call_later(0.01, throws, ValueError('late')); await until_stopped()",
    "the loop stopped": "loop.stop()",
    "the loop stopped in a callback": "loop.call_soon(lambda: loop.stop()); await until_stopped()",
    "the loop closed": "loop.close()",
    "an error in a thread": "await asyncio.to_thread(throws, Own())",
}
SCORE = {f"{name} in score": PLAY[name] for name in list(PLAY)[:7]}


@pytest.mark.parametrize("name", first_quick([*list(PLAY)[::2], *SCORE, *list(PLAY)[1::2]], 8))
def test_its_case_is_broken_with_the_place_and_the_others_go_on(console: Any, home: Path, name: str) -> None:
    write_escaping_suite(home / "data", play=PLAY.get(name, "pass"), score=SCORE.get(name, "pass"))
    assert console("allow", "escapes").code == 0
    ended = console("run", "-m", "sim/careful", "-s", "escapes", "--name", "escapes", "--json", "--quiet")
    assert ended.data["report"]["outcomes"] == {"passed": 2, "broken": 1}, ended.err
    assert ended.code == 3
    assert ended.data["summary"]["state"] == "completed"
    assert "Traceback" not in ended.err
    shown = console("show", "escapes#bad").out
    assert "suite.py:" in shown
    assert "suite" in shown


def run_apart(home: Path, *argv: str, program: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command in a process of its own, as what goes on in it ends only with the process."""
    top = str(Path(__file__).resolve().parents[2])
    command = [
        sys.executable,
        "-c",
        f"{program}\nimport sys\nfrom console.__main__ import main\nsys.exit(main())",
        *argv,
    ]
    environment = dict(os.environ) | {"PYTHONPATH": top}
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=110, check=False)


def test_streams_that_it_replaces_are_not_those_of_the_command(console: Any, home: Path) -> None:
    write_escaping_suite(home / "data", play="sys.stdout = sys.stderr = None")
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["report"]["outcomes"] == {"passed": 3}


def test_a_limit_of_file_sizes_ends_the_run_which_can_be_resumed(console: Any, home: Path) -> None:
    limit = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (100, r.getrlimit(r.RLIMIT_FSIZE)[1]))"
    write_escaping_suite(home / "data", play=f"os.path.exists('once') or (open('once', 'w'), exec('{limit}'))")
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes")
    assert ended.returncode == 3, ended.stderr
    assert "cannot write journal.jsonl: File too large" in ended.stderr
    assert "`eval-console resume` continues it" in ended.stderr
    ended = run_apart(home, "resume", "latest")
    assert "3 passed" in ended.stdout, ended.stderr


LEFT = {
    "a task that swallows its cancellation": ("asyncio.create_task(goes_on()); await asyncio.sleep(0)", "goes_on"),
    "a thread": ("threading.Thread(target=sleeps).start()", "sleeps"),
    "a thread of the loop's pool": ("loop.run_in_executor(None, sleeps)", "sleeps"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_it_leaves_running_is_named_and_ends_with_the_command(console: Any, home: Path, name: str) -> None:
    play, place = LEFT[name]
    write_escaping_suite(home / "data", play=play)
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes")
    assert ended.returncode == 0, ended.stderr
    assert "3 passed" in ended.stdout
    assert f"in {place})" in ended.stderr
    assert "suite.py:" in ended.stderr
    assert "it ends with this command" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_pool_that_waits_for_work_is_left_alone(console: Any, home: Path) -> None:
    play = "import concurrent.futures as c; self.pool = c.ThreadPoolExecutor(); self.pool.submit(int).result()"
    write_escaping_suite(home / "data", play=play)
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes")
    assert ended.returncode == 0, ended.stderr
    assert "ends with this command" not in ended.stderr


def test_a_conversation_that_goes_on_when_it_is_stopped_stays_open(console: Any, home: Path) -> None:
    write_escaping_suite(home / "data", play="os.kill(os.getpid(), 15); await goes_on()")
    assert console("allow", "escapes").code == 0
    program = "import console.engine.running as r; r.GRACE_S = 0.3"
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--name", "stuck", program=program)
    assert ended.returncode == 143, ended.stderr
    assert "bad#0 continues although it was cancelled" in ended.stderr or "continues although" in ended.stderr
    assert "in goes_on)" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert console("runs", "--json").data["runs"][0]["state"] == "stopped"


@pytest.mark.parametrize(
    "code",
    [
        r"os.write(2, b'raw \x1b[31m\x07 red\n'); os.write(1, b'raw \x1b]0;title\x07\n')",
        r"sys.__stderr__.write('raw \x1b[31m red\n'); print('raw \x1b[2J', file=sys.__stdout__)",
        r"import subprocess; subprocess.run(['printf', r'raw \033[31m\n'])",
    ],
)
def test_what_it_writes_to_the_descriptors_is_clean_and_not_among_the_data(console: Any, home: Path, code: str) -> None:
    write_escaping_suite(home / "data", play=code)
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["report"]["outcomes"] == {"passed": 3}
    assert "raw" in ended.stderr
    assert not {"\x1b", "\x07"} & set(ended.stderr + ended.stdout)


def test_what_it_writes_to_the_descriptors_when_it_is_imported_is_not_among_the_data(console: Any, home: Path) -> None:
    write_escaping_suite(home / "data", first="os.write(1, b'raw \\x1b[31m\\n')")
    assert console("allow", "escapes").code == 0
    for command in (["run", "-m", "sim/careful", "-s", "escapes"], ["suites"]):
        ended = run_apart(home, *command, "--json")
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)
        assert "\x1b" not in ended.stderr


def test_a_flood_on_the_descriptors_is_cut(console: Any, home: Path) -> None:
    write_escaping_suite(home / "data", play="for n in range(400): os.write(2, b'flood ' * 1000)")
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes")
    assert ended.returncode == 0, ended.stderr[-400:]
    assert "more was written and is not shown" in ended.stderr
    assert len(ended.stderr) < 40_000


LAST = {
    "a function that waits": "atexit.register(sleeps)",
    "a function that raises": "atexit.register(throws, ValueError('late'))",
}


@pytest.mark.parametrize("name", LAST)
def test_what_it_registers_for_the_end_of_the_process_is_not_run(console: Any, home: Path, name: str) -> None:
    write_escaping_suite(home / "data", play=f"import atexit; {LAST[name]}")
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes")
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    assert "3 passed" in ended.stdout


@pytest.mark.parametrize("method", ["play", "score"])
def test_a_copy_of_the_engine_that_it_forks_writes_neither_a_record_nor_a_report(
    console: Any, home: Path, method: str
) -> None:
    write_escaping_suite(home / "data", **{"play": "pass", method: "os.fork()"})
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--name", "forked", "--json")
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    assert json.loads(ended.stdout)["summary"]["tally"]["passed"] == 3
    [journal] = (home / "runs").glob("*/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert sorted(line["key"][0] for line in lines if line["t"] == "finished") == ["bad", "first", "last"]


@pytest.mark.parametrize("first", first_quick([3, 6]), ids=["all", "all but the terminal"])
def test_an_engine_whose_files_it_closes_ends_with_a_sentence_and_resume_continues(
    console: Any, home: Path, first: int
) -> None:
    write_escaping_suite(
        home / "data", play=f"not os.path.exists('closed') and (open('closed', 'w'), os.closerange({first}, 200))"
    )
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--name", "closed")
    assert ended.returncode in (70, -9), ended.stderr
    assert "`eval-console resume` continues the run" in ended.stderr
    assert run_apart(home, "resume", "closed").returncode == 0


def test_it_cannot_close_the_stream_of_the_report(console: Any, home: Path) -> None:
    write_escaping_suite(home / "data", play="sys.stdout.close(); sys.stderr.close()")
    assert console("allow", "escapes").code == 0
    ended = run_apart(home, "run", "-m", "sim/careful", "-s", "escapes", "--json")
    assert (ended.returncode, json.loads(ended.stdout)["report"]["outcomes"]) == (0, {"passed": 3}), ended.stderr
