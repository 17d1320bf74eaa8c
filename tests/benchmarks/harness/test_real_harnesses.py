"""Inspect itself, where an environment with it is here: the scores are those that it gives alone."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted

from console.core.record import Finished
from console.store.runs import RunFolder

pytestmark = pytest.mark.slow
INSPECT = os.environ.get("EVAL_CONSOLE_INSPECT_PYTHON", "")
TASKS = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import choice, match, model_graded_qa
from inspect_ai.solver import generate, multiple_choice

@task
def sums():
    return Task([Sample(f"What is {n}+{n}?", target=str(2 * n)) for n in range(6)], solver=generate(), scorer=match())

@task
def choices():
    samples = [Sample(f"Which is {n}?", target="B", choices=["1", str(n), "x"]) for n in range(5)]
    return Task(samples, solver=multiple_choice(), scorer=choice())

@task
def graded():
    samples = [Sample(f"Say {n}", target=str(n)) for n in range(5)]
    return Task(samples, solver=generate(), scorer=model_graded_qa())
"""
ALONE = """\
import json, sys
from inspect_ai import eval
from inspect_ai.scorer import value_to_float
task, url, folder = sys.argv[1:]
(log,) = eval(task, model="openai-api/alone/m", model_base_url=url, log_dir=folder, display="none")
number = value_to_float()
print("SCORES", json.dumps({str(s.id): {n: number(v.value) for n, v in s.scores.items()} for s in log.samples}))
"""


def answer(request: dict[str, Any]) -> Scripted:
    """Answer by the text of the conversation alone, so that everybody gets the same."""
    said = [str(message.get("content")) for message in request["messages"]]
    number = hashlib.sha256("".join(said).encode()).digest()[0]
    if "GRADE" in said[-1]:
        return Scripted("GRADE: " + "CI"[number % 2])
    return Scripted(["ANSWER: A", "ANSWER: B", "0", "2", "4"][number % 5])


@pytest.mark.skipif(not INSPECT, reason="EVAL_CONSOLE_INSPECT_PYTHON names no Python with inspect_ai and openai")
@pytest.mark.parametrize("task", ["sums", "choices", "graded"])
def test_inspect_gives_the_scores_that_it_gives_alone(console: Any, home: Path, task: str) -> None:
    place = home / "tasks.py"
    place.write_text(TASKS)
    with OpenAIServer(answer) as server:
        (home / "models.toml").write_text(f'[m]\nmodel_id = "m"\nbase_url = "{server.base_url}"\n')
        alone = subprocess.run(
            [INSPECT, "-c", ALONE, f"{place}@{task}", server.base_url, str(home / "logs")],
            capture_output=True, text=True, check=True, env={**os.environ, "ALONE_API_KEY": "none"},
        )  # fmt: skip
        calls = len(server.requests)
        assert console("new", "theirs", "--from", f"inspect:{place}@{task}", "--python", INSPECT).code == 0
        assert console("run", "-m", "m", "-s", "theirs", "--quiet").code == 0
        assert len(server.requests) == 2 * calls
    (folder,) = (home / "runs").iterdir()
    ours = {it.key.case: it.verdict.scores for it in RunFolder(folder).reader().iter_all() if isinstance(it, Finished)}
    assert ours == json.loads(alone.stdout.partition("SCORES ")[2])
