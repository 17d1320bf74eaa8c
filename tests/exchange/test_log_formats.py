"""Logs of every tool that is read here become runs, with scores under their names and conversations as they were."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from console.cli.history import read_history, report_of
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Asked, Finished
from console.engine.engine import Engine
from console.engine.regrade import prepare_regrade
from console.exchange.imports import promptfoo_log
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.imports.importing import ImportReport
from console.exchange.run_reader import RunReader
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.store.journal import JournalReader
from console.store.runs import RunFolder, create_run
from console.suites.run_suite import open_run_suite

Json = dict[str, Any]
CHAT = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]


def write_lines(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in records))
    return path


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


class Imported:
    """A run that was imported."""

    def __init__(self, runs: Path, report: ImportReport) -> None:
        self.report = report
        self.folder = RunFolder(runs / report.run)
        self._reader = RunReader(self.folder)

    @property
    def rollouts(self) -> list[Rollout]:
        return list(self._reader.side.rollouts.values())

    @property
    def outcomes(self) -> list[Outcome | None]:
        return [rollout.outcome for rollout in self.rollouts]

    def conversation(self, place: int = 0) -> Conversation:
        return self._reader.conversation(self.rollouts[place].key)

    def comparison(self, place: int) -> Comparison | None:
        conversation = self.conversation(place)
        suite = open_run_suite(self.folder.manifest(), None)
        return suite.compare(conversation.case, conversation.finished)

    def texts(self, place: int = 0) -> list[tuple[str, str]]:
        return [(passage.kind.value, passage.text) for passage in self.conversation(place).passages]


def imports(path: Path, form: str) -> list[Imported]:
    """Import a file, which must be recognised as of a format."""
    (item,) = find_items(path)
    assert item.form.name == form
    runs = path.parent / "runs"
    return [Imported(runs, report) for report in item.form.load(path, ImportSettings(runs))]


# verifiers ------------------------------------------------------------------------------------------------------------


def trace(rewards: Json, **more: Any) -> Json:
    nodes = [
        {"message": {"role": "system", "content": "Add."}},
        {"parent": 0, "message": {"role": "user", "content": "1+1?"}},
        {
            "parent": 1,
            "sampled": True,
            "message": {"role": "assistant", "tool_calls": [{"id": "c", "name": "add", "arguments": '{"x": 1}'}]},
        },
        {"parent": 2, "message": {"role": "tool", "tool_call_id": "c", "content": "2"}},
        {
            "parent": 3,
            "sampled": True,
            "message": {"role": "assistant", "content": "It is 2", "reasoning_content": "hm"},
        },
    ]
    calls = [{"node": 2, "model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 3}}]
    task = {"type": "T", "data": {"idx": 7, "prompt": "1+1?", "answer": "2"}}
    head = {"version": 1, "verifiers": {"version": "0.4.0"}, "task": task, "ok": True}
    return head | {"nodes": nodes, "calls": calls, "rewards": rewards, "metrics": {"turns": 2.0}, "errors": []} | more


def episode(*traces: Json) -> Json:
    return {"env": {"id": "adding"}, "task": traces[0]["task"], "ok": True, "traces": list(traces)}


def test_traces_of_verifiers(tmp_path: Path):
    right, style = {"score": 1.0}, {"score": 0.5, "weight": 0.0}
    broken = trace({"right": {"score": 0.0}}, ok=False, errors=[{"type": "ProviderError", "message": "gone"}])
    path = write_lines(tmp_path / "traces.jsonl", episode(trace({"right": right, "style": style})), episode(broken))
    (run,) = imports(path, "verifiers-traces")
    assert (run.report.tool, run.report.version, run.report.suite) == ("verifiers", "0.4.0", "verifiers/adding")
    assert run.outcomes == [Outcome.PASSED, Outcome.BROKEN]
    assert [rollout.slot for rollout in run.rollouts] == [("7", 0), ("7", 1)]
    assert run.rollouts[0].scores == {"reward": 1.0, "right": 1.0, "style": 0.5, "turns": 2.0}
    assert run.texts()[:6] == [
        ("system", "Add."),
        ("user", "1+1?"),
        ("call", '{"x": 1}'),
        ("result", "2"),
        ("reasoning", "hm"),
        ("assistant", "It is 2"),
    ]


def test_a_metric_of_verifiers_that_is_always_one_is_no_rate(tmp_path: Path):
    traces = [trace({"right": {"score": score}}, metrics={"num_turns": 1.0}) for score in (1.0, 0.0, 1.0)]
    row = {"example_id": 0, "prompt": CHAT[:1], "completion": CHAT[1:], "reward": 1.0, "metrics": {"num_turns": 1}}
    write_json(tmp_path / "metadata.json", {"env_id": "owner/wordle", "model": "m", "avg_reward": 1.0})
    for path, form in (
        (write_lines(tmp_path / "traces.jsonl", *map(episode, traces)), "verifiers-traces"),
        (write_lines(tmp_path / "results.jsonl", row, row), "verifiers-results"),
    ):
        (run,) = imports(path, form)
        metrics = {metric.name: metric for metric in report_of(read_history(run.folder), None).metrics}
        assert metrics["reward"].unit == "rate"
        assert (metrics["num_turns"].unit, metrics["num_turns"].value) == ("mean", 1.0)


def test_a_graph_of_messages_that_leads_in_a_circle_ends(tmp_path: Path):
    looped = trace({"right": {"score": 1.0}})
    looped["nodes"][0]["parent"] = 4
    (run,) = imports(write_lines(tmp_path / "traces.jsonl", episode(looped)), "verifiers-traces")
    assert run.outcomes == [Outcome.PASSED]


def test_results_of_older_verifiers_of_any_environment(tmp_path: Path):
    write_json(tmp_path / "metadata.json", {"env_id": "owner/wordle", "model": "m", "avg_reward": 0.5})
    row = {"example_id": 0, "prompt": CHAT[:1], "completion": CHAT[1:], "answer": "2", "reward": 1.0, "format": 0.2}
    path = write_lines(tmp_path / "results.jsonl", row, row | {"reward": 0.0})
    (run,) = imports(path, "verifiers-results")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED]
    assert run.rollouts[1].key.rollout == 1
    assert run.rollouts[0].scores == {"reward": 1.0, "format": 0.2}
    assert [(total.reported, total.ours) for total in run.report.totals] == [(0.5, 0.5)]
    assert run.texts()[:2] == [("user", "1+1?"), ("assistant", "2")]


# lm-evaluation-harness ------------------------------------------------------------------------------------------------


def lm_sample(number: int, value: float, **more: Any) -> Json:
    return {
        "doc_id": number,
        "doc": {"q": "1+1"},
        "target": "2",
        "arguments": {"gen_args_0": {"arg_0": "Q: 1+1=", "arg_1": {"until": ["\n"]}}},
        "resps": [["2"]],
        "filtered_resps": ["2"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": value,
    } | more


def test_samples_of_lm_eval_with_the_results_beside_them(tmp_path: Path):
    stamp = "2026-01-02T03-04-05.678901"
    path = write_lines(tmp_path / f"samples_add_{stamp}.jsonl", lm_sample(0, 1.0), lm_sample(1, 0.0), lm_sample(2, 0.0))
    results = {
        "results": {"add": {"exact_match,none": 1 / 3, "exact_match_stderr,none": 0.1}},
        "config": {"model": "hf", "model_args": "pretrained=org/m,dtype=auto"},
        "lm_eval_version": "0.4.13",
        "n-samples": {"add": {"original": 3, "effective": 3}},
    }
    write_json(tmp_path / f"results_{stamp}.json", results)
    (run,) = imports(path, "lm-eval")
    assert (run.report.model, run.report.suite, run.report.version) == ("org/m", "lm_eval/add", "0.4.13")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]
    (total,) = run.report.totals
    assert (total.score, total.agrees) == ("exact_match", True)
    assert run.texts()[:2] == [("user", "Q: 1+1="), ("assistant", "2")]


RANKED: Json = {
    "arguments": {
        "gen_args_0": {"arg_0": "Sky is", "arg_1": " green"},
        "gen_args_1": {"arg_0": "Sky is", "arg_1": " blue"},
    },
    "resps": [[["-3.5", "False"]], [["-0.5", "True"]]],
    "filtered_resps": [["-3.5", "False"], ["-0.5", "True"]],
}


def test_likelihoods_and_filters_of_lm_eval(tmp_path: Path):
    strict, loose = lm_sample(0, 0.0, filter="strict", **RANKED), lm_sample(0, 1.0, filter="loose", **RANKED)
    (run,) = imports(write_lines(tmp_path / "samples_mc.jsonl", strict, loose), "lm-eval")
    (rollout,) = run.rollouts
    assert (rollout.key.case, rollout.scores) == ("0", {"exact_match,strict": 0.0, "exact_match,loose": 1.0})
    assert ("assistant", " blue") in run.texts()
    assert any('"-0.5"' in text for _, text in run.texts())


def test_filters_of_lm_eval_are_metrics_of_a_document_not_further_documents(tmp_path: Path):
    """Lines of the second filter follow those of all documents, however many there are."""
    stamp = "2026-01-02T03-04-05.678901"
    number = 1200
    lines = [
        lm_sample(place, float(place % 2 == 0 or name == "loose"), filter=name, filtered_resps=[f"2 {name}"])
        for name in ("strict", "loose")
        for place in range(number)
    ]
    path = write_lines(tmp_path / f"samples_add_{stamp}.jsonl", *lines)
    means = {"exact_match,strict": 0.5, "exact_match,loose": 1.0}
    samples = {"add": {"original": number, "effective": number}}
    write_json(tmp_path / f"results_{stamp}.json", {"results": {"add": means}, "n-samples": samples})
    (run,) = imports(path, "lm-eval")
    assert (run.report.samples, run.report.missing) == (number, 0)
    assert run.report.outcomes == {"passed": number // 2, "failed": number // 2}
    assert [(total.score, total.reported, total.agrees) for total in run.report.totals] == [
        ("exact_match,strict", 0.5, True),
        ("exact_match,loose", 1.0, True),
    ]
    assert run.conversation(1).output["answer"] == "2 strict"
    comparison = run.comparison(1)
    assert comparison is not None
    assert [(row.name, row.mark.value) for row in comparison.pairs[0].rows] == [
        ("answer", "≠"),
        ("score exact_match,strict", "≠"),
        ("score exact_match,loose", "="),
    ]
    assert run.conversation(1).source["filtered_resps"] == {"strict": ["2 strict"], "loose": ["2 loose"]}


def test_a_format_that_is_named_is_looked_for_in_a_folder_too(tmp_path: Path):
    path = write_lines(tmp_path / "logs" / "samples_add_2026-01-02T03-04-05.678901.jsonl", lm_sample(0, 1.0))
    write_lines(tmp_path / "logs" / "other.jsonl", {"messages": CHAT})
    assert [item.path for item in find_items(tmp_path / "logs", "lm-eval")] == [path]
    odd = write_lines(tmp_path / "odd", lm_sample(0, 1.0))
    assert [(item.path, item.form.name) for item in find_items(odd, "lm-eval")] == [(odd, "lm-eval")]


def test_repeats_of_lm_eval_are_rollouts_of_which_only_the_first_was_scored(tmp_path: Path):
    stamp = "2026-01-02T03-04-05.678901"
    lines = [
        lm_sample(place, float(name == "majority"), filter=name, resps=[["2", "3", "2"]], filtered_resps=["2"])
        for name in ("first", "majority")
        for place in range(2)
    ]
    path = write_lines(tmp_path / f"samples_add_{stamp}.jsonl", *lines)
    write_json(tmp_path / f"results_{stamp}.json", {"n-samples": {"add": {"effective": 2}}})
    (run,) = imports(path, "lm-eval")
    assert [rollout.slot for rollout in run.rollouts] == [(name, number) for name in "01" for number in range(3)]
    assert run.report.outcomes == {"failed": 2, "undecided": 4}
    assert run.report.missing == 0
    assert [run.texts(number)[1] for number in range(3)] == [("assistant", "2"), ("assistant", "3"), ("assistant", "2")]
    assert [rollout.calls for rollout in run.rollouts] == [1] * 6
    assert "scores the responses to a document together" in run.rollouts[1].message


def test_scores_that_lm_eval_gave_each_repeat_are_those_of_its_rollouts(tmp_path: Path):
    line = lm_sample(0, 1.0, resps=[["2", "3", "2"]], filtered_resps=[["2", "3", "2"]], exact_match=[1.0, 0.0, 1.0])
    (run,) = imports(write_lines(tmp_path / "samples_add.jsonl", line), "lm-eval")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]


def test_files_of_lm_eval_that_were_joined_keep_their_documents_apart(tmp_path: Path):
    lines = [lm_sample(0, value, filter=name) for value in (0.0, 1.0) for name in ("strict", "loose")]
    (run,) = imports(write_lines(tmp_path / "samples_add.jsonl", *lines), "lm-eval")
    assert [(rollout.key.case, rollout.outcome) for rollout in run.rollouts] == [
        ("0", Outcome.FAILED),
        ("0~2", Outcome.PASSED),
    ]


@pytest.mark.parametrize(
    "damage",
    ["{", "[]", '"x"', '{"doc_id": null}', '{"resps": 3}', '{"doc_id": [1], "resps": {"a": 1}, "metrics": "x"}'],
)
def test_lines_of_lm_eval_that_are_none_are_named_and_the_others_read(tmp_path: Path, damage: str):
    path = write_lines(tmp_path / "samples_add.jsonl", lm_sample(0, 1.0), damage, lm_sample(1, float("nan")))
    (run,) = imports(path, "lm-eval")
    assert {"0", "1"} <= {rollout.key.case for rollout in run.rollouts}
    assert len(run.rollouts) + len(run.report.problems) == 3


# promptfoo ------------------------------------------------------------------------------------------------------------


def promptfoo_result(test: int, prompt: int, *, success: bool, score: float, **more: Any) -> Json:
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "testCase": {"vars": {"q": "1+1"}, "assert": [{"type": "contains", "value": "2"}]},
        "prompt": {"raw": "What is 1+1?", "label": "What is {{q}}?"},
        "response": {"output": "It is 2", "tokenUsage": {"prompt": 4, "completion": 3, "total": 7}},
        "success": success,
        "score": score,
        "namedScores": {"style": 0.5},
        "gradingResult": {"reason": "contains 2"},
        "latencyMs": 1500,
        "cost": 0.25,
        "failureReason": 0,
    } | more


def promptfoo(version: int = 3) -> Json:
    def prompt(provider: str, passed: int, failed: int) -> Json:
        return {
            "provider": provider,
            "label": "What is {{q}}?",
            "metrics": {"testPassCount": passed, "testFailCount": failed},
        }

    results = [
        promptfoo_result(0, 0, success=True, score=1),
        promptfoo_result(0, 1, success=False, score=0.5),
        promptfoo_result(1, 0, success=False, score=0, failureReason=2, error="API error: 500", response={}),
        promptfoo_result(1, 1, success=True, score=1),
    ]
    prompts = [prompt("openai:a", 1, 0), prompt("openai:b", 1, 1)]
    return {"evalId": "e", "results": {"version": version, "prompts": prompts, "results": results}, "config": {}}


def test_each_provider_of_promptfoo_is_a_run(tmp_path: Path):
    a, b = imports(write_json(tmp_path / "out.json", promptfoo()), "promptfoo")
    assert (a.report.model, b.report.model) == ("openai:a", "openai:b")
    assert (a.outcomes, b.outcomes) == ([Outcome.PASSED, Outcome.BROKEN], [Outcome.FAILED, Outcome.PASSED])
    assert b.rollouts[0].scores == {"success": 0.0, "score": 0.5, "style": 0.5}
    assert all(total.agrees for run in (a, b) for total in run.report.totals)
    assert a.rollouts[0].seconds == 1.5
    assert a.rollouts[0].cost_usd == 0.25
    assert a.texts()[:2] == [("user", "What is 1+1?"), ("assistant", "It is 2")]


def test_results_of_many_prompts_are_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = promptfoo()
    log["results"]["prompts"] = [{"provider": f"p{place}", "metrics": {"testPassCount": 1}} for place in range(9)]
    log["results"]["results"] = [promptfoo_result(0, place, success=True, score=1) for place in range(9)]
    path, passes = write_json(tmp_path / "out.json", log), list[Path]()
    read = promptfoo_log.placed_pieces

    def counted(path: Path, *others: Any) -> Any:
        passes.append(path)
        return read(path, *others)

    monkeypatch.setattr(promptfoo_log, "placed_pieces", counted)
    assert [len(list(each.samples())) for each in promptfoo_log.FORMAT.open(path)] == [1] * 9
    assert passes == [path]


# tau-bench ------------------------------------------------------------------------------------------------------------


def test_results_of_tau_bench(tmp_path: Path):
    info = {"task": {"instruction": "Cancel it.", "actions": [{"name": "cancel"}], "outputs": []}}
    results = [
        {"task_id": 3, "reward": 1.0, "info": info, "traj": CHAT, "trial": 0},
        {"task_id": 3, "reward": 0.0, "info": info, "traj": CHAT, "trial": 1},
        {"task_id": 4, "reward": 0.0, "info": {"error": "APIError: gone"}, "traj": [], "trial": 0},
    ]
    (run,) = imports(write_json(tmp_path / "tool-calling-m_range_0.json", results), "tau")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.BROKEN]
    assert run.conversation().case is not None
    assert run.rollouts[0].title == "Cancel it."


def test_simulations_of_tau2_bench(tmp_path: Path):
    call = {"id": "c", "name": "find", "arguments": {"x": 1}, "requestor": "assistant"}
    messages = [
        {"role": "user", "content": "Help."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        },
        {"id": "c", "role": "tool", "content": "here", "requestor": "assistant"},
        {"role": "assistant", "content": "Done.", "cost": 0.1},
    ]
    simulation = {
        "task_id": "t1",
        "trial": 0,
        "duration": 12.5,
        "termination_reason": "user_stop",
        "agent_cost": 0.2,
        "reward_info": {"reward": 1.0, "reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.5}},
        "messages": messages,
    }
    stopped = simulation | {"trial": 1, "termination_reason": "max_steps", "reward_info": {"reward": 0.0}}
    document = {
        "timestamp": "2026-01-02T03:04:05",
        "info": {"num_trials": 2, "agent_info": {"llm": "m"}, "environment_info": {"domain_name": "airline"}},
        "tasks": [{"id": "t1", "description": {"purpose": "Test it."}, "evaluation_criteria": {"actions": []}}],
        "simulations": [simulation, stopped],
    }
    (run,) = imports(write_json(tmp_path / "sim.json", document), "tau2")
    assert run.report.suite == "tau2-bench/airline"
    assert [rollout.reason for rollout in run.rollouts] == ["", "max steps limit"]
    assert run.rollouts[0].scores == {"reward": 1.0, "DB": 1.0, "COMMUNICATE": 0.5}
    assert (run.rollouts[0].title, run.rollouts[0].input_tokens, run.rollouts[0].cost_usd) == ("Test it.", 9, 0.2)
    assert [kind for kind, _ in run.texts()] == ["user", "call", "result", "assistant", "verdict"]


# Conversations, Every Eval Ever ---------------------------------------------------------------------------------------


def test_conversations_with_and_without_scores(tmp_path: Path):
    path = write_lines(
        tmp_path / "mine.jsonl",
        {"messages": CHAT, "score": 1, "id": "a", "target": "2", "model": "m"},
        {"messages": CHAT, "scores": {"style": 0.25}, "note": "kept"},
        {"messages": CHAT},
    )
    (run,) = imports(path, "chat")
    assert run.report.model == "m"
    assert [rollout.key.case for rollout in run.rollouts] == ["a", "line 2", "line 3"]
    assert run.outcomes[2] is Outcome.UNDECIDED
    assert run.folder.summary().headline == "score"
    assert run.conversation(1).source == {"note": "kept"}


def instance(sample: str, result: str, score: float, **more: Any) -> Json:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e1",
        "model_id": "org/m",
        "evaluation_name": "sums",
        "evaluation_result_id": result,
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": "1+1?", "reference": ["2"]},
        "output": {"raw": ["2"]},
        "answer_attribution": [{"turn_idx": 0, "extracted_value": "2"}],
        "evaluation": {"score": score, "is_correct": score == 1} | more,
    }


def test_instances_of_every_eval_ever_with_their_aggregate(tmp_path: Path):
    lines = [instance("a", "r1", 1), instance("a", "r2", 0.5), instance("b", "r1", 0), instance("b", "r2", 0)]
    path = write_lines(tmp_path / "e1.jsonl", *lines)
    results = [
        {"evaluation_result_id": name, "metric_config": {"metric_name": metric}, "score_details": {"score": score}}
        for name, metric, score in (("r1", "accuracy", 0.5), ("r2", "style", 0.25))
    ]
    write_json(tmp_path / "e1.json", {"evaluation_id": "e1", "evaluation_results": results})
    (run,) = imports(path, "every-eval-ever")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED]
    assert run.rollouts[0].scores == {"accuracy": 1.0, "is_correct": 1.0, "style": 0.5}
    assert [total.agrees for total in run.report.totals] == [True, True]


def test_instances_that_say_whether_they_are_correct_are_believed(tmp_path: Path):
    lines = [
        instance("a", "r1", 0.6, is_correct=True),
        instance("b", "r1", 0.9, is_correct=False),
        instance("c", "r1", 0.9, is_correct=None),
    ]
    (run,) = imports(write_lines(tmp_path / "e1.jsonl", *lines), "every-eval-ever")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]
    assert [rollout.reason for rollout in run.rollouts] == ["", "sums", "partial score"]
    assert run.report.partial == {"sums": 1}


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("out.json", promptfoo(version=9), "is a result of version 9"),
        ("traces.jsonl", episode(trace({}, version=4)), "traces of version 4"),
        (
            "e.jsonl",
            {"schema_version": "9.1", "evaluation_id": "e", "sample_id": "s", "evaluation": {}},
            "a record of version 9.1",
        ),
    ],
)
def test_versions_that_are_not_known_are_named(tmp_path: Path, name: str, value: Any, words: str):
    with pytest.raises(UsageError, match=words):
        imports(write_json(tmp_path / name, value), find_items(tmp_path / name)[0].form.name)


def test_lines_that_are_damaged_cost_nothing_else(tmp_path: Path):
    deep = "[" * 5000 + "]" * 5000
    lines = [{"messages": CHAT, "score": 1}, "{oops", deep, '"text"', {"messages": CHAT, "score": 0}, '{"messages": ']
    (run,) = imports(write_lines(tmp_path / "mine.jsonl", *lines), "chat")
    assert run.outcomes == [Outcome.PASSED, Outcome.FAILED]
    assert [problem.where for problem in run.report.problems] == ["line 2", "line 3", "line 4", "line 6"]


@pytest.mark.parametrize(("value", "outcome"), [(1e400, Outcome.BROKEN), (float("nan"), Outcome.UNDECIDED)])
def test_an_infinite_score_breaks_the_case_and_nan_is_none(tmp_path: Path, value: float, outcome: Outcome):
    (run,) = imports(write_lines(tmp_path / "mine.jsonl", {"messages": CHAT, "score": value}), "chat")
    assert run.outcomes == [outcome]


@pytest.mark.parametrize("value", [-1e300, 2**70, "x" * 100, [], {"a": "b"}, None])
def test_scores_beyond_what_is_a_number_are_no_scores(tmp_path: Path, value: Any):
    (run,) = imports(write_lines(tmp_path / "mine.jsonl", {"messages": CHAT, "score": value}), "chat")
    assert run.outcomes == [Outcome.UNDECIDED]


def test_hostile_words_stay_words(tmp_path: Path):
    text = "\x1b]0;evil\x07[bold]__import__('os')[/bold]\ud800‮"
    (run,) = imports(
        write_lines(tmp_path / "mine.jsonl", {"messages": [{"role": "user", "content": text}, CHAT[1]]}), "chat"
    )
    assert run.texts()[0][1].startswith("\x1b]0;evil\x07[bold]")


# Graded again ---------------------------------------------------------------------------------------------------------


def logs_of_generated_texts(folder: Path) -> dict[str, Path]:
    right = {"right": {"score": 1.0}}
    gone = trace(right, ok=False, errors=[{"type": "ProviderError", "message": "gone"}])
    row = {"example_id": 0, "prompt": CHAT[:1], "completion": CHAT[1:], "answer": "2", "reward": 1.0}
    wrong = lm_sample(1, 0.0, resps=[["2", "3"]])
    return {
        "verifiers-traces": write_lines(folder / "a" / "traces.jsonl", episode(trace(right)), episode(gone)),
        "verifiers-results": write_lines(folder / "b" / "results.jsonl", row, row | {"reward": 0.0}),
        "lm-eval": write_lines(folder / "c" / "samples_add.jsonl", lm_sample(0, 1.0), wrong),
        "promptfoo": write_json(folder / "d" / "out.json", promptfoo()),
    }


@pytest.mark.parametrize(
    ("form", "now", "answers"),
    [
        ("verifiers-traces", ["passed", "broken"], ["It is 2"]),
        ("verifiers-results", ["passed", "failed"], ["2", "2"]),
        ("lm-eval", ["failed", "failed", "passed"], ["2", "2", "3"]),
        ("promptfoo", ["passed", "broken"], ["It is 2"]),
    ],
)
def test_a_judge_of_ours_grades_the_answers_of_other_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, now: list[str], answers: list[str]
) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    (old, *_) = imports(logs_of_generated_texts(tmp_path)[form], form)
    prepared = prepare_regrade(old.folder, judge="sim/judge", options={"rubric": "It is a number."})
    folder = create_run(prepared.runs_root, prepared.manifest)
    asyncio.run(Engine(folder, prepared).run())
    records = JournalReader(folder.journal_path).read_new()
    asked = [record for record in records if isinstance(record, Asked) and not record.kept]
    assert {record.role for record in asked} == {"judge"}
    questions = sorted(str(record.messages[-1]["content"]) for record in asked)
    assert len(questions) == len(answers)
    assert all("- rubric: It is a number." in question and "1+1" in question for question in questions)
    assert all(
        f"<answer>\n{answer}\n</answer>" in question for answer, question in zip(answers, questions, strict=True)
    )
    ended = {record.key: record.verdict for record in records if isinstance(record, Finished)}
    assert sorted(verdict.outcome.value for verdict in ended.values()) == sorted(now)
    assert folder.manifest().regraded == old.folder.name
    broken = [verdict for verdict in ended.values() if verdict.outcome is Outcome.BROKEN]
    assert [verdict.reason for verdict in broken] == ["error in the log"] * now.count("broken")  # as it was there


def test_what_no_judge_can_grade_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (ranked,) = imports(write_lines(tmp_path / "samples_mc.jsonl", lm_sample(0, 1.0, **RANKED)), "lm-eval")
    with pytest.raises(UsageError, match="ranked given texts by likelihood, and wrote no answers"):
        prepare_regrade(ranked.folder, judge="sim/judge")
    for form, path in logs_of_generated_texts(tmp_path).items():
        (old, *_) = imports(path, form)
        with pytest.raises(UsageError, match="only a judge can grade what another tool recorded"):
            prepare_regrade(old.folder)
