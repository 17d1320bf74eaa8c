"""Conversations in both modes on the bundled scenarios and on small ones of the tests' own, through the suite."""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.memory_stage import Interrupted, MemoryStage, Script, cell

from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.core.case import Case, Setting
from console.core.chat import Message
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome
from console.core.run import Selection
from console.suites.selection import select_cases
from console.suites.suite import Result, SuiteEntry

STARTER = Path(__file__).resolve().parents[3] / "data" / "cave-starter"
HAS_AGENT = importlib.util.find_spec("cave_agent") is not None
HAS_PANDAS = importlib.util.find_spec("pandas") is not None
cave_mode = pytest.mark.skipif(not HAS_AGENT, reason="cave-agent is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code runs only where it can be confined")


def suite_of(folder: Path) -> CaveBenchSuite:
    return CaveBenchSuite(SuiteEntry(name="cave", format="cavebench", folder=folder, title="cave"))


def setting(mode: str, **options: Any) -> Setting:
    return Setting(mode=mode, options=options)


MODULE = '''
"""A scenario of the tests."""
from cave_agent import Variable
from core.validation import ValidatorResult

_total = []

def add(a: int, b: int = 1) -> int:
    """Add numbers."""
    _total.append(a)
    if a < 0:
        raise ValueError("negative")
    return a + b

def remember(what: str) -> list:
    """Remember a word and list all."""
    _total.append(what)
    return list(_total)

def check_box(response, runtime, turn, actual_calls):
    value = runtime.retrieve("box")
    return ValidatorResult(value == {"x": 1}, f"box is {value}")

def check_calls(response, runtime, turn, actual_calls):
    return ValidatorResult(bool(actual_calls), "no calls")

def explode(response, runtime, turn, actual_calls):
    raise RuntimeError("validator bug")

def answer_none(response, runtime, turn, actual_calls):
    return None

def rephrase(runtime, turn):
    runtime.update_variable("box", {"x": 1})
    return "hooked " + turn.query

tools = [add, remember]
variables = [Variable("box", {}, "A box", include_type_doc=True)]
validators = {"box": check_box, "calls": check_calls, "explode": explode, "none": answer_none}
hooks = {"rephrase": rephrase}
'''


def scenario(tmp_path: Path, *turns: dict[str, Any], **more: Any) -> tuple[CaveBenchSuite, Case]:
    (tmp_path / "mod.py").write_text(MODULE)
    data = {"name": "s", "module": "mod", "conversations": [{"id": "c", "turns": list(turns)}], **more}
    (tmp_path / "s.json").write_text(json.dumps([data]))
    suite = suite_of(tmp_path)
    return suite, select_cases(suite, Selection(), setting("cave"))[0]


def one_cell(code: str) -> Script:
    return lambda turn, step, messages: cell(code) if step == 0 else "All done."


starter = suite_of(STARTER)
cave_cases = select_cases(starter, Selection(), setting("cave"))
first_cases = {case.category: case for case in reversed(cave_cases)}
"""By category: the one that `make test` plays in cave mode; `make test-all` plays all."""
json_cases = select_cases(starter, Selection(), setting("json"))


@cave_mode
@pytest.mark.skipif(not HAS_PANDAS, reason="pandas is not installed")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.id, marks=() if first_cases[case.category] == case else pytest.mark.slow)
        for case in cave_cases
    ],
)
async def test_starter_passes_in_cave_mode(case: Case) -> None:
    stage = MemoryStage()
    output = await starter.play(case, stage, setting("cave"))
    verdict = starter.score(case, output, setting("cave"))
    assert verdict.outcome is Outcome.PASSED, verdict.messages
    assert [kind for kind, *_ in stage.notes].count("turn") == len(case.data["conversation"]["turns"])


@pytest.mark.parametrize("case", json_cases, ids=lambda case: case.id)
async def test_starter_passes_in_json_mode(case: Case) -> None:
    output = await starter.play(case, MemoryStage(), setting("json"))
    verdict = starter.score(case, output, setting("json"))
    assert verdict.outcome is Outcome.PASSED, verdict.messages


