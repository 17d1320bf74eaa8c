"""What a model wrote is read in time that grows with its length, not with its square, and only up to a length.

Work is counted where it can be; elsewhere the processor time of one text is held against that of one eight times as
long, with a margin: a square would make 64 of it.
"""

import ast
import re
import sys
import time
from collections.abc import Callable
from itertools import product
from random import Random
from types import FrameType
from typing import Any

import pytest
from support.fuzz_budget import BUDGET

from console.benchmarks.aidanbench.rules.reply_tags import answer_of, format_reward, strict_coherence
from console.benchmarks.bfcl.models.decode import length, syntax
from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.decode.python import parse_expression
from console.benchmarks.bfcl.models.decode.reply import FAILED, decode_reply, executable_calls
from console.benchmarks.cavebench.rules import access
from console.core.xml_tags import tag_contents
from console.llm.simulated.judge import grade
from console.suites.call_matching.java_values import java_value
from console.suites.call_matching.javascript_values import javascript_value

JSON_FORM = "ret_fmt=json&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"
XML_FORM = "ret_fmt=verbose_xml&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"
PYTHON = [
    *"[](){},=.:'\" \n-+*%\\01aX_#",
    "f(",
    "a=",
    "f(a=1),",
    "**",
    "not ",
    "lambda ",
    "if ",
    "f'",
    "{x}",
    "0x",
    "'''",
]
SOURCE = [*"[](){},=.:;'\" \n-+*/<>\\1a", "new ", "ArrayList<", "Arrays.asList(", "HashMap<", "f(", "{{", 'put("', "=>"]
SOURCE += ["add(", "`", "${", "class ", "/*", "//", "() ->"]
TAGS = ["<answer>", "</answer>", "<", "a", " "]
JSON = [*'[]{}:," \n1a', "[{", "}]"]
XML = [*"<>/='\" &;a", "<functions>", "</functions>", '<function name="f">', "</function>", "<TOOLCALL>", "</TOOLCALL>"]
READERS: dict[str, tuple[Callable[[str], Any], list[str]]] = {
    "answer": (answer_of, TAGS),
    "format": (lambda text: format_reward([text]), TAGS),
    "judge": (lambda text: grade(f"<coherence_score> {text}", Random(1)), TAGS),
    "number": (strict_coherence, [*"0123456789.e+-_ ", "inf", "nan"]),
    "python": (lambda text: decode_reply(f"[{text}]", "simple_python"), PYTHON),
    "steps": (lambda text: executable_calls(f"[{text}]", "prompt"), PYTHON),
    "native": (lambda text: decode_reply([{"f": text}], "simple_python", "fc_json"), JSON),
    "json": (lambda text: decode_reply(text, "simple_python", "prompt", config=JSON_FORM), JSON),
    "xml": (lambda text: decode_reply(text, "simple_python", "prompt", config=XML_FORM), XML),
    "names": (access.access_of, PYTHON),
}
SHORT = 2_500
"""Characters of the shorter text; a text of eight times as many is below every limit."""
LEAST_S = 0.05
"""What takes less is not slow, whatever it grows with."""


