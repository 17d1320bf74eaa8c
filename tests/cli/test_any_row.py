"""Whatever stands on a line of `check`: it gets an answer or an `error` of its own, and costs no other line."""

import gzip
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fuzz_budget import BUDGET, made_up
from support.made_up_json import LINES, as_text, confused, damaged

from console.cli.exitcode import Exit
from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.suites.check import check

AIDAN: list[dict[str, Any]] = [
    {"case": "l", "kind": "loop", "answers": [{"c": 90.0, "e": 1.0, "l": 1.0}, {"c": 80.0, "e": 0.4}, {"c": 9, "e": 0}],
     "use_llm_similarity": True, "thresholds": {"coherence_score": 15}, "max_turns": 20},
    {"case": "v", "kind": "verdict", "c": "nan", "e": 0.2, "l": 0.3, "use_llm_similarity": False, "thresholds": {}},
    {"case": "a", "kind": "answer", "text": "<answer> x </answer>"},
    {"case": "c", "kind": "coherence", "text": "<coherence_score>80</coherence_score>"},
    {"case": "s", "kind": "similarity", "text": "<similarity_score>12</similarity_score>"},
    {"case": "f", "kind": "format",
     "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<answer>a</answer>"}]},
    {"case": "n", "kind": "novelty", "previous": [[1.0, 0.0], [0, 1]], "new": [0.6, 0.8]},
]  # fmt: skip
EXPECTED_CALL = {
    "name": "f",
    "arguments": [{"name": "a", "value": 1, "type": "int", "required": True}],
    "strict_args": True,
}
TURN = {
    "query": "q",
    "expected_function_calls": [EXPECTED_CALL],
    "expected_variable_reads": ["x"],
    "expected_variable_writes": ["y"],
}
ACTUAL = {
    "content": "done",
    "calls": [{"function": "f", "arguments": {"a": {"$py": "Decimal('1')"}}, "call_id": "1"}],
    "code": ["y = x"],
    "steps": 1,
    "tokens": [1, 2, 3],
}
CAVE: list[dict[str, Any]] = [
    {"id": "t", "kind": "turn", "turn": TURN, "actual": ACTUAL, "validator": {"success": True, "message": "no"}},
    {"id": "o", "kind": "turn", "turn": TURN, "actual": ACTUAL, "validator": None, "verdict_seed_era": {}},
    {"id": "s", "kind": "scenario",
     "conversations_in": [{"id": "c", "turns": [{"turn": TURN, "actual": ACTUAL, "validator": None}]}]},
    {"id": "n", "kind": "normalize", "value": {"a": [1.0, "x", {"$py": "set([1, 2])"}]}},
    {"id": "y", "kind": "type", "value": {"$py": "range(3)"}, "expected_type": "int"},
    {"id": "a", "kind": "access", "code": "y = x + 1"},
    {"id": "k", "kind": "cost", "expected_arguments": [{"name": "a", "value": 1, "type": "int"}],
     "actual_arguments": {"a": {"$py": "1.5"}}},
    {"id": "r", "kind": "turn", "run": "r", "scenario": "s", "actual_calls": [{"function": "f", "arguments": {"a": 1}}],
     "expected_calls": [EXPECTED_CALL], "validation_errors": ["Custom validator failed: no"], "validator_result": False,
     "code_snippets": ["x"], "metrics": {"steps": 1, "total_tokens": 3}},
    {"id": "w", "kind": "scenario", "run": "r", "scenario": "s", "whole_run_here": True, "conversations": []},
    {"id": "m", "tool": "f", "signature": "(a: int = 1, b: Optional[list[str]] = None) -> str",
     "doc": "Do it.\n\nArgs:\n    a: first\n    b: second"},
]  # fmt: skip
BFCL: list[dict[str, Any]] = [
    {
        "case": 1,
        "id": "simple_python_0",
        "output": "[harbour.tide_height(harbour='Saint-Malo', date='2026-03-14', hour=16)]",
    },
    {
        "case": 2,
        "id": "simple_python_0",
        "mode": "fc",
        "u2d": True,
        "output": [{"harbour_tide_height": '{"hour": 16}'}],
    },
    {"case": 3, "id": "irrelevance_0", "output": "I cannot."},
    {"case": 4, "id": "simple_python_1", "model": "gpt-4o-2024-11-20-FC", "output": [{"loan_monthly_rate": "{}"}]},
    {"case": 5, "id": "web_search_base_0", "output": [["[search(q='x')]", "{'answer': 'x'}"]]},
    {"case": 6, "id": "parallel_0", "output": "[f(a=1), f(a=2)]"},
]
MULTI_TURN: list[dict[str, Any]] = [
    {"case": 8, "id": "multi_turn_base_1", "output": [["[get_balance()]", "ok"], ["[top_up(cents=1000)]"], ["x"]]},
    {"case": 9, "id": "multi_turn_base_1", "mode": "fc", "output": [[[{"get_balance": "{}"}], "ok"], [], [["x"]]]},
]
SAMPLES = {"aidanbench": AIDAN, "cavebench": CAVE, "bfcl-starter": BFCL}