def test_starter_is_large_enough() -> None:
    turns = sum(len(case.data["conversation"]["turns"]) for case in cave_cases)
    assert turns >= 40
    assert len(starter.categories()) >= 6
    assert {category.group for category in starter.categories()} == {"data_analysis", "function_calling", "smart_home"}
    assert {case.category for case in json_cases} == {"ferry_office", "kitchen", "library_desk"}


@cave_mode
async def test_what_a_turn_leaves_behind(tmp_path: Path) -> None:
    turn = {
        "query": "add",
        "expected_function_calls": [
            {"name": "add", "arguments": [{"name": "a", "value": 2}, {"name": "b", "value": 1}]}
        ],
        "expected_variable_reads": ["box"],
        "expected_variable_writes": ["out"],
        "validator": "calls",
    }
    suite, case = scenario(tmp_path, turn)
    stage = MemoryStage(one_cell("out = add(2)\nprint(box, out)"))
    output = await suite.play(case, stage, setting("cave"))
    played = output["turns"][0]
    assert played["calls"] == [{"function": "add", "arguments": {"a": 2, "b": 1}, "call_id": "1"}]
    assert played["snippets"] == ["out = add(2)\nprint(box, out)"]
    assert (played["steps"], played["tokens"], played["response"]) == (2, [20, 10, 30], "All done.")
    _, _, shown = next(note for note in stage.notes if note[0] == "cell")
    assert (shown["output"], shown["reads"], shown["writes"]) == ("{} 3\n", ["add", "box", "out", "print"], ["out"])
    assert "<execution_output>\n{} 3" in str(stage.asked[1][-1]["content"])
    assert suite.score(case, output, setting("cave")).outcome is Outcome.PASSED
    assert stage.notes[0][0] == "sandbox"
    assert "sandbox:" in stage.notes[0][2]["text"]


@cave_mode
async def test_prompt_holds_scenario_texts_and_tools(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "hello"}, description="Braces {{a}}.", requirements="Be kind.")
    stage = MemoryStage(lambda turn, step, messages: "Hi.")
    await suite.play(case, stage, setting("cave"))
    prompt = str(stage.asked[0][0]["content"])
    for part in ("Braces {a}.", "Be kind.", "add(a: int, b: int = 1)", "- name: box"):
        assert part in prompt


@cave_mode
async def test_hook_validator_and_state_over_turns(tmp_path: Path) -> None:
    suite, case = scenario(
        tmp_path,
        {"query": "first"},
        {"query": "second", "pre_turn_hook": "rephrase", "validator": "box"},
        {"query": "third", "validator": "explode"},
        {"query": "fourth", "validator": "none"},
        {"query": "fifth", "validator": "box"},
    )
    codes = ["kept = 41", "print(kept + 1)", "1", "1", "box['x'] = 2"]
    stage = MemoryStage(lambda turn, step, messages: cell(codes[turn]) if step == 0 else "ok")
    output = await suite.play(case, stage, setting("cave"))
    verdict = suite.score(case, output, setting("cave"))
    assert output["turns"][1]["query"] == "hooked second"
    assert "42" in str(stage.asked[3][-1]["content"])
    assert [turn["success"] for turn in verdict.detail["turns"]] == [True, True, False, False, False]
    assert verdict.reason == "validator_error"
    assert "RuntimeError: validator bug" in verdict.messages[0]
    assert "AttributeError" in verdict.messages[1]
    assert verdict.messages[2] == "turn 5: Custom validator failed: box is {'x': 2}"


