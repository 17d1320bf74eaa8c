"""Each decode family: what it reads, what is executed of it, and that no answer makes it do more than refuse."""

import contextlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quick_rows import first_quick

from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.decode.prompted import Form
from console.benchmarks.bfcl.models.decode.reply import FAILED, WRONG_FORMAT, decode_reply, executable_calls
from console.benchmarks.bfcl.models.profile import profiles
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.core.outcome import Outcome
from console.suites.catalog import read_entry

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"

CALL: list[dict[str, Any]] = [{"f": {"a": 1}}]
NAMED = '{"name": "f", "arguments": {"a": 1}}'
REFUSED = object()


def _decoded(family: str, output: Any, syntax: str = "python") -> Any:
    decoded = decode_reply(output, f"simple_{syntax}", family)
    return REFUSED if decoded.error_type == FAILED else decoded.value


def test_the_table_names_these_families_and_no_other():
    assert {row.family for row in profiles().values()} == set(FAMILIES)


@pytest.mark.parametrize(
    ("family", "output", "calls", "executed"),
    [
        ("prompt", "```\n[f(a=1)]\n```", CALL, ["f(a=1)"]),
        ("prompt", "[f(a={'x': {'y': 1}})]", [{"f": {"a": {"x": {"y": 1}}}}], ["f(a=x(y=1))"]),
        ("prompt", "```python\n[f(a=1)]\n```", REFUSED, []),
        ("gemini_prompt", "```tool_code\n[f(a=1)]\n```", CALL, ["f(a=1)"]),
        ("gemini_prompt", None, REFUSED, []),
        ("phi_prompt", "```json\n[f(a=1)]\n```", CALL, ["f(a=1)"]),
        ("phi_prompt", " ```python\n[f(a=1)]\n```", CALL, []),  # before executing, the blank hides the fence
        ("fc_json", [{"f": '{"a": 1}', "g": '{"b": 2}'}], CALL, ["f(a=1)", "g(b=2)"]),
        ("fc_json", [{"f": {"a": 1}}], REFUSED, ["f(a=1)"]),
        ("fc_json", "", [], []),
        ("fc_json", ["a plain answer"], REFUSED, []),
        ("gemini_fc", [{"f": {"a": 1}}], CALL, ["f(a=1)"]),
        ("gemini_fc", {"f": {"a": 1}}, CALL, []),
        ("gemini_fc", "text", ["text"], []),
        ("dictlist", [{"f": {"a": 1}}, "text"], [*CALL, "text"], []),
        ("dictlist", {"f": {"a": 1}}, REFUSED, []),
        ("dictlist_strict", [{"f": '{"a": 1}'}], [{"f": '{"a": 1}'}], ["f(a=1)"]),
        ("dictlist_strict", [{"f": {}}, "text"], REFUSED, []),
        ("cohere", [{"tool_name": "f", "parameters": {"a": 1}, "id": 3}], CALL, ["f(a=1)"]),
        ("cohere", "text", [], []),
        ("cohere", [{"tool_name": ["f"], "parameters": {"a": 1}}], REFUSED, ["['f'](a=1)"]),
        ("bitagent", '{"name": ["f"], "arguments": {"a": 1}}', REFUSED, ["['f'](a=1)"]),
        ("llama31", "{'name': ['f'], 'parameters': {'a': 1}}", REFUSED, ["['f'](a=1)"]),
        ("mining", [{"name": "f", "arguments": {"a": 1}}], CALL, ["f(a=1)"]),
        ("mining", [{"f": "{}"}, 5], REFUSED, ["()"]),
        ("gorilla", "f(a=1), g()", [*CALL, {"g": {}}], []),
        ("nemotron", "Sure. <TOOLCALL>[f(a=1)]</TOOLCALL> [g()]", CALL, ["f(a=1)"]),
        ("nemotron", "<toolcall>[f(a=1)]</toolcall>", [], []),
        ("tool_call_tags", f"<tool_call>\n{NAMED}\n</tool_call><tool_call>\noops\n</tool_call>", CALL, ["f(a=1)"]),
        ("tool_call_tags", f"<tool_call>{NAMED}</tool_call>", [], []),
        ("tool_call_tags", "<tool_call>\n[]\n</tool_call>", REFUSED, []),
        ("falcon3", f"<tool_call>\n```json\n{NAMED}\n```", CALL, ["f(a=1)"]),
        ("falcon3", f"<tool_call>\n````\njson {NAMED}\n````", CALL, ["f(a=1)"]),
        ("falcon3", "<tool_call>````[]````</tool_call>", [], []),
        ("falcon3", NAMED, REFUSED, []),
        ("llama31", "<|python_tag|>{'name': 'f', 'parameters': {'a': 2 - 1}}", CALL, ["f(a=1)"]),
        ("llama31", '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}', [*CALL, {"g": {}}], None),
        ("llama31", '{"name": "f", "parameters": {"a": true}}', REFUSED, []),
        ("llama31", "[{'name': 'f', 'parameters': dict(a=1)}]", REFUSED, []),
        ("bitagent", f"[{NAMED}]", CALL, ["f(a=1)"]),
        ("bitagent", f"{NAMED}; {NAMED}", REFUSED, []),
        ("xlam", f"{NAMED}; {NAMED}", CALL * 2, ["f(a=1)", "f(a=1)"]),
        ("hammer", f"```[{NAMED}]```", CALL, ["f(a=1)"]),
        ("hammer", f'{{"tool_calls": {NAMED}}}', REFUSED, ["f(a=1)"]),
        ("hammer", "no JSON at all", [], []),
        ("granite20b", f"<function_call> {NAMED} <function_call> oops", [*CALL, "oops"], ["f(a=1)", "oops"]),
        ("granite20b", '<function_call> {"name": "no_function"}', ["No function is called"], ["No function is called"]),
        ("thinkagent", "<think>x</think>[{'name': 'f', 'arguments': {'a': 1}}]", CALL, []),
        ("thinkagent", f"[{NAMED}]", [], []),
        ("glm_local", 'f\n{"a": 1}\nand more', CALL, ["f(a=1)"]),
        ("glm_local", "a plain answer", ["a plain answer"], []),
        ("minicpm_fc", "<|tool_call_start|>\n```python\nx = f(a=1)\n```\n<|tool_call_end|>", CALL, ["f(a=1)"]),
        ("minicpm_fc", "<|tool_call_start|>f(a=1); 5<|tool_call_end|> Done.", "Done.", []),
        ("functiongemma", "<start_function_call>call:f{a:1}<end_function_call>", CALL, ["f(a=1)"]),
    ],
)  # fmt: skip
def test_what_is_read_and_what_is_executed(family: str, output: Any, calls: Any, executed: list[str] | None):
    if calls is not None:
        assert _decoded(family, output) == calls
    if executed is not None:
        assert executable_calls(output, family) == executed