def judged(suite: str, lines: Sequence[str | UsageError]) -> list[dict[str, Any]]:
    checked = check(suite, lines, find_data_roots(), ahead=3)
    answers = list(checked)
    assert checked.errors == sum("error" in answer and "line" in answer for answer in answers)
    return answers


def assert_each_answered(suite: str, lines: list[str]) -> None:
    sound = json.dumps(SAMPLES[suite][2])
    (alone,) = judged(suite, [sound])
    answers = judged(suite, [sound, *lines, sound])
    assert len(answers) == len(lines) + 2
    assert answers[0] == answers[-1] == alone
    for number, answer in enumerate(answers, 1):
        assert json.loads(json.dumps(answer)).keys() == answer.keys()
        if "line" in answer:
            assert answer["line"] == number
            assert answer["error"].startswith(f"line {number}")
            assert "the suite's code failed" not in answer["error"], "not refused where it came in"


@pytest.mark.parametrize("suite", SAMPLES)
@made_up(60)
@given(data=st.data())
def test_rows_at_large_and_rows_that_are_nearly_right(suite: str, data: st.DataObject) -> None:
    row = damaged(SAMPLES[suite]).map(as_text)
    lines = data.draw(st.lists(row | row | row | LINES, min_size=1, max_size=6))
    assert_each_answered(suite, [line for line in lines if line.strip()])


@pytest.mark.parametrize("suite", SAMPLES)
def test_rows_with_each_type_in_each_field(suite: str) -> None:
    rows = [row for sample in SAMPLES[suite] for row in confused(sample)]
    assert len(rows) > 100
    assert_each_answered(suite, [as_text(row) for row in rows if row])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("field", ["id", "case", "run", "conversation", "module"])
def test_what_is_echoed_is_json(console: Any, home: Path, field: str, number: str) -> None:
    """JSON has no NaN: a line is refused for it, or answered without it."""
    row = {key: value for key, value in CAVE[0].items() if key != field}
    (home / "in.jsonl").write_text(json.dumps(row)[:-1] + f', "{field}": {number}}}\n')
    ended = console("check", "cavebench", "in.jsonl")
    (answer,) = [json.loads(line, parse_constant=pytest.fail) for line in ended.out.splitlines()]
    if field in ("id", "case"):
        assert ended.code == Exit.USAGE
        assert f"`{field}` must be a string or a number" in answer["error"]
    else:
        assert ended.code == Exit.OK
        assert answer["id"] == "t"


def test_conversations_that_are_nearly_right() -> None:
    """In one go, because a worker is started for it."""
    rng = random.Random(5)
    values: list[Any] = [None, "x", 1, [], {}, [["x"]], [[None]] * 3, [[[{"get_balance": 1}]]] * 3, [{"a": 1}] * 3]
    rows: list[dict[str, Any]] = []
    for number in range(30 * BUDGET):
        row = {**rng.choice(MULTI_TURN), "case": number}
        row[rng.choice(("output", "output", "id", "mode"))] = rng.choice(values)
        rows.append(row)
    answers = judged("bfcl-starter", [json.dumps(row) for row in [*rows, MULTI_TURN[0]]])
    assert len(answers) == len(rows) + 1
    assert "valid" in answers[-1]
    assert not [answer for answer in answers if "the suite's code failed" in str(answer.get("error", ""))]