@cave_mode
@pytest.mark.parametrize("calls", [1, 2, 5, *(pytest.param(calls, marks=pytest.mark.slow) for calls in (3, 4))])
async def test_resume_rebuilds_the_runtime(tmp_path: Path, calls: int) -> None:
    """Cut off before any call, a second play asks only what is new, and ends as if nothing had happened."""
    turns = [{"query": f"turn {n}", "validator": "calls"} for n in range(3)]
    suite, case = scenario(tmp_path, *turns)

    def script(turn: int, step: int, messages: list[Message]) -> str:
        return (
            cell("import random\nn = locals().get('n', 0) + 1\nprint(remember(f'{n}'), random.random())")
            if step == 0
            else "ok"
        )

    whole = MemoryStage(script)
    complete = await suite.play(case, whole, setting("cave"))
    first = MemoryStage(script, calls=calls)
    with pytest.raises(Interrupted):
        await suite.play(case, first, setting("cave"))
    second = MemoryStage(script, journal=first.journal)
    resumed = await suite.play(case, second, setting("cave"))
    assert len(first.asked) + len(second.asked) == len(whole.asked) == 6
    assert resumed["turns"][-1]["calls"] == complete["turns"][-1]["calls"]
    assert second.known == []
    assert "['1', '2', '3']" in str(second.asked[-1][-1]["content"]) or calls == 6


async def test_resume_in_json_mode_makes_known_calls_again(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, *({"query": f"turn {n}"} for n in range(3)))

    def script(turn: int, step: int, messages: list[Message]) -> Any:
        return [("remember", {"what": f"w{turn}"})] if step == 0 else "ok"

    first = MemoryStage(script, calls=3)
    with pytest.raises(Interrupted):
        await suite.play(case, first, setting("json"))
    second = MemoryStage(script, journal=first.journal)
    await suite.play(case, second, setting("json"))
    assert len(second.asked) == 3
    assert second.asked[-1][-1]["content"] == '["w0", "w1", "w2"]'


async def test_replay_of_a_finished_conversation_starts_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.benchmarks.cavebench.conversation import play

    suite, case = scenario(tmp_path, {"query": "add", "validator": "calls"})
    script: Script = lambda turn, step, messages: [("add", {"a": 1})] if step == 0 else "2"  # noqa: E731
    first = MemoryStage(script)
    output = await suite.play(case, first, setting("json"))

    def refuse(*args: Any, **options: Any) -> Any:
        raise AssertionError("a worker was started")

    monkeypatch.setattr(play.Worker, "start", refuse)
    assert await suite.play(case, MemoryStage(script, journal=first.journal), setting("json")) == output


@pytest.mark.parametrize("mode", [pytest.param("cave", marks=cave_mode), "json"])
async def test_a_providers_fault_is_no_answer(tmp_path: Path, mode: str) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})

    def script(turn: int, step: int, messages: list[Message]) -> str:
        raise Fault(FaultKind.AUTH, "bad key")

    with pytest.raises(Fault, match="bad key"):
        await suite.play(case, MemoryStage(script), setting(mode))


@cave_mode
async def test_endless_cell_is_stopped_and_the_conversation_goes_on(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x"}, {"query": "y", "validator": "calls"})
    codes = ["while True: pass", "add(1)"]
    stage = MemoryStage(lambda turn, step, messages: cell(codes[turn]) if step == 0 else "ok")
    output = await suite.play(case, stage, setting("cave", cell_seconds=0.2))
    assert "stopped after 0.2 s" in str(stage.asked[1][-1]["content"])
    assert suite.score(case, output, setting("cave")).outcome is Outcome.PASSED


@cave_mode
async def test_code_that_ends_its_worker_fails_this_and_later_turns(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "w"}, {"query": "x"}, {"query": "y"})
    codes = ["add(1)", "import os\nos._exit(3)", "add(1)"]
    stage = MemoryStage(lambda turn, step, messages: cell(codes[turn]) if step == 0 else "ok")
    output = await suite.play(case, stage, setting("cave"))
    verdict = suite.score(case, output, setting("cave"))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "sandbox_died")
    assert [turn["success"] for turn in verdict.detail["turns"]] == [True, False, False]
    assert "exited with code 3" in verdict.messages[0]
    assert verdict.messages[1].startswith("turn 3: Not played")