def seconds(reader: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    reader(text)
    return time.process_time() - start


def texts(parts: list[str], seed: str) -> list[tuple[str, str, str]]:
    """Return beginnings, repeated units and ends, made of the parts that mean something to a reader."""
    rng = Random(seed)
    units = [*parts, *("".join(rng.choices(parts, k=rng.randint(2, 5))) for _ in range(12 * BUDGET))]
    return [
        ("".join(rng.choices(parts, k=rng.randint(0, 3))), unit, "".join(rng.choices(parts, k=1))) for unit in units
    ]


MARKS = [
    "<tool_call>",
    "</tool_call>",
    "<function=",
    "<|tool_call|>",
    "<|/tool_call|>",
    "<escape>",
    "<co_call>",
    "[",
    "]",
]
MARKS += [
    "<start_function_call>",
    "call:",
    "{",
    "}",
    '"name": ',
    '"arguments": ',
    "```",
    "Action: ",
    "TOOL_CALL: ",
    "\n",
    ",",
]
for family in FAMILIES:
    READERS[family] = (lambda text, family=family: decode_reply(text, "simple_python", family), [*MARKS, *JSON])
    READERS[f"{family} steps"] = (lambda text, family=family: executable_calls(text, family), [*MARKS, *PYTHON])


@pytest.mark.parametrize("name", READERS)
def test_time_grows_with_the_length(name: str) -> None:
    reader, parts = READERS[name]
    for begin, unit, end in texts(parts, name):
        short, long = (begin + unit * (size // len(unit)) + end for size in (SHORT, 8 * SHORT))
        if seconds(reader, long) < LEAST_S:
            continue
        least = min(seconds(reader, long) for _ in range(3))
        assert least < 24 * max(min(seconds(reader, short) for _ in range(3)), LEAST_S / 24), (begin, unit, end)


@pytest.mark.parametrize(
    "source",
    ["[=" + "*-" * 9_000 + "() ->", "/*;;{{\n" * 2_700, "=>{+" * 4_900, "=\\() ->{{" * 2_000, "}}/*]x" * 3_000],
)
@pytest.mark.parametrize("language", ["java", "javascript"])
def test_recovering_from_errors_is_given_up(language: str, source: str) -> None:
    """The same texts took up to 40 s before the parser's work was counted."""
    assert seconds(lambda text: decode_reply(text, f"simple_{language}"), source) < 8
    assert decode_reply(source, f"simple_{language}").error_type == FAILED


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_sound_sources_take_a_small_part_of_the_work_that_is_allowed(language: str) -> None:
    for unit in ("f(a=1, b='x');", "f(a=g(1, h(2)));", 'f(a="(é)");', "a;"):
        source = unit * (19_000 // len(unit))
        work = syntax.Work(source.encode())
        before = work.reports_left, work.pieces_left
        parser = syntax.new_parser(language)
        parser.parse(work.read, progress_callback=work.report)
        assert before[0] - work.reports_left < before[0] / 2
        assert before[1] - work.pieces_left < before[1] / 2
        assert syntax.parse_source(language, source).end_byte == len(source.encode())


@pytest.mark.parametrize("parts", [TAGS, ["<a>", "</a>", "x"]])
def test_pairs_of_tags_are_those_of_the_pattern(parts: list[str]) -> None:
    tag = parts[0].strip("<>")
    pattern = re.compile(f"<{tag}>(.*?)</{tag}>", re.DOTALL)
    for chosen in product(parts[:3], repeat=7):
        text = "".join(chosen)
        assert list(tag_contents(text, tag)) == pattern.findall(text), text


def test_entries_of_a_javascript_object_are_those_of_the_official_pattern() -> None:
    pattern = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")
    rng = Random(12)
    for _ in range(3_000 * BUDGET):
        inner = "".join(rng.choices("ab::,,  \t1", k=rng.randint(0, 16)))
        expected = {key.strip().strip("'\""): value.strip() for key, value in pattern.findall(inner)}
        read = javascript_value(f"{{{inner}}}", "dict")
        assert {key: str(value) for key, value in read.items()} == {k: v.strip("'\"") for k, v in expected.items()}, (
            inner
        )


@pytest.mark.parametrize(
    ("convert", "kinds"), [(java_value, "Array ArrayList HashMap any"), (javascript_value, "array dict")]
)
def test_values_of_sources_grow_with_their_length(convert: Callable[[str, str], Any], kinds: str) -> None:
    for kind in kinds.split():
        for begin, unit, end in texts(SOURCE, kind):
            for opening in ("{", "[", ""):
                text = opening + begin + unit * (19_500 // len(unit)) + end
                assert seconds(lambda value, kind=kind: convert(value, kind), text) < 1, (
                    kind,
                    opening,
                    begin,
                    unit,
                    end,
                )


def test_a_reply_above_the_limit_is_undecodable() -> None:
    call = "f(a=1), "
    fits, too_long = (f"[{call * (size // len(call))}]" for size in (length.LONGEST - 10, length.LONGEST + 10))
    assert decode_reply(fits, "simple_python").error_type is None
    refused = decode_reply(too_long, "simple_python")
    assert (refused.error_type, refused.message) == (FAILED, "a reply of more than 200,000 characters is not decoded")
    assert executable_calls(too_long, "prompt") == []
    native = [{"f": '{"a": 1}'}] * (length.LONGEST // 8)
    assert decode_reply(native, "simple_python", "fc_json").error_type == FAILED
    assert executable_calls(native, "fc_json") == []
    source = "f(a=1);" * 3_000
    assert (
        decode_reply(source, "simple_java").message == "SyntaxError: java of more than 20,000 characters is not decoded"
    )


def test_trees_of_long_texts_are_not_kept() -> None:
    text = "[" + "f(a=1)," * 1_000 + "]"
    assert parse_expression(text) is not parse_expression(text)
    assert parse_expression("f(a=1)") is parse_expression("f(a=1)")


def test_long_code_touches_no_names() -> None:
    assert access.access_of("x = y\n" * 10) == access.Access(("y",), ("x",))
    assert access.access_of("x = y\n" * 50_000) == access.Access()


def test_calls_made_for_a_reply_grow_with_its_length() -> None:
    """Counted, not timed: Python and C functions that are called while a list of calls is decoded."""
    counts: list[int] = []
    for size in (1_000, 4_000):
        text = "[" + "f(a=g(x[1]), b=[1, -2], c='x'+'y')," * size + "]"
        parse_expression("1")
        calls = 0

        def count(_frame: FrameType, event: str, _arg: Any) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            decoded = decode_reply(text, "simple_python")
        finally:
            sys.setprofile(None)
        assert len(decoded.calls) == size
        counts.append(calls)
    assert counts[1] < 4.2 * counts[0]
    assert isinstance(parse_expression("1"), ast.Constant)
