"""Programs as suites: every call of theirs is in the journal, whoever is killed and whenever."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.core.record import Asked, Finished
from console.store.runs import RunFolder

AGENT = """\
import json, os, sys, threading, urllib.request

def ask(messages, role=""):
    body = json.dumps({"model": "any", "messages": messages}).encode()
    address = os.environ["JUDGE_BASE_URL" if role else "OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(address, body)) as reply:
        return json.load(reply)["choices"][0]["message"]

case = json.load(sys.stdin)
if case.get("fails"):
    sys.exit("out of order")
messages = [{"role": "user", "content": f"{case['id']} begins"}]
for step in range(case["steps"]):
    messages.append(ask(messages))
    messages.append({"role": "user", "content": f"{case['id']} step {step}"})
helpers = [[{"role": "user", "content": f"{case['id']} helper {n}"}] for n in range(case.get("helpers", 0))]
threads = [threading.Thread(target=ask, args=(one,)) for one in helpers]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps({"answer": messages[-2]["content"], "scores": {"steps": case["steps"], "half": 0.5}}))
"""
SUITE = f'format = "program"\ncommand = ["{sys.executable}", "-S", "agent.py"]\nthreshold = 2\n'
CASES = [{"id": f"c{number}", "input": "go", "steps": 2, "helpers": number % 3} for number in range(5)]
CALLS = sum(2 + case["helpers"] for case in CASES)


def write_suite(home: Path, server: OpenAIServer, cases: list[dict[str, Any]], toml: str = SUITE) -> None:
    folder = home / "data" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.py").write_text(AGENT)
    (folder / "suite.toml").write_text(toml)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    model = f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n'
    (home / "models.toml").write_text(model)


def echo(request: dict[str, Any]) -> Scripted:
    return Scripted(f"to {request['messages'][-1]['content']}")


def records(home: Path) -> tuple[list[Asked], list[Finished]]:
    (folder,) = (home / "runs").iterdir()
    read = list(RunFolder(folder).reader().iter_all())
    return [it for it in read if isinstance(it, Asked)], [it for it in read if isinstance(it, Finished)]


def test_every_call_at_the_server_is_in_the_journal_with_its_tokens(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        assert console("allow", "agents").code == 0
        ended = console("run", "-m", "m", "-s", "agents", "--json", "--quiet")
    assert ended.code == 0, ended.err
    asked, finished = records(home)
    assert ended.data["summary"]["tally"]["passed"] == len(CASES)
    assert len(asked) == len(server.requests) == CALLS
    said = Counter(str(request["messages"][-1]["content"]) for request in server.requests)
    assert said == Counter(str(record.messages[-1]["content"]) for record in asked)
    assert sum(ended.input_tokens for ended in finished) == sum(it.reply.usage.input for it in asked if it.reply.usage)
    assert finished[0].verdict.scores == {"steps": 2.0, "half": 0.5}


def test_a_run_is_graded_again_by_another_threshold_without_its_model(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        old = console("run", "-m", "m", "-s", "agents", "--json", "--quiet").data["run"]
        played = len(server.requests)
        same = console("regrade", old, "--quiet", "--json")
        assert same.code == 0, same.err
        write_suite(home, server, CASES, SUITE.replace("threshold = 2", "threshold = 3"))
        console("allow", "agents")
        strict = console("regrade", old, "--quiet", "--json").data
        assert len(server.requests) == played
    first, second, third = (
        {
            it.key.case: it.verdict
            for it in RunFolder(home / "runs" / name).reader().iter_all()
            if isinstance(it, Finished)
        }
        for name in (old, same.data["run"], strict["run"])
    )
    assert first == second
    assert (same.data["unchanged"], same.data["graded_differently"]) == (len(CASES), [])
    assert [flip["verdict"] for flip in strict["flips"]] == ["passed → failed"]
    assert {verdict.outcome for verdict in third.values()} == {"failed"}
    assert strict["graded_differently"] == ["threshold 2.0 → 3.0"]


def test_an_error_of_the_program_breaks_its_case_in_its_own_words(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, [{"id": "bad", "fails": True}, {"id": "low", "steps": 1}])
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    _, finished = records(home)
    verdicts = {ended.key.case: ended.verdict for ended in finished}
    assert verdicts["bad"].outcome == "broken"
    assert "out of order" in verdicts["bad"].messages[0]
    assert (verdicts["low"].outcome, verdicts["low"].reason) == ("failed", "scored_low")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (SUITE + "treshold = 1\n", "Did you mean threshold?"),
        ('format = "program"\n', "has no `command`"),
        (SUITE + '[roles]\ngrader = "jugde"\n', "gives the task's role grader to 'jugde'"),
        (SUITE + "threshold = 3\n", "is not TOML"),
    ],
)
def test_a_wrong_suite_is_refused_in_one_sentence(console: Any, home: Path, toml: str, words: str) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES, toml)
    refused = console("allow", "agents")
    assert refused.code == 2
    assert words in refused.err


def test_a_changed_suite_must_be_allowed_again(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
    console("allow", "agents")
    agent = home / "data" / "agents" / "agent.py"
    agent.write_text(AGENT + "# changed\n")
    assert "has changed since it was allowed" in console("run", "-m", "m", "-s", "agents").err


def run_until_killed(home: Path, server: OpenAIServer, args: list[str], victim: str, after: int) -> None:
    """Run a command line, and kill its engine, its driver or both when the server has been asked so often."""
    process = subprocess.Popen(
        [sys.executable, "-m", "console", *args, "--quiet"], cwd=home, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    asked = len(server.requests)

    def answer(request: dict[str, Any]) -> Scripted:
        if len(server.requests) == asked + after:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            drivers = [int(child) for child in children if b"_driver.py" in Path(f"/proc/{child}/cmdline").read_bytes()]
            for pid in (*(drivers if victim != "engine" else ()), *((process.pid,) if victim != "driver" else ())):
                os.kill(pid, signal.SIGKILL)
        return echo(request)

    server.answer = answer
    process.wait(60)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the driver is found under /proc")
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_nothing_is_lost_or_paid_twice_but_what_was_in_flight(console: Any, home: Path, seed: int) -> None:
    random = Random(seed)
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        args = ["run", "-m", "m", "-s", "agents", "--concurrency", "3"]
        victims = [random.choice(["engine", "both"]), "driver", random.choice(["engine", "both"])]
        for victim in victims:
            run_until_killed(home, server, args, victim, random.randint(1, 5))
            args = ["resume", "latest"]
        server.answer = echo
        console("resume", "latest", "--quiet")
    asked, finished = records(home)
    outcomes = {ended.key.case: ended.verdict.outcome.value for ended in finished}
    assert outcomes == dict.fromkeys(["c0", "c1", "c2", "c3", "c4"], "passed")
    assert len(asked) == CALLS
    in_flight = 3 * 2 * sum(victim != "driver" for victim in victims)  # conversations and their helpers
    assert CALLS <= len(server.requests) <= CALLS + in_flight


TALK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import includes
from inspect_ai.solver import solver

@solver
def turns():
    async def solve(state, generate):
        for turn in range(4):
            state = await generate(state)
            state.messages.append(ChatMessageUser(content=f"{state.sample_id} turn {turn}"))
        return await generate(state)
    return solve

@task
def talk():
    samples = [Sample(f"c{n} begins", target="to", id=f"c{n}") for n in range(5)]
    return Task(samples, solver=turns(), scorer=includes())
"""
INSPECT = os.environ.get("EVAL_CONSOLE_INSPECT_PYTHON", "")


@pytest.mark.slow
@pytest.mark.skipif(not INSPECT, reason="EVAL_CONSOLE_INSPECT_PYTHON names no Python with inspect_ai and openai")
@pytest.mark.parametrize("victims", [("engine", "both", "driver"), ("both", "driver", "engine")])
def test_inspect_goes_on_in_mid_conversation_whoever_was_killed(
    console: Any, home: Path, victims: tuple[str, ...]
) -> None:
    (home / "tasks.py").write_text(TALK)
    random = Random(victims[0])
    with OpenAIServer(echo) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        assert console("new", "talk", "--from", f"inspect:{home / 'tasks.py'}@talk", "--python", INSPECT).code == 0
        args = ["run", "-m", "m", "-s", "talk", "--concurrency", "3"]
        for victim in victims:
            run_until_killed(home, server, args, victim, random.randint(1, 6))
            args = ["resume", "latest"]
        server.answer = echo
        console("resume", "latest", "--quiet")
    asked, finished = records(home)
    assert [ended.verdict.outcome.value for ended in finished] == ["passed"] * 5
    assert len(asked) == 25
    assert 25 <= len(server.requests) <= 25 + 3 * 2  # conversations in flight when the engine was killed