@cave_mode
async def test_code_that_kills_its_own_worker_is_not_forgiven_and_asked_for_once(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "w"}, {"query": "x"})
    codes = ["add(1)", "import os\nos.kill(os.getpid(), 9)"]
    stage = MemoryStage(lambda turn, step, messages: cell(codes[turn]) if step == 0 else "ok")
    output = await suite.play(case, stage, setting("cave"))
    verdict = suite.score(case, output, setting("cave"))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "sandbox_died")
    assert [turn["success"] for turn in verdict.detail["turns"]] == [True, False]
    assert len(stage.asked) == 3


FORGERIES = {
    "an answer of its own": "{'result': {'calls': 'x'}}",
    "a question without messages": "{'ask': 'model', 'data': {}}",
    "a question with a made-up role": "{'ask': 'model', 'data': {'messages': [{'role': 'tool', 'content': ''}]}}",
    "a question nobody knows": "{'ask': 'shell', 'data': 'id'}",
    "a cell of numbers": "{'ask': 'cell', 'data': {'code': 1, 'output': 2, 'length': 3}}",
}


@cave_mode
@pytest.mark.parametrize("frame", FORGERIES.values(), ids=FORGERIES)
async def test_forged_frames_fail_the_turn_and_nothing_else(tmp_path: Path, frame: str) -> None:
    suite, case = scenario(tmp_path, {"query": "x"}, {"query": "y"})
    code = f"""
import json, os
data = json.dumps({frame}).encode()
for number in range(3, 30):
    try:
        os.write(number, len(data).to_bytes(4, "big") + data)
    except OSError:
        pass
"""
    stage = MemoryStage(one_cell(code))
    output = await suite.play(case, stage, setting("cave"))
    verdict = suite.score(case, output, setting("cave"))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "sandbox_protocol")
    assert len(stage.asked) == 1


@cave_mode
async def test_cells_see_no_key_no_file_and_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-5")
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "models.toml").write_text("api_key = 'canary-key-5'")
    suite, case = scenario(folder, {"query": "x"})
    code = f"""
import os, socket
print(dict(os.environ))
for attempt in (lambda: open({str(tmp_path / "models.toml")!r}).read(), lambda: os.listdir({str(tmp_path)!r}),
                lambda: socket.create_connection(("127.0.0.1", 1)), lambda: os.system("true") == 0 and 1 / 0):
    try:
        print("did", attempt())
    except OSError as error:
        print("refused")
"""
    stage = MemoryStage(one_cell(code))
    await suite.play(case, stage, setting("cave"))
    shown = next(data for kind, _, data in stage.notes if kind == "cell")["output"]
    assert "canary" not in shown
    assert shown.count("refused") == 3
    assert "did False" in shown


@cave_mode
async def test_sixteen_conversations_do_not_see_each_other(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x"}, {"query": "y"})

    async def hold(number: int) -> str:
        codes = [f"mine = {number}\nbox['n'] = {number}\nremember('{number}')", "print(mine, box, remember('end'))"]
        stage = MemoryStage(lambda turn, step, messages: cell(codes[turn]) if step == 0 else "ok")
        await suite.play(case, stage, setting("cave"))
        return [data for kind, _, data in stage.notes if kind == "cell"][1]["output"]

    outputs = await asyncio.gather(*(hold(number) for number in range(16)))
    assert outputs == [f"{n} {{'n': {n}}} ['{n}', 'end']\n" for n in range(16)]


@cave_mode
async def test_steps_are_limited(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})
    stage = MemoryStage(lambda turn, step, messages: cell("add(1)"))
    output = await suite.play(case, stage, setting("cave", max_steps=3))
    assert len(stage.asked) == 3
    assert output["turns"][0]["status"] == "max_steps_reached"


@cave_mode
async def test_too_long_output_is_replaced_by_a_notice(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})
    stage = MemoryStage(one_cell("print('x' * 300_000)"))
    await suite.play(case, stage, setting("cave"))
    assert "300001" in str(stage.asked[1][-1]["content"])
    assert len(str(stage.asked[1][-1]["content"])) < 1000