def test_literals_of_a_family_are_read_as_python_evaluates_them():
    assert _decoded("llama31", "{'name': 'f', 'parameters': {'a': [*'xy'], **{'b': -1 if 1 < 2 else 0}}}") == [
        {"f": {"a": ["x", "y"], "b": -1}}
    ]


def test_a_notation_of_its_own_keeps_escaped_marks():
    output = "<start_function_call>call:f{a:[<escape>{,}<escape>],b:{c:null}}<end_function_call>"
    assert _decoded("functiongemma", output) == [{"f": {"a": ["{,}"], "b": {"c": None}}}]


@pytest.mark.parametrize("family", FAMILIES)
def test_only_prompted_families_look_at_the_language(family: str):
    text = {
        "nemotron": "<TOOLCALL>[f(a='x')]</TOOLCALL>",
        "gorilla": "f(a='x')",
    }.get(family, "[f(a='x')]")  # fmt: skip
    value = _decoded(family, text, "javascript")
    reads_javascript = family in ("prompt", "gemini_prompt", "phi_prompt", "gorilla", "nemotron")
    assert (value == [{"f": {"a": "x"}}]) == reads_javascript


def test_a_shape_that_is_no_call_is_another_error_than_a_failure():
    assert decode_reply("text", "simple_python", "gemini_fc").error_type == WRONG_FORMAT
    assert decode_reply("text", "simple_python", "fc_json").error_type == FAILED


