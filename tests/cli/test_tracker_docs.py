"""The blocks of docs/logs.md for trackers of experiments: run as they stand, with stand-ins for both libraries."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "logs.md"
ARTIFACTS = ["run.json", "rollouts.csv", "run.html"]


@pytest.fixture
def run(console: Any, home: Path) -> Any:
    """Export a simulated run by the commands of the page, and return run.json."""
    assert console("run", "-m", "sim/hasty", "-s", "bfcl-starter", "--category", "simple_python", "--quiet").code == 0
    for line in block("sh").splitlines():
        assert console(*line.split()[1:]).code == 0, line
    assert all((home / name).is_file() for name in ARTIFACTS)
    return json.loads((home / "run.json").read_text())


def block(language: str) -> str:
    """Return the block of that language after the heading."""
    after = PAGE.read_text(encoding="utf-8").split("## MLflow and Weights & Biases", 1)[1]
    match = re.search(rf"```{language}\n(.*?)```", after, re.DOTALL)
    assert match, language
    return match[1]


def play(name: str, monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    library = MagicMock()
    monkeypatch.setitem(sys.modules, name, library)
    exec(compile(block(f"python {name}"), name, "exec"), {})  # our own page
    return library


def metrics(run: Any) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in run["report"]["metrics"] if metric["value"] is not None}


def test_mlflow_gets_metrics_table_and_files(run: Any, home: Path, monkeypatch: pytest.MonkeyPatch):
    mlflow = play("mlflow", monkeypatch)
    logged = dict(call.args for call in mlflow.log_metric.call_args_list)
    assert list(logged.values()) == list(metrics(run).values())
    assert all(re.fullmatch(r"[\w./ -]+", name) for name in logged)
    ((table, _),) = [call.args for call in mlflow.log_table.call_args_list]
    assert {len(column) for column in table.values()} == {len(run["rollouts"])}
    rows = list(csv.DictReader((home / "rollouts.csv").open()))
    assert rows[0].keys() >= table.keys()
    assert [row["outcome"] for row in rows] == table["outcome"]
    assert [call.args[0] for call in mlflow.log_artifact.call_args_list] == ARTIFACTS
    assert mlflow.set_tags.call_args.args[0] == {"suite": "bfcl-starter", "simulated": True}


def test_wandb_gets_metrics_table_and_files(run: Any, monkeypatch: pytest.MonkeyPatch):
    wandb = play("wandb", monkeypatch)
    logged = wandb.init.return_value.__enter__.return_value
    summary = dict(call.args for call in logged.summary.__setitem__.call_args_list)
    assert summary.pop("simulated") is True
    assert {name: value for name, value in summary.items() if value is not None} == metrics(run)
    table = wandb.Table.call_args.kwargs
    assert {len(row) for row in table["data"]} == {len(table["columns"])}
    assert len(table["data"]) == len(run["rollouts"])
    assert [call.args[0] for call in wandb.Artifact.return_value.add_file.call_args_list] == ARTIFACTS