async def test_native_calls_and_their_errors(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x", "validator": "calls"})
    calls = [
        ("add", {"a": 4}),
        ("absent", {}),
        ("add", {"a": -1}),
        ("add", {"z": 1}),
        ("add", "{not json"),
        ("add", "[1]"),
    ]
    stage = MemoryStage(lambda turn, step, messages: calls if step == 0 else "done")
    output = await suite.play(case, stage, setting("json"))
    answers = [str(message["content"]) for message in stage.asked[1] if message["role"] == "tool"]
    assert answers[0] == "5"
    assert answers[2] == "Error: negative"
    assert all(answer.startswith("Error: ") for answer in answers[1:])
    assert [call["arguments"] for call in output["turns"][0]["calls"]] == [{"a": 4}, {}, {"a": -1}, {"z": 1}, {}, [1]]
    assert output["turns"][0]["steps"] == 2
    assert stage.params[0] == {"tool_choice": "auto", "parallel_tool_calls": True}
    assert [tool["function"]["name"] for tool in stage.tools[0]] == ["add", "remember"]
    assert suite.score(case, output, setting("json")).outcome is Outcome.PASSED


async def test_json_mode_stops_at_its_limit_and_judges_what_was_called(tmp_path: Path) -> None:
    expected = [{"name": "add", "arguments": [{"name": "a", "value": 1}]}]
    suite, case = scenario(tmp_path, {"query": "x", "expected_function_calls": expected})
    stage = MemoryStage(lambda turn, step, messages: [("add", {"a": 1})])
    output = await suite.play(case, stage, setting("json"))
    assert len(stage.asked) == 20
    assert "maximum number of steps" in output["turns"][0]["response"]
    assert suite.score(case, output, setting("json")).outcome is Outcome.PASSED


@pytest.mark.parametrize("mode", [pytest.param("cave", marks=cave_mode), "json"])
async def test_a_module_that_does_not_import_is_a_data_fault_before_any_call(tmp_path: Path, mode: str) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})
    (tmp_path / "mod.py").write_text("raise RuntimeError('no data')")
    stage = MemoryStage()
    with pytest.raises(Fault, match="RuntimeError: no data") as caught:
        await suite.play(case, stage, setting(mode))
    assert caught.value.kind is FaultKind.DATA
    assert stage.asked == []


async def test_a_name_missing_in_a_module_made_at_run_time(tmp_path: Path) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})
    turns = [{"query": "x", "validator": "nowhere"}]
    case = Case(case.id, case.category, case.data | {"conversation": {"id": "c", "turns": turns}})
    stage = MemoryStage()
    with pytest.raises(Fault, match="nowhere"):
        await suite.play(case, stage, setting("json"))
    assert stage.asked == []


@pytest.mark.parametrize(
    "output", [None, 3, [], {}, {"turns": 3}, {"turns": [None]}, {"turns": [{}]}, {"turns": [{"calls": "x"}]}]
)
def test_any_output_gets_a_verdict(tmp_path: Path, output: Any) -> None:
    suite, case = scenario(tmp_path, {"query": "x", "expected_function_calls": [{"name": "add"}]})
    verdict = suite.score(case, output, setting("json"))
    assert verdict.outcome is Outcome.FAILED
    suite.compare(case, output, verdict, setting("json"))


def test_comparison_shows_the_match_argument_by_argument(tmp_path: Path) -> None:
    expected = [
        {"name": "add", "arguments": [{"name": "a", "value": 1, "type": "int"}, {"name": "b", "required": False}]},
        {"name": "remember"},
    ]
    suite, case = scenario(
        tmp_path, {"query": "x", "expected_function_calls": expected, "expected_variable_reads": ["box"]}
    )
    calls = [
        {"function": "add", "arguments": {"a": "2", "c": 3}, "call_id": "1"},
        {"function": "other", "arguments": {}, "call_id": "2"},
    ]
    output = {"turns": [{"query": "x", "calls": calls, "snippets": [], "validator": None}]}
    verdict = suite.score(case, output, setting("json"))
    comparison = suite.compare(case, output, verdict, setting("json"))
    assert verdict.reason == "wrong_argument_value"
    assert comparison.sentence == "an argument has the wrong value: a"
    first, missing, extra, variable = comparison.pairs
    assert [(row.mark.value, row.name) for row in first.rows] == [("≠", "a"), ("·", "b"), ("+", "c")]
    assert (first.mark.value, missing.mark.value, extra.mark.value, variable.mark.value) == ("≠", "−", "+", "−")
    assert extra.actual == "other()"


