"""Records of Every Eval Ever: what the schema asks for is there, and they come in again with the same numbers."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.exported_runs import played
from support.recorded_runs import Recorder

from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.exchange.exports.every_eval_ever import export_run
from console.exchange.imports.formats import ImportSettings, find_items

REQUIRED = {
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
    "evaluation_results",
}  # fmt: skip
REQUIRED_OF_SAMPLE = {
    "schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type", "input",
    "answer_attribution", "evaluation",
}  # fmt: skip
PLACE = re.compile(
    r"^data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_samples\.jsonl$"
)


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    paths = export_run(played(tmp_path / "runs"), tmp_path / "out", None)
    lines = [json.loads(line) for line in paths[1].read_text().splitlines()]
    return paths[1], json.loads(paths[0].read_text()), lines


def test_the_aggregate_names_each_score_with_what_it_rests_on(written: Any):
    samples, aggregate, lines = written
    assert aggregate.keys() >= REQUIRED
    assert aggregate["schema_version"] == "0.3.0"
    results = {item["metric_config"]["metric_name"]: item["score_details"] for item in aggregate["evaluation_results"]}
    assert {name: details["score"] for name, details in results.items()} == {
        "passed": 0.5,
        "style": 0.5,
        "coherence": 80.0,
    }
    assert results["passed"]["uncertainty"]["num_samples"] == 2
    detailed = aggregate["detailed_evaluation_results"]
    assert PLACE.match(detailed["file_path"])
    assert str(samples).endswith(detailed["file_path"])
    assert detailed["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert detailed["total_rows"] == len(lines)


@pytest.mark.parametrize(("score", "highest"), [("aidanbench_score", "Infinity"), ("avg_coherence", 1.0)])
def test_counts_of_answers_are_no_rate_even_if_all_are_0_or_1(score: str, highest: object, tmp_path: Path):
    recorder = Recorder(tmp_path / "runs", cases=2, suite="aidan", format="aidanbench", headline="aidanbench_score")
    for case, value in (("a", 0.0), ("b", 1.0)):
        verdict = Verdict(Outcome.PASSED, scores={score: value})
        recorder.write(Finished(at=recorder.tick(), key=recorder.start(case), verdict=verdict))
    paths = export_run(recorder.close(), tmp_path / "out", None)
    metrics = [item["metric_config"] for item in json.loads(paths[0].read_text())["evaluation_results"]]
    assert {metric["metric_name"]: metric["max_score"] for metric in metrics} == {"passed": 1.0, score: highest}


def test_a_line_for_each_graded_rollout_and_score(written: Any):
    _, aggregate, lines = written
    names = {
        item["evaluation_result_id"]: item["metric_config"]["metric_name"] for item in aggregate["evaluation_results"]
    }
    assert [(line["sample_id"], names[line["evaluation_result_id"]]) for line in lines] == [
        ("a", "passed"),
        ("a", "style"),
        ("a", "coherence"),
        ("b", "passed"),
        ("b", "style"),
    ]
    assert all(line.keys() >= REQUIRED_OF_SAMPLE for line in lines)
    with_tools, plain = lines[0], lines[3]
    assert (with_tools["interaction_type"], with_tools["output"]) == ("agentic", None)
    assert with_tools["evaluation"] == {"score": 1.0, "is_correct": True, "num_turns": 2, "tool_calls_count": 1}
    assert [message["role"] for message in with_tools["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert (plain["interaction_type"], plain["messages"], plain["output"]) == ("single_turn", None, {"raw": ["5"]})
    assert all(isinstance(value, str) for line in lines for value in line["metadata"].values())


def test_the_records_come_in_again_with_the_same_numbers(written: Any, tmp_path: Path):
    (item,) = find_items(tmp_path / "out")
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "back"))
    assert report.outcomes == {"passed": 1, "failed": 1}
    assert [(total.score, total.agrees) for total in report.totals] == [
        ("passed", True),
        ("style", True),
        ("coherence", True),
    ]
