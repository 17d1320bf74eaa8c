"""Inspect and verifiers themselves, in environments of their own: they score as they do alone, with equal calls."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.core.record import Finished
from console.store.runs import RunFolder

pytestmark = pytest.mark.slow
INSPECT = os.environ.get("EVAL_CONSOLE_INSPECT_PYTHON", "")
VERIFIERS = os.environ.get("EVAL_CONSOLE_VERIFIERS_PYTHON", "")
needs_inspect = pytest.mark.skipif(not INSPECT, reason="EVAL_CONSOLE_INSPECT_PYTHON is not set: .ci/harnesses sets it")
needs_verifiers = pytest.mark.skipif(
    not VERIFIERS, reason="EVAL_CONSOLE_VERIFIERS_PYTHON is not set: .ci/harnesses sets it"
)
HERE = Path(__file__).parent
TASKS = HERE / "inspect_tasks.py"
ALONE = """\
import json, sys
from inspect_ai import eval
from inspect_ai.model import get_model
from inspect_ai.scorer import value_to_float
url, folder, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
number, out = value_to_float(), {}
model = lambda: get_model("openai-api/alone/m", base_url=url, memoize=False)
for task, args, roles, ids in asked:
    (log,) = eval(task, task_args=args, model=model(), model_roles={role: model() for role in roles}, log_dir=folder,
                  display="none", sample_id=ids, fail_on_error=False, epochs=1)
    out[task] = {}
    for sample in log.samples:
        scores = {}
        for name, score in (sample.scores or {}).items():
            parts = score.value if isinstance(score.value, dict) else {"": score.value}
            for part, value in parts.items():
                if not isinstance(value, (dict, list)):
                    scores[f"{name}/{part}" if part else name] = number(value)
        out[task][str(sample.id)] = scores
print("SCORES", json.dumps(out))
"""


MODEL = re.compile(r"console/model|openai-api/alone/m")
"""Name of the model, which some tasks tell it in their prompt."""


def answer(request: dict[str, Any]) -> Scripted:
    """Answer by the text of the conversation alone, so that everybody gets the same."""
    said = [str(message.get("content")) for message in request["messages"]]
    number = hashlib.sha256(MODEL.sub("", "".join(said)).encode()).digest()[0]
    tools = request.get("tools") or []
    if tools and len(said) < 8 and number % 3:
        function = tools[number % len(tools)]["function"]
        names = (function.get("parameters") or {}).get("properties") or {}
        return Scripted(calls=[(function["name"], {name: str(number) for name in names})])
    if "coherence_score" in said[-1]:
        answered = said[-1].rpartition("<answer>")[2].partition("</answer>")[0]
        return Scripted(f"<coherence_score>{20 + len(answered)}</coherence_score>")
    if question := re.search(r"\bQ(\d)\b", said[0] + said[-1]):
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        words = [f"thing{turn * 3 + place}" for place in range(4 - (turn + int(question[1])) % 2)]
        return Scripted(
            f"<answer>{' '.join(words) if turn < 3 + int(question[1]) else 'thing0 thing1 thing2'}</answer>"
        )
    if '"reasoning"' in said[0]:
        return Scripted(json.dumps({"score": 1 + number % 3, "rating": 1 + number % 3, "reasoning": "so it is"}))
    if "GRADE" in said[-1]:
        return Scripted("GRADE: " + "CI"[number % 2])
    if "###STOP###" in said[0] and len(said) > 6:
        return Scripted("###STOP###")
    return Scripted(["ANSWER: A", "ANSWER: B", "yes, 5", '{"score": 3}', "<answer>4</answer>"][number % 5])


class Compared(NamedTuple):
    """A task to be played alone and through us."""

    task: str
    args: Mapping[str, Any] = MappingProxyType({})
    roles: tuple[str, ...] = ()
    cases: int = 3


PLAYED_BY_INSPECT = (
    *(Compared(f"{TASKS}@{name}") for name in ("sums", "choices", "reasons", "turns", "agents")),
    Compared(f"{TASKS}@graded", roles=("grader",)),
    Compared("inspect_evals/agent_threat_bench_memory_poison", cases=2),
    Compared("inspect_evals/agent_threat_bench_autonomy_hijack", cases=2),
    Compared("inspect_evals/agent_threat_bench_data_exfil", cases=2),
    Compared("inspect_evals/persistbench_beneficial_memory", roles=("grader",), cases=2),
    Compared("inspect_evals/tau2_retail", {"message_limit": 10, "shuffle": False}, ("user",), 1),
)
QUESTIONS = ["What may Q1 be?", "What may Q2 be?", "What may Q3 be?"]
OWN_JUDGE = {"judge_api_base_url": "{judge}", "embedding_api_base_url": "{embedding}"}
PLAYED_BY_VERIFIERS = (
    *(Compared("small_environments", {"kind": kind}, cases=4) for kind in ("single", "tools", "turns")),
    Compared("small_environments", {"kind": "judged", **OWN_JUDGE}, ("grader",), 4),
    Compared("small_environments", {"kind": "aidanbench", "questions": QUESTIONS, **OWN_JUDGE}, ("grader", "vectors")),
)
ALONE_IN_VERIFIERS = """\
import asyncio, json, sys
import verifiers as vf
from verifiers.types import ClientConfig
url, asked, out = sys.argv[1], json.loads(sys.argv[2]), []
for name, args in asked:
    text = json.dumps(args).replace("{judge}", url).replace("{embedding}", url)
    environment = vf.load_environment(name, **json.loads(text))
    client = ClientConfig(api_base_url=url, api_key_var="ALONE_API_KEY")
    played = asyncio.run(environment.evaluate(client, "m", {}))["outputs"]
    out.append({str(each["example_id"]): {"reward": each["reward"], **each["metrics"]} for each in played})
