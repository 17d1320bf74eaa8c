"""Programs as suites: every call of theirs is in the journal, whoever is killed and whenever."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.core.case import Key
from console.core.live import Deltas
from console.core.record import AnyRecord, Asked, Closed, Finished, Noted
from console.engine.attach import EngineLink
from console.insight.conversation import Conversation
from console.insight.passage import PassageKind
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
    read = all_records(home)
    return [it for it in read if isinstance(it, Asked)], [it for it in read if isinstance(it, Finished)]


def all_records(home: Path) -> list[AnyRecord]:
    (folder,) = (home / "runs").iterdir()
    return list(RunFolder(folder).reader().iter_all())


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_every_call_at_the_server_is_in_the_journal_once_in_one_thread_and_in_the_tokens(
    console: Any, home: Path, seed: int
) -> None:
    """Sub-agents ask while others do, in as many cases as are played at once."""
    random = Random(seed)
    cases = [
        {"id": f"c{number}", "input": "go", "steps": random.randint(1, 4), "helpers": random.randint(0, 5)}
        for number in range(5)
    ]
    with OpenAIServer(echo) as server:
        write_suite(home, server, cases, SUITE.replace("threshold = 2", "threshold = 0"))
        assert console("allow", "agents").code == 0
        at_once = str(random.randint(1, 5))
        ended = console("run", "-m", "m", "-s", "agents", "--concurrency", at_once, "--json", "--quiet")
    assert ended.code == 0, ended.err
    asked, finished = records(home)
    assert ended.data["summary"]["tally"]["passed"] == len(cases)
    assert len(asked) == len(server.requests) == sum(case["steps"] + case["helpers"] for case in cases)
    said = Counter(str(request["messages"][-1]["content"]) for request in server.requests)
    assert said == Counter(str(record.messages[-1]["content"]) for record in asked)
    usages = [record.reply.usage for record in asked if record.reply.usage is not None]
    assert sum(each.input_tokens for each in finished) == sum(usage.input for usage in usages) > 0
    assert sum(each.output_tokens for each in finished) == sum(usage.output for usage in usages)
    assert sum(each.calls for each in finished) == len(asked)
    for case in cases:
        main, *asides = conversation_of(home, case["id"]).threads
        assert [len(main), *map(len, asides)] == [case["steps"], *[1] * case["helpers"]]
        numbers = [exchange.asked.n for thread in (main, *asides) for exchange in thread]
        assert sorted(numbers) == list(range(1, case["steps"] + case["helpers"] + 1))


def conversation_of(home: Path, case: str) -> Conversation:
    conversation = Conversation(Key(case))
    for record in all_records(home):
        if getattr(record, "key", None) == conversation.key:
            conversation.apply(record)
    return conversation


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


MISBEHAVED = {
    "a list of scores": ("print('{\"answer\": \"a\", \"scores\": [1]}')", "broken", "`scores` of its last line"),
    "a number too large": ("print('{\"answer\": \"a\", \"score\": 1' + '0' * 400 + '}')", "undecided", "no number"),
    "a number that no journal holds": ("print('{\"answer\": \"a\", \"score\": 1e308}')", "undecided", "no number"),
    "killed": ("os.kill(os.getpid(), 11)", "broken", "ended with signal 11"),
    "nested without end": ("print('{\"score\":' + '[' * 100_000)", "undecided", "no number"),
    "more than is read": ("print('x' * ((64 << 20) + 1))", "broken", "printed more than 64 MiB"),
    "a child that stays": (
        "import subprocess; subprocess.Popen(['sleep', '600']); print('{\"score\": 2}')", "passed", "",
    ),
    "calls of no form": (
        "print(ask([{'role': 'assistant', 'tool_calls': calls} for calls in ('x', [1], [{'id': [], 'function': 'f'}])]"
        " + [{'role': 'user', 'content': 'q'}])); print('{\"score\": 2}')", "passed", "",
    ),
}  # fmt: skip


def test_a_program_that_misbehaves_ends_its_case_and_never_the_run(console: Any, home: Path) -> None:
    cases = [{"id": name, "code": code} for name, (code, _, _) in MISBEHAVED.items()]
    with OpenAIServer(echo) as server:
        write_suite(home, server, cases)
        (home / "data" / "agents" / "agent.py").write_text(AGENT.partition("if case.get")[0] + "exec(case['code'])\n")
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    _, finished = records(home)
    verdicts = {ended.key.case: ended.verdict for ended in finished}
    for name, (_, outcome, words) in MISBEHAVED.items():
        assert verdicts[name].outcome == outcome, name
        assert words in "".join(verdicts[name].messages)
    assert console("show", "latest#calls of no form").code == 0


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (SUITE + "treshold = 1\n", "Did you mean threshold?"),
        ('format = "program"\n', "has no `command`"),
        (SUITE + '[roles]\ngrader = "jugde"\n', "assigns the task's role grader to 'jugde'"),
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
    process.wait(300)


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


CHILD = """\
import subprocess
child = "import json, os, urllib.request"
child += "; body = json.dumps({'messages': [{'role': 'user', 'content': 'from a child'}]})"
child += "; urllib.request.urlopen(os.environ['OPENAI_BASE_URL'] + '/chat/completions', body.encode()).read()"
subprocess.run([sys.executable, "-S", "-c", child], check=True)
graded = ask([{"role": "user", "content": f"grade {messages[-2]['content']}"}], role="judge")
"""


def test_clients_that_a_program_starts_are_of_its_case_and_grading_has_a_model_of_its_own(
    console: Any, home: Path
) -> None:
    """Elsewhere such clients were lost (verifiers issue 1758), and the model's address leaked into grading (1126)."""
    with OpenAIServer(echo) as server, OpenAIServer(lambda _: Scripted("C")) as judge:
        write_suite(home, server, CASES[:2], SUITE + '[roles]\njudge = "judge"\n')
        agent = home / "data" / "agents" / "agent.py"
        agent.write_text(AGENT.replace("print(json", CHILD + "print(json"))
        models = home / "models.toml"
        models.write_text(models.read_text() + f'[g]\nmodel_id = "g"\nbase_url = "{judge.base_url}"\n')
        console("allow", "agents")
        assert console("run", "-m", "m", "--judge", "g", "-s", "agents", "--quiet").code == 0
    asked, _ = records(home)
    said = [(it.key.case, it.role, it.messages[-1]["content"]) for it in asked]
    assert [said.count((case, "model", "from a child")) for case in ("c0", "c1")] == [1, 1]
    graded = [(case, "judge", f"grade to {case} step 0") for case in ("c0", "c1")]
    assert sorted(each for each in said if each[1] == "judge") == graded
    assert sorted(str(request["messages"][-1]["content"]) for request in judge.requests) == [it[2] for it in graded]
    assert not [request for request in server.requests if "grade" in str(request["messages"][-1]["content"])]