@pytest.mark.parametrize(("played", "failed"), [(["add", ""], "turn 2"), (["", ""], "turns 1 2")])
def test_the_hint_names_the_failed_turns(tmp_path: Path, played: list[str], failed: str) -> None:
    turn = {"query": "x", "expected_function_calls": [{"name": "add"}]}
    suite, case = scenario(tmp_path, turn, turn)
    output = {"turns": [{"calls": [{"function": name, "arguments": {}}] if name else []} for name in played]}
    comparison = suite.compare(case, output, suite.score(case, output, setting("json")), setting("json"))
    assert comparison.hint == f"when no turn fails; failed: {failed}"


def test_report_sums_turns_and_names_both_counts_of_missing_calls(tmp_path: Path) -> None:
    expected = [{"name": "add", "arguments": [{"name": "a", "value": n}]} for n in (1, 2)]
    suite, case = scenario(tmp_path, {"query": "x", "expected_function_calls": expected}, {"query": "y"})
    turns = [{"calls": [{"function": "add", "arguments": {"a": 1}}], "steps": 2}, {"steps": 1}]
    verdict = suite.score(case, {"turns": turns}, setting("json"))
    report = suite.report([Result(case.id, case.category, 0, verdict)], setting("json"))
    values = {metric.name: metric.value for metric in report.metrics}
    assert report.metrics[0].name == "success rate"
    assert values["success rate"] == 0.5
    assert values["conversations passed"] == 0
    assert (values["missing calls"], values["missing calls (true)"]) == (0, 1)
    assert values["steps per turn"] == 1.5
    assert list(report.categories) == ["s"]


@pytest.mark.parametrize("mode", [pytest.param("cave", marks=[cave_mode, pytest.mark.slow]), "json"])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("open('/etc/shadow')", FaultKind.SANDBOX),
        ("import socket\nsocket.socket()", FaultKind.SANDBOX),
        ("x = bytearray(8 << 30)", FaultKind.SANDBOX),
        ("held = [open('mod.py') for _ in range(100_000)]", FaultKind.SANDBOX),
        ("import errno\nraise OSError(errno.ENFILE, 'no more')", FaultKind.SANDBOX),
        ("import os\nos._exit(3)", FaultKind.SANDBOX),
        ("open('absent.csv')", FaultKind.DATA),
        ("raise SystemExit(1)", FaultKind.DATA),
        ("import absent_module", FaultKind.DATA),
        ("def (", FaultKind.DATA),
        ("tools = [1 / 0]", FaultKind.DATA),
    ],
)
async def test_whose_fault_it_is_that_a_module_does_not_import(
    tmp_path: Path, mode: str, body: str, kind: FaultKind
) -> None:
    suite, case = scenario(tmp_path, {"query": "x"})
    (tmp_path / "mod.py").write_text(body)
    with pytest.raises(Fault) as caught:
        await suite.play(case, MemoryStage(), setting(mode))
    assert caught.value.kind is kind, caught.value.message


@cave_mode
async def test_an_agent_that_does_not_run_before_any_reply_is_the_sandboxs_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.benchmarks.cavebench.conversation import play

    async def call(*arguments: Any, **options: Any) -> Any:
        raise play.WorkerError("PermissionError", "Operation not permitted")

    suite, case = scenario(tmp_path, {"query": "x"})
    monkeypatch.setattr(play.Worker, "call", call)
    with pytest.raises(Fault, match="Operation not permitted") as caught:
        await suite.play(case, MemoryStage(), setting("cave"))
    assert caught.value.kind is FaultKind.SANDBOX