@pytest.mark.parametrize(
    ("suite", "row"),
    [
        ("cavebench", {"kind": "turn", "turn": {}, "actual": None}),
        ("cavebench", {"kind": "turn", "turn": {}, "actual": {"calls": ["x"]}}),
        ("cavebench", {"kind": "access", "code": 5}),
        ("cavebench", {"kind": {}, "tool": 5}),
        ("cavebench", {"kind": "tool", "tool": "f", "signature": 5}),
        ("aidanbench", {"case": "a", "kind": "answer", "text": None}),
        ("aidanbench", {"case": "a", "kind": "novelty", "previous": [[10**400]], "new": [1]}),
        ("aidanbench", {"case": "a", "kind": "verdict", "c": 10**400, "e": 1}),
        ("aidanbench", {"case": {"deep": []}, "kind": "answer", "text": "x"}),
        ("bfcl-starter", {"id": ["simple_python_0"], "output": "x"}),
        ("bfcl-starter", {"case": [1], "id": "simple_python_0", "output": "x"}),
        ("bfcl-starter", {"id": "simple_python_0", "output": "x", "mode": 5}),
    ],
)
def test_rows_that_once_ended_the_program(suite: str, row: dict[str, Any]) -> None:
    assert_each_answered(suite, [json.dumps(row)])
    assert "error" in judged(suite, [json.dumps(row)])[0]


@pytest.mark.parametrize(
    "text",
    ["bytes(10**10)", "bytearray(10**10)", "list(range(10**10))", "set(range(10**10))", "int(Decimal('1e999999999'))",
     "Fraction('1e999999999')", "[['a' * 10**6] * 10**6] * 10**6", "np.arange(10**12)", "tuple(range(10**9))",
     "Counter(range(10**9))", "str(range(10**9)) * 10**9", "1" + "+1" * 5_000, "-" * 90 + "1", "(" * 150 + ")" * 150],
)  # fmt: skip
def test_values_that_would_be_huge_are_refused(text: str) -> None:
    """A value of Python's is written as source text; none may cost more than the line that holds it."""
    start = time.process_time()
    assert_each_answered("cavebench", [json.dumps({"id": "n", "kind": "normalize", "value": {"$py": text}})])
    assert time.process_time() - start < 2


def test_a_field_that_is_there_twice_counts_as_the_official_programs_read_it() -> None:
    scores = [f'"text": "<coherence_score>{score}</coherence_score>"' for score in (80, 30)]
    [answer] = judged("aidanbench", [f'{{"case": "c", "kind": "coherence", {", ".join(scores)}}}'])
    [last] = judged("aidanbench", [f'{{"case": "c", "kind": "coherence", {scores[1]}}}'])
    assert answer == last
    assert "30" in str(last)


def test_a_line_that_is_too_long_costs_itself(console: Any, home: Path) -> None:
    sound = json.dumps(AIDAN[2])
    (home / "in.jsonl").write_text(f'{sound}\n"{"x" * 17_000_000}"\n{sound}\n')
    ended = console("check", "aidanbench", "in.jsonl")
    assert ended.code == Exit.USAGE
    first, second, third = ended.lines
    assert first == third == {"case": "a", "value": "x"}
    assert second["error"] == "line 2: the line is longer than 16,000,000 bytes"


def test_bytes_that_are_no_text_cost_their_line(console: Any, home: Path) -> None:
    sound = json.dumps(AIDAN[2]).encode()
    (home / "in.jsonl").write_bytes(b"\n".join((sound, b'{"\xff": 1}', sound)))
    ended = console("check", "aidanbench", "in.jsonl")
    assert ended.code == Exit.USAGE
    assert [("error" in line) for line in ended.lines] == [False, True, False]


def test_a_damaged_archive_is_read_as_far_as_it_goes(console: Any, home: Path) -> None:
    """Cut at any place, or with any byte changed: what was read is answered, and the place where it ends is said."""
    rng = random.Random(3)
    sound = json.dumps(AIDAN[2])
    rows = [json.dumps({**AIDAN[2], "text": rng.randbytes(20).hex()}) for _ in range(200)]
    whole = gzip.compress("\n".join((sound, *rows)).encode())
    for number in range(16 * BUDGET):
        place = rng.randrange(len(whole))
        broken = whole[:place] if number % 2 else whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        (home / "in.jsonl.gz").write_bytes(broken)
        ended = console("check", "aidanbench", "in.jsonl.gz")
        assert ended.code in (Exit.OK, Exit.USAGE), (number, place)
        assert "Traceback" not in ended.err
        if ended.lines and ended.code == Exit.USAGE:
            assert "error" in ended.lines[-1] or any("error" in line for line in ended.lines)
    (home / "in.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    ended = console("check", "aidanbench", "in.jsonl.gz")
    assert len(ended.lines) > 50
    assert ended.lines[0] == {"case": "a", "value": "x"}
    assert "cannot be read to the end" in ended.lines[-1]["error"]
