"""A run of ours beside one that another tool recorded: paired by what is asked, then by case id; the share is said."""

import json
from pathlib import Path

import pytest
from support.inspect_logs import Json, sample, write_json_log
from support.recorded_runs import Recorder

from console.core.chat import Reply
from console.core.outcome import Outcome
from console.exchange.exports.comparison import comparison_fields, comparison_markdown
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.run_reader import RunReader
from console.insight.comparison import PairOutcome, RunComparison, compare
from console.insight.comparison_report import pairing_words
from console.store.runs import RunFolder


def imported(tmp_path: Path, samples: list[Json]) -> RunFolder:
    (item,) = find_items(write_json_log(tmp_path / f"log{len(samples)}.json", samples))
    (report,) = item.form.load(item.path, ImportSettings(tmp_path / "runs"))
    return RunFolder(tmp_path / "runs" / report.run)


def ours(tmp_path: Path, questions: dict[str, tuple[str, Outcome]]) -> RunFolder:
    recorder = Recorder(tmp_path / "runs", cases=len(questions), suite="sums")
    for name, (question, outcome) in questions.items():
        key = recorder.start(name)
        recorder.ask(key, question, Reply("4"))
        recorder.finish(key, outcome)
    return recorder.close()


def compared(a: RunFolder, b: RunFolder) -> RunComparison:
    return compare(RunReader(a).side, RunReader(b).side)


def test_the_same_questions_are_paired_whatever_their_ids_and_system_prompts(tmp_path: Path):
    questions = {
        "ours/1": ("What is a?", Outcome.PASSED),
        "ours/2": ("  What is b?\n", Outcome.FAILED),
        "c": ("Something else.", Outcome.PASSED),
        "ours/4": ("Nobody else asks this.", Outcome.PASSED),
    }
    comparison = compared(ours(tmp_path, questions), imported(tmp_path, [sample("a", "I"), sample("b"), sample("c")]))
    pairs = [(pair.a.key.case, pair.b.key.case, pair.outcome) for pair in comparison.pairs]
    assert pairs == [
        ("ours/1", "a", PairOutcome.LOST),
        ("ours/2", "b", PairOutcome.GAINED),
        ("c", "c", PairOutcome.BOTH),
    ]
    assert (comparison.pairing.by_prompt, comparison.pairing.by_id) == (2, 1)
    assert (comparison.only_a, comparison.only_b) == (1, 0)
    assert comparison.data.verdict is None
    words = "different suites; paired 3 of 4 in A (75%), 3 of 3 in B (100%): 2 by what is asked, 1 by case id"
    assert pairing_words(comparison) == words
    assert words.split(";")[0] in comparison_markdown(comparison)
    assert comparison_fields(comparison)["paired"] == {"by_case_id": 1, "by_prompt": 2}


def test_repeats_of_a_question_are_paired_in_order(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    chat = [{"role": "user", "content": "What is a?"}, {"role": "assistant", "content": "4"}]
    path.write_text("".join(json.dumps({"messages": chat, "score": score}) + "\n" for score in (1, 0)))
    (item,) = find_items(path)
    (report,) = item.form.load(path, ImportSettings(tmp_path / "runs"))
    other = imported(tmp_path, [sample("a", "C"), sample("a", "C", epoch=2), sample("a", "C", epoch=3)])
    comparison = compared(RunFolder(tmp_path / "runs" / report.run), other)
    assert [(pair.a.key.case, pair.b.key.rollout) for pair in comparison.pairs] == [("line 1", 0), ("line 2", 1)]
    assert comparison.only_b == 1


def test_logs_of_one_task_are_paired_by_id_alone(tmp_path: Path):
    a = imported(tmp_path, [sample("a", "C"), sample("b", "I")])
    b = imported(tmp_path, [sample("a", "I"), sample("b", "I"), sample("c")])
    comparison = compared(a, b)
    assert [pair.outcome for pair in comparison.pairs] == [PairOutcome.LOST, PairOutcome.NEITHER]
    assert pairing_words(comparison) == ""


@pytest.mark.parametrize("question", ["", " \n"])
def test_empty_questions_pair_nothing(tmp_path: Path, question: str):
    a = ours(tmp_path, {"x": (question, Outcome.PASSED)})
    b = imported(tmp_path, [sample("a", input="", messages=[], events=[])])
    assert compared(a, b).pairs == ()