async def test_tokens_are_told_to_watchers_while_the_reply_is_written(console: Any, home: Path) -> None:
    """The program of this suite wants whole replies; its model streams all the same."""
    parts = [f"word{number} " for number in range(40)]
    with OpenAIServer(lambda _: Scripted("".join(parts), itl_s=0.05, chunk=6)) as server:
        write_suite(home, server, [{"id": "c0", "steps": 1}])
        console("allow", "agents")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "console", "run", "-m", "m", "-s", "agents", "--quiet"), cwd=home,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )  # fmt: skip
        link = None
        while link is None and process.returncode is None:
            folders = list((home / "runs").glob("*/live.sock"))
            link = await EngineLink.connect(folders[0].parent) if folders else None
            await asyncio.sleep(0.01)
        assert link is not None
        heard: list[str] = []
        async for frame in link.frames():
            if isinstance(frame, Deltas):
                assert not any(isinstance(record, Asked) for record in all_records(home)), "told after it was whole"
                heard += [delta.text for delta in frame.items]
                if len(heard) > 2:
                    break
        assert "".join(parts).startswith("".join(heard)) or "".join(heard) in "".join(parts)
        assert [request.get("stream") for request in server.requests] == [True]
        process.kill()
        await process.wait()


def test_an_exported_run_has_the_scorers_of_the_program(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    assert console("export", "latest", "--format", "eval", "-o", str(home / "log.eval")).code == 0
    with zipfile.ZipFile(home / "log.eval") as log:
        header = json.loads(log.read("header.json"))
        sample = json.loads(log.read("samples/c1_epoch_1.json"))
    assert sample["scores"] == {"steps": {"value": 2}, "half": {"value": 0.5}}
    assert [score["metrics"]["accuracy"]["value"] for score in header["results"]["scores"]] == [2.0, 0.5]
    assert [scorer["name"] for scorer in header["eval"]["scorers"]] == ["steps", "half"]
    assert [message["content"] for message in sample["messages"]][-1] == "to c1 step 0"
    assert console("export", "latest", "--format", "verifiers-traces", "-o", str(home / "traces")).code == 0
    (trace,) = [
        trace
        for line in (home / "traces" / "traces.jsonl").read_text().splitlines()
        for trace in json.loads(line)["traces"]
        if trace["task"]["key"] == "c1"
    ]
    assert (trace["rewards"], trace["metrics"]) == (
        {"steps": {"score": 2.0, "weight": 1.0}},
        {"steps": 2.0, "half": 0.5},
    )


def test_doctor_lists_the_cases_of_a_suite_and_plays_one_up_to_its_first_call(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        findings = console("doctor", "agents", "--json").data["findings"]
        assert [finding["state"] for finding in findings] == ["good", "good"]
        assert findings[0]["text"] == "5 cases: c0, c1, c2, c3, c4"
        assert findings[1]["text"] == "case c0 called the model in the role model"
        write_suite(home, server, CASES, SUITE.replace("agent.py", "nothing.py"))
        console("allow", "agents")
        broken = console("doctor", "agents")
    assert not server.requests
    assert broken.code == 2
    assert "case c0 ended without calling a model: ended with code 2" in broken.out


def test_a_resumed_program_that_asks_something_else_is_noted_with_the_call(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, [{"id": "c0", "steps": 3}])
        console("allow", "agents")
        run_until_killed(home, server, ["run", "-m", "m", "-s", "agents"], "engine", 3)
        server.answer = echo
        folder = home / "data" / "agents"
        (folder / "agent.py").write_text(AGENT.replace("} step {step}", "} other step {step}"))
        console("allow", "agents")
        console("resume", "latest", "--quiet")
    notes = [note.data for note in all_records(home) if isinstance(note, Noted) and note.kind == "divergence"]
    assert notes == ["went another way at call 2; recorded effects not requested again: 1"]
    assert len(server.requests) == 3 + 2


def test_at_a_cap_calls_are_held_and_what_did_not_end_is_not_run(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--max-tokens", "4200", "--concurrency", "1", "--quiet")
        asked, finished = records(home)
        assert 0 < len(asked) == len(server.requests) < CALLS
        assert all(ended.verdict.outcome == "passed" for ended in finished)
        assert [it.reason for it in all_records(home) if isinstance(it, Closed)] == ["budget"]
        console("resume", "latest", "--max-tokens", "1000000", "--quiet")
        asked, finished = records(home)
    assert len(asked) == len(server.requests) == CALLS
    assert [ended.verdict.outcome.value for ended in finished] == ["passed"] * len(CASES)


def test_at_a_time_cap_a_program_that_never_ends_is_ended_and_not_run(console: Any, home: Path) -> None:
    cases = [{"id": "first", "calls": 0}, {"id": "second", "calls": 2}]
    endless = "[ask([{'role': 'user', 'content': str(n)}]) for n in range(case['calls'])]; threading.Event().wait()\n"
    with OpenAIServer(echo) as server:
        write_suite(home, server, cases)
        (home / "data" / "agents" / "agent.py").write_text(AGENT.partition("if case.get")[0] + endless)
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--max-time", "2", "--quiet")
    asked, finished = records(home)
    assert (len(asked), finished) == (2, [])
    assert [it.reason for it in all_records(home) if isinstance(it, Closed)] == ["budget"]


def test_sub_agents_are_passages_that_hold_their_conversation(console: Any, home: Path) -> None:
    with OpenAIServer(echo) as server:
        write_suite(home, server, CASES)
        console("allow", "agents")
        console("run", "-m", "m", "-s", "agents", "--quiet")
    passages = conversation_of(home, "c2").passages
    threads = [passage for passage in passages if passage.kind is PassageKind.THREAD]
    assert sorted(thread.head for thread in threads) == ["c2 helper 0", "c2 helper 1"]
    assert all(
        [each.kind for each in thread.passages] == [PassageKind.USER, PassageKind.ASSISTANT] for thread in threads
    )
    assert passages[-1].kind is PassageKind.VERDICT


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
def test_workers_of_a_cluster_that_are_killed_lose_nothing(home: Path, seed: int) -> None:
    pytest.importorskip("ray")
    from support.ray_runs import Playing, RayNodes, records, until, workers

    cases = [{"id": f"c{number}", "input": "go", "steps": 4, "helpers": 1} for number in range(8)]
    random = Random(seed)
    nodes = RayNodes()
    try:
        with OpenAIServer(lambda request: Scripted(echo(request).content, latency_s=0.3)) as server:
            write_suite(home, server, cases)
            assert Playing(home, "allow", "agents").wait()[0] == 0
            argv = ("run", "-m", "m", "-s", "agents", "-c", "4", "--quiet", "--on", "ray", "--workers", "3")
            playing = Playing(home, *argv, ray=nodes.address)
            for moment in sorted(random.sample(range(2, 24), 2)):
                until(lambda moment=moment: len(server.requests) > moment, "nothing was asked", 240)
                busy = until(lambda: [each for each in workers(playing.folder) if each.conversations], "nobody plays")
                os.kill(int(random.choice(busy).name.rpartition("/")[2]), signal.SIGKILL)
            code, _ = playing.wait(300)
            assert code == 0, playing.said
            asked = [record for record in records(playing.folder) if isinstance(record, Asked)]
            finished = [record for record in records(playing.folder) if isinstance(record, Finished)]
    finally:
        nodes.close()
    assert [ended.verdict.outcome.value for ended in finished] == ["passed"] * len(cases)
    assert len(asked) == len(cases) * 5
    assert len(asked) <= len(server.requests) <= len(asked) + 2 * 4 * 2


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
@pytest.mark.skipif(not INSPECT, reason="EVAL_CONSOLE_INSPECT_PYTHON is not set: .ci/harnesses sets it")
@pytest.mark.timeout(1800)
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
