"""Conversations in the official files: the log of what was said and executed, and the fields of failed entries."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from console.__main__ import main
from console.benchmarks.bfcl.files.inference_log import conversation_log, input_log
from console.benchmarks.bfcl.files.layout import read_lines, result_path, score_path, write_lines
from console.benchmarks.bfcl.files.results import result_line
from console.core.case import Key
from console.core.chat import Reply
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Finished

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"
BALANCE, TOP_UP, CANCEL = (
    "[get_balance()]",
    "[top_up(cents=1000), buy_ticket(fare='day', zone='B')]",
    "[cancel_ticket(ticket=7)]",
)


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("EVAL_CONSOLE_MODELS", "EVAL_CONSOLE_DATA", "EVAL_CONSOLE_RUNS", "BFCL_PROJECT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> int:
        return main([*argv, "-s", "bfcl-starter", "--data", str(STARTER)])

    return run


def chosen(tmp_path: Path, *ids: str) -> None:
    (tmp_path / "test_case_ids_to_generate.json").write_text(json.dumps({"multi_turn_base": ids}))


def generated(tmp_path: Path) -> dict[str, Any]:
    return read_lines(result_path(tmp_path / "result", "sim/careful", "multi_turn_base"))[0]


def test_the_log_follows_turns_steps_and_states(console, tmp_path):
    chosen(tmp_path, "multi_turn_base_1")
    assert console("bfcl", "generate", "--model", "sim/careful", "--run-ids") == 0
    line = generated(tmp_path)
    log = line["inference_log"]
    assert [isinstance(item, list) for item in log] == [True, False] * 3 + [True]
    assert {state["role"] for state in log[0]} == {"state_info"}
    assert log[0] != log[4], "the second turn changes the state"
    for turn, item in zip(line["result"], log[1::2], strict=True):
        assert list(item) == ["begin_of_turn_query", *(f"step_{number}" for number in range(len(turn)))]
        assert item["begin_of_turn_query"][-1]["role"] == "user"
        said = [part for number in range(len(turn)) for part in item[f"step_{number}"]]
        assert [part["content"] for part in said if part["role"] == "assistant"] == turn
    roles = [part["role"] for part in log[1]["step_0"]]
    assert roles == ["assistant", "handler_log", "tool"]
    assert log[1]["step_0"][1]["model_response_decoded"] == ["get_balance()"]
    last = log[1][f"step_{len(line['result'][0]) - 1}"]
    assert [item["content"] for item in last[1:]] == ["Error decoding the model response. Proceed to next turn."]


def test_states_can_be_left_out_and_inputs_written(console, tmp_path):
    chosen(tmp_path, "multi_turn_base_1")
    flags = ("--run-ids", "--exclude-state-log", "--include-input-log")
    assert console("bfcl", "generate", "--model", "sim/careful", *flags) == 0
    log = generated(tmp_path)["inference_log"]
    assert all(isinstance(item, dict) for item in log)
    assert log[0]["step_0"][0]["role"] == "inference_input"
    given = log[0]["step_0"][0]["content"]
    assert list(given) == ["message"], "the functions are in the prompt, and the messages are one text"
    assert ast.literal_eval(given["message"])[-1] == log[0]["begin_of_turn_query"][-1]


@pytest.mark.parametrize(
    ("output", "step", "sentences"),
    [
        ("[f()]", 0, ["Successfully decoded model response."]),
        (
            "[f()]",
            20,
            ["Successfully decoded model response.", "Model has been forced to quit after 20 steps."],
        ),
        (
            "[]",
            0,
            ["Successfully decoded model response.", "Empty response from the model. Proceed to next turn."],
        ),
        ("Done.", 0, ["Error decoding the model response. Proceed to next turn."]),
    ],
)
def test_the_log_says_what_became_of_a_reply_in_the_official_sentences(output, step, sentences):
    turn = ["[f()]"] * step + [output]
    (log,) = conversation_log([], [turn], {}, "prompt", native=False, inputs=False)
    assert [item["content"] for item in log[f"step_{step}"] if item["role"] == "handler_log"] == sentences


@pytest.mark.parametrize(
    ("native", "messages", "content"),
    [
        (False, [{"role": "user", "content": "a"}], {"message": "[{'role': 'user', 'content': 'a'}]"}),
        (True, [{"role": "user", "content": "a"}], {"message": "[{'role': 'user', 'content': 'a'}]", "tools": [{}]}),
        (False, [{"role": "prompt", "content": "a"}, {"role": "prompt", "content": "b"}], {"formatted_prompt": "ab"}),
    ],
)
def test_inputs_have_the_official_form(native, messages, content):
    asked = Asked(
        at=1.0, key=Key("simple_python_0"), n=1, digest="", reply=Reply("x"), messages=messages, tools=[{}] * native
    )
    log = input_log([asked], native=native)
    assert log == [{"role": "inference_input", "content": content}]
    line = result_line(Finished(at=1.0, key=asked.key, verdict=Verdict(Outcome.PASSED), output="x"), [asked], log=log)
    assert line is not None
    assert list(line) == ["id", "result", "inference_log", "input_token_count", "output_token_count", "latency"]


@pytest.mark.parametrize(
    ("turns", "reason", "error_fields", "fields"),
    [
        (
            [[BALANCE], ["[top_up(cents=1000)]"], [CANCEL]],
            "multi_turn:instance_state_mismatch",
            ["error_message", "error_type", "details", "execution_result"],
            ["model_result_raw", "model_result_decoded"],
        ),
        (
            [["[list_fares()]"], [TOP_UP], [CANCEL]],
            "multi_turn:execution_response_mismatch",
            ["error_message", "error_type", "details"],
            ["model_result_raw", "model_result_decoded"],
        ),
        (
            [[BALANCE], ["I did it."], [CANCEL]],
            "multi_turn:empty_turn_model_response",
            ["error_message", "error_type", "details"],
            ["model_result_raw", "model_result_decoded"],
        ),
        ([[BALANCE]], "multi_turn:force_terminated", ["error_message", "error_type"], ["model_result"]),
        ("no list", "multi_turn:inference_error", ["error_message", "error_type"], ["model_result"]),
    ],
)
def test_failed_conversations_have_the_official_fields(console, tmp_path, turns, reason, error_fields, fields):
    line = {"id": "multi_turn_base_1", "result": turns, "inference_log": ["kept"]}
    write_lines(result_path(tmp_path / "result", "google/gemma-3-1b-it", "multi_turn_base"), [line], ascii_only=True)
    assert console("bfcl", "evaluate", "--partial-eval") == 0
    header, failed = read_lines(score_path(tmp_path / "score", "google/gemma-3-1b-it", "multi_turn_base"))
    assert header == {"accuracy": 0.0, "correct_count": 0, "total_count": 1}
    head = ["id", "model_name", "test_category", "valid", "error", "prompt"]
    assert list(failed) == [*head, *fields, "possible_answer", "inference_log"]
    assert list(failed["error"]) == error_fields
    assert failed["error"]["error_type"] == reason
    assert (failed["model_name"], failed["inference_log"]) == ("google_gemma-3-1b-it", ["kept"])
    assert "function" not in failed["prompt"]
    assert {"question", "initial_config", "involved_classes"} <= failed["prompt"].keys()


def test_a_state_that_differs_is_recorded_from_both_sides(console, tmp_path):
    line = {"id": "multi_turn_base_1", "result": [[BALANCE], ["[top_up(cents=1000)]"], [CANCEL]]}
    write_lines(result_path(tmp_path / "result", "grok-4-0709", "multi_turn_base"), [line], ascii_only=True)
    assert console("bfcl", "evaluate", "--partial-eval") == 0
    details = read_lines(score_path(tmp_path / "score", "grok-4-0709", "multi_turn_base"))[1]["error"]["details"]
    for name, both in details["differences"].items():
        assert both["model"] == details["model_instance_state"][name]
        assert both["ground_truth"] == details["ground_truth_instance_state"][name]
        assert both["model"] != both["ground_truth"]
    assert details["differences"]
