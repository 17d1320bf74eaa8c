"""Prompts of local models: what is sent, character by character, and how recorded entries are stepped through."""

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.own_texts import OwnTexts

from console.benchmarks.bfcl.models.decode.length import LONGEST
from console.benchmarks.bfcl.models.templates.granite import read_granite, read_phi
from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts
from console.benchmarks.bfcl.models.templates.table import TEMPLATES
from console.benchmarks.bfcl.models.templates.tagged_calls import read_calls, read_thinking_calls
from console.benchmarks.bfcl.models.templates.template import PromptInput, TemplateError, Turn
from console.benchmarks.bfcl.request_check import CompletionExchange, RequestChecker
from console.core.fault import UsageError

CHECKOUT = Path(__file__).resolve().parents[3]
CASES = CHECKOUT / ".." / "shared" / "conformance" / "bfcl" / "templates-public.jsonl.gz"
DATA = CHECKOUT / "data" / "bfcl"
needs_cases = pytest.mark.skipif(not (CASES.is_file() and DATA.is_dir()), reason="no recorded prompts, or no data")

QUESTION: Turn = {"role": "user", "content": " How warm is it? "}
TOOL = {"name": "weather.now", "description": "Tells.", "parameters": {"type": "dict", "properties": {}}}


def prompt(name: str, *messages: Turn, docs: bool = False) -> str:
    given = PromptInput(messages or [QUESTION], [TOOL] if docs else [], OwnTexts())
    return "".join(TEMPLATES[name].render(given))


def recorded() -> list[dict[str, Any]]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@needs_cases
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["each tenth", "all"])
def test_prompts_are_the_official_ones(every: int):
    rows = [row for row in recorded() if template_of(row["model"]) in TEMPLATES]
    assert len(rows) > 800
    conversations = sorted({(row["model"], row["id"]) for row in rows})
    tried = set(conversations[::every])
    rows = [row for row in rows if (row["model"], row["id"]) in tried]
    with RequestChecker(DATA, CompletionExchange()) as checker:
        answers = checker.check(rows)
    different = [
        (row["model"], row["id"], row["step"])
        for row, answer in zip(rows, answers, strict=True)
        if isinstance(answer, UsageError)
        or (answer["sha256"], answer["chars"], answer["request"]) != (row["sha256"], row["chars"], row["request"])
    ]
    assert different == []


def template_of(model: str) -> str:
    from console.benchmarks.bfcl.models.profile import find_profile

    return find_profile(model).template


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_shows_the_question_and_the_tool(name: str):
    text = prompt(name, docs=True)
    assert "How warm is it?" in text
    described = "weather.now" in text or "weather_now" in text
    assert described or TEMPLATES[name].described_in_prompt