print("SCORES", json.dumps(out))
"""
OURS = {"grader": "judge", "user": "user", "vectors": "embedding"}


def written(server: OpenAIServer) -> list[str]:
    """Return all requests of a server in an order of their own; what a client adds about itself is left out."""
    said = [json.dumps([request["messages"], request.get("tools")], sort_keys=True) for request in server.requests]
    return sorted(MODEL.sub("", text) for text in said)


def play(console: Any, home: Path, compared: Compared, form: str, python: str) -> dict[str, dict[str, float]]:
    """Play a task through us, and return the scores of each case."""
    name = f"suite{len(list((home / 'data').glob('*')))}"
    ended = console("new", name, "--from", f"{form}:{compared.task}", "--python", python)
    assert ended.code == 0, ended.err
    toml = home / "data" / name / "suite.toml"
    args = "".join(f"{key} = {json.dumps(value)}\n" for key, value in compared.args.items())
    roles = "".join(f'{role} = "{OURS[role]}"\n' for role in compared.roles)
    text = toml.read_text().replace("[args]\n", f"[args]\n{args}").replace("[roles]\n", f"[roles]\n{roles}")
    toml.write_text(text)
    console("allow", name)
    before = set((home / "runs").glob("*"))
    judges = [word for role in compared.roles for word in (f"--{OURS[role]}", "m")]
    ended = console("run", "-m", "m", "-s", name, "-n", str(compared.cases), *judges, "--quiet")
    (folder,) = set((home / "runs").glob("*")) - before
    records = list(RunFolder(folder).reader().iter_all())
    finished = [record for record in records if isinstance(record, Finished)]
    assert all(record.verdict.outcome in ("passed", "failed") for record in finished), finished
    return {record.key.case: record.verdict.scores for record in finished}


@needs_inspect
@pytest.mark.timeout(1800)
def test_inspect_gives_the_scores_that_it_gives_alone_and_asks_the_same(console: Any, home: Path) -> None:
    with OpenAIServer(answer) as server, OpenAIServer(answer) as other:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ours = {compared.task: play(console, home, compared, "inspect", INSPECT) for compared in PLAYED_BY_INSPECT}
        asked = [(task, dict(args), roles, list(ours[task])) for task, args, roles, _ in PLAYED_BY_INSPECT]
        alone = subprocess.run(
            [INSPECT, "-c", ALONE, other.base_url, str(home / "logs"), json.dumps(asked)],
            capture_output=True, text=True, check=False, env={**os.environ, "ALONE_API_KEY": "none"},
        )  # fmt: skip
        assert "SCORES" in alone.stdout, alone.stderr[-2000:]
        assert ours == json.loads(alone.stdout.partition("SCORES ")[2])
        assert written(server) == written(other)
    assert all(any(scores.values()) for scores in ours.values()), "a task that gives no score compares nothing"


READ_LOG = """\
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
scores = {str(sample.id): {name: score.value for name, score in sample.scores.items()} for sample in log.samples}
print("LOG", json.dumps([log.eval.task, [score.scorer for score in log.results.scores], scores]))
"""


@needs_inspect
@pytest.mark.timeout(600)
def test_an_exported_run_is_read_by_inspect_with_the_name_of_its_task_and_its_scorers(console: Any, home: Path) -> None:
    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ours = play(console, home, Compared(f"{TASKS}@choices"), "inspect", INSPECT)
    assert console("export", "latest", "--format", "eval", "-o", str(home / "log.eval")).code == 0
    read = subprocess.run([INSPECT, "-c", READ_LOG, str(home / "log.eval")], capture_output=True, text=True, check=True)
    task, scorers, scores = json.loads(read.stdout.partition("LOG ")[2])
    assert (task, scorers) == ("choices", ["choice"])
    letters = {1.0: "C", 0.0: "I"}
    assert scores == {case: {"choice": letters[values["choice"]]} for case, values in ours.items()}


@pytest.fixture
def verifiers_python(home: Path) -> str:
    """The Python with verifiers, as one that also has the small environments installed."""
    script = home / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{HERE}" exec "{VERIFIERS}" "$@"\n')
    script.chmod(0o755)
    return str(script)


@needs_verifiers
@pytest.mark.timeout(1800)
def test_verifiers_gives_the_rewards_that_it_gives_alone(console: Any, home: Path, verifiers_python: str) -> None:
    with OpenAIServer(answer) as server, OpenAIServer(answer) as other:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        ours = [play(console, home, compared, "verifiers", verifiers_python) for compared in PLAYED_BY_VERIFIERS]
        asked = json.dumps([(compared.task, dict(compared.args)) for compared in PLAYED_BY_VERIFIERS])
        alone = subprocess.run(
            [verifiers_python, "-c", ALONE_IN_VERIFIERS, other.base_url, asked],
            capture_output=True, text=True, check=False, env={**os.environ, "ALONE_API_KEY": "none"},
        )  # fmt: skip
        assert "SCORES" in alone.stdout, alone.stderr[-2000:]
        assert ours == json.loads(alone.stdout.partition("SCORES ")[2])
        chats, theirs = ([it for it in each.requests if "messages" in it] for each in (server, other))
        assert len(chats) == len(theirs)
    assert len({scores["reward"] for each in ours for scores in each.values()}) > 2, "equal rewards compare nothing"


@needs_verifiers
@pytest.mark.timeout(600)
def test_aidanbench_by_verifiers_gives_what_our_own_suite_gives(
    console: Any, home: Path, verifiers_python: str
) -> None:
    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        theirs = play(console, home, PLAYED_BY_VERIFIERS[-1], "verifiers", verifiers_python)
        before = set((home / "runs").glob("*"))
        options = [f"questions={json.dumps(QUESTIONS)}", "judge_model=m", "embedding_model=m"]
        given = [word for option in options for word in ("--option", option)]
        ended = console("run", "-m", "m", "-s", "aidan-starter", *given, "--quiet")
        assert ended.code == 0, ended.err
        (folder,) = set((home / "runs").glob("*")) - before
    verdicts = [record.verdict for record in RunFolder(folder).reader().iter_all() if isinstance(record, Finished)]
    names = ("reward", "avg_coherence", "sum_embedding_novelty")
    own = sorted([verdict.scores[name] for name in names] for verdict in verdicts)
    assert own == [pytest.approx(row) for row in sorted([each[name] for name in names] for each in theirs.values())]
    assert [row[0] for row in own] == [4.0, 5.0, 6.0]