MARKS = (
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        "'",
        ";",
        "\n",
        " ",
        "`",
        "```",
        "<tool_call>\n",
        "\n</tool_call>",
        "</think>",
    ),
    *(
        "</think>",
        "<escape>",
        "<start_function_call>",
        "<end_function_call>",
        "call:",
        "<function_call>",
        "<TOOLCALL>",
        "f(a=1)",
    ),
    *("</TOOLCALL>", "<|tool_call_start|>", "<|tool_call_end|>", "<|thought_start|>", "<|thought_end|>", "null", "1"),
    *('"name"', '"arguments"', '"parameters"', '"tool_calls"', "**", "*", "\\", "\0", "\ud800", "é", "1e999", "NaN"),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.sampled_from(MARKS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "arguments", "tool_name", "parameters", "f", ""]), inner, max_size=3),
    ),
    max_leaves=8,
)
answers = st.one_of(values, st.lists(st.sampled_from(MARKS), max_size=14).map("".join))


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=60, deadline=None)
@given(answers, st.sampled_from(["python", "java", "javascript"]))
def test_every_answer_has_a_verdict(family: str, output: Any, syntax: str):
    decoded = decode_reply(output, f"simple_{syntax}", family)
    assert decoded.error_type in (None, FAILED, WRONG_FORMAT)
    assert (decoded.error_type is None) <= all(len(call) == 1 for call in decoded.calls)
    executed = executable_calls(output, family)
    assert all(isinstance(text, str) for text in executed)
    assert executed != [""]


LARGE = 20_000
HOSTILE = (
    "<tool_call>\n" * LARGE,
    "<TOOLCALL>" * LARGE,
    "<start_function_call>" * LARGE,
    "<start_function_call>call:f" + "{a:[" * LARGE + "<end_function_call>",
    "<start_function_call>call:f{" + "<escape>" * (LARGE + 1) + "<end_function_call>",
    "<function_call>" * LARGE,
    "<function_call>{" * LARGE,
    "<|tool_call_start|>" * LARGE + "<|tool_call_end|>" * LARGE,
    "<|thought_start|>" * LARGE + "x" + "<|thought_end|>",
    "```" * LARGE,
    "[" * LARGE,
    '{"a":' * LARGE,
    "</think>" + "'" * LARGE,
    ";" * LARGE,
    "f(a=1)," * LARGE,
    "\n" * LARGE,
    "{'name': 'f', 'parameters': {'a': " + "9**" * 50 + "9}}",
    "{'name': 'f', 'parameters': {'a': " + "-" * LARGE + "9}}",
    "{'name': 'f', 'parameters': {'a': '%999999999d' % 1}}",
    "{'name': 'f', 'parameters': {'a': ['x' * 40000" + ", 'x' * 40000" * 300 + "]}}",
)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("family", first_quick(FAMILIES, 3))
def test_large_hostile_answers_are_read_in_linear_time(family: str):
    reader = FAMILIES[family]
    for text in HOSTILE:
        with contextlib.suppress(Exception, MemoryError):
            reader.decode(text, Form())
        try:
            calls = reader.executable(text)
        except (Exception, MemoryError):
            continue
        assert all(isinstance(call, str) for call in calls)


@pytest.mark.parametrize("levels", [90, 600, 5000])
def test_a_value_nested_without_end_is_judged_and_shown(levels: int):
    suite = BfclSuite(read_entry(STARTER))
    case = next(iter(suite.cases(("simple_python",), Setting())))
    name = case.data["function"][0]["name"]
    output = f"<start_function_call>call:{name}{{x:{'[' * levels}<end_function_call>"
    setting = Setting(extras={"family": "functiongemma"})
    verdict = suite.score(case, output, setting)
    assert verdict.outcome is Outcome.FAILED
    assert msgspec.json.encode(verdict)
    assert suite.compare(case, output, verdict, setting).sentence


def test_tags_that_were_asked_for_are_looked_for_by_families_that_know_of_them():
    tagged, bare = "<TOOLCALL>[f(a=1)]</TOOLCALL>", "[f(a=1)]"
    for family in ("prompt", "gemini_prompt", "phi_prompt", "gorilla"):
        decode = FAMILIES[family].decode
        assert decode(tagged, Form(tagged=True)) == CALL
        with pytest.raises(ValueError, match="TOOLCALL"):
            decode(bare, Form(tagged=True))