def test_results_in_a_row_share_one_block():
    calls = [{"name": "a", "arguments": {}}, {"name": "a", "arguments": {}}]
    answer: Turn = {"role": "assistant", "content": "", "calls": calls, "reasoning": ""}
    results: list[Turn] = [{"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}]
    text = prompt("qwen3_fc", QUESTION, answer, *results)
    assert text.count("<|im_start|>user") == 2
    assert "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>" in text
    # Officially no newline stands between calls that equal the first one.
    assert text.count('{"name": "a", "arguments": {}}\n</tool_call><tool_call>') == 1


def test_functiongemma_sorts_and_escapes():
    properties = {
        "where": {"type": "string", "description": "W", "enum": ["b", "a"]},
        "type": {"type": "string", "description": "dropped"},
        "days": {"type": "array", "items": {"type": "integer", "minimum": None}},
    }
    doc = {
        "name": "f",
        "description": "D",
        "parameters": {"type": "dict", "properties": properties, "required": ["where"]},
    }
    results: list[Turn] = [
        {"role": "tool", "name": "f()", "content": '{"b": [true, null, 1.5], "a": {"x": "y"}}'},
        {"role": "tool", "name": "f()", "content": "[1]"},
    ]
    messages: list[Turn] = [{"role": "system", "content": " S "}, QUESTION, {"role": "assistant", "content": " A "}]
    given = PromptInput([*messages, *results], [doc], OwnTexts())
    assert "".join(TEMPLATES["functiongemma"].render(given)) == (
        "<start_of_turn>developer\nS\n<start_function_declaration>declaration:f{description:<escape>D<escape>,"
        "properties:{days:{description:<escape><escape>,items:{type:<escape>INTEGER<escape>},type:<escape>ARRAY<escape>},"
        "where:{description:<escape>W<escape>,enum:[<escape>b<escape>,<escape>a<escape>],type:<escape>STRING<escape>}},"
        "required:[<escape>where<escape>],type:<escape>DICT<escape>}<end_function_declaration><end_of_turn>\n"
        "<start_of_turn>user\nHow warm is it?<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
        "<start_function_response>response:f(){a:{x:<escape>y<escape>},b:[true,null,1.5]}<end_function_response>"
        "<start_function_response>response:f(){value:<escape>[1]<escape>}<end_function_response>"
        "<start_of_turn>model\n"
    )


def test_hammer_changes_its_documents_at_every_prompt():
    doc = {
        "name": "f",
        "description": "",
        "parameters": {"properties": {"x": {"type": "integer", "description": "", "default": 3}}},
    }
    texts = OwnTexts()
    later = PromptInput([QUESTION], [doc], texts, asked_before=2)
    assert "".join(TEMPLATES["hammer"].render(later)).count("default is '3'") == 3
    assert doc["parameters"]["properties"]["x"]["description"] == ""


def test_a_call_that_cannot_be_shown_again_is_an_error():
    answer = read_thinking_calls('<tool_call>\n["no call"]\n</tool_call>').message
    with pytest.raises(TemplateError):
        prompt("qwen3_fc", QUESTION, answer)


def test_thoughts_are_cut_out_but_their_tags_count():
    completion = read_thinking_calls(
        '<think>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n</think>\n\nno'
    )
    assert completion.output == "no"
    assert completion.message["calls"] == [{"name": "f", "arguments": {}}]


def test_unparsable_tags_are_dropped():
    assert "calls" not in read_calls("<tool_call>\n{\n</tool_call>").message


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('<|tool_call|>[{"name": "f", "arguments": {}}]<|/tool_call|>', [{"f": {}}]),
        ('<|tool_call|>{"name": "f", "arguments": {}}', [{"f": {}}]),
        ('<|tool_call|>[{"name": "f", "arguments": {}, "id": 1}]', None),
        ("plain", None),
        ("<|tool_call|>[]", None),
    ],
)
def test_a_list_behind_a_mark_is_calls_only_when_every_item_is_one(text: str, output: Any):
    assert read_phi(text).output == (text if output is None else output)
    assert read_granite(text.removesuffix("<|/tool_call|>")).output == (
        text.removesuffix("<|/tool_call|>") if output is None else output
    )


def test_a_text_item_is_read_as_a_literal_and_never_run():
    assert read_phi("<|tool_call|>[\"{'name': 'f', 'arguments': {}}\"]").output == [{"f": {}}]
    with pytest.raises(TemplateError):
        read_phi("<|tool_call|>[\"__import__('os').abort()\"]")


@pytest.mark.parametrize(
    "text",
    [
        '<|tool_call|>["[' + "1," * 150_000 + ']"]',
        "<tool_call>\n[" + "1," * 150_000 + "]\n</tool_call>",
        "<tool_call>\n" * 40_000,
        '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n' * 8_000,
        "[" + '{"name": "f", "arguments": {}},' * 10_000 + '{"name": "f", "arguments": {}}]',
        "<|tool_call|>[" + "1" * 5_000 + "]",
        "[" + "1" * 5_000 + "]",
    ],
    ids=["literal", "tagged literal", "marks", "blocks", "list", "digits behind a mark", "digits"],
)
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_completion_that_is_too_long_is_no_calls(monkeypatch: pytest.MonkeyPatch, name: str, text: str):
    """Python's own parser takes 600 bytes for a character, so it never sees one; what it is kept as is not decoded."""
    parse = ast.literal_eval

    def bounded(literal: str) -> Any:
        assert len(literal) <= LONGEST
        return parse(literal)

    monkeypatch.setattr(ast, "literal_eval", bounded)
    try:
        completion = TEMPLATES[name].read(text)
    except TemplateError:
        return
    assert isinstance(completion.output, str)
    assert "calls" not in completion.message


def test_a_long_thought_leaves_its_answer_readable():
    thought = "<think>\n" + "hm " * 100_000 + "</think>\n\n"
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert read_thinking_calls(thought + call).message["calls"] == [{"name": "f", "arguments": {}}]


def test_without_the_release_the_hint_says_what_to_do(tmp_path: Path):
    with pytest.raises(UsageError, match="pull") as error:
        ReleaseTexts(tmp_path).of("arch", "ArchHandler._format_prompt")
    assert "arch.py" in str(error.value)


@needs_cases
def test_steps_that_do_not_follow_are_errors_of_their_line():
    rows = [row for row in recorded() if row["category"].startswith("multi_turn") and row["step"] == 1][:1]
    with RequestChecker(DATA, CompletionExchange()) as checker:
        (answer,) = checker.check(rows)
    assert isinstance(answer, UsageError)
    assert "does not follow" in answer.message
