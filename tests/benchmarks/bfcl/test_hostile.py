"""Hostile outputs: no model text is evaluated, imported or compiled to run, nothing hangs, nothing is raised."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from console.benchmarks.bfcl.models.decode.arithmetic import Refused, fold
from console.benchmarks.bfcl.models.decode.prompted import decode_json
from console.benchmarks.bfcl.models.decode.reply import decode_reply
from console.suites.call_matching.checker import UNCHECKABLE, CallRule, check_calls
from console.suites.call_matching.java_values import java_value
from console.suites.call_matching.javascript_values import javascript_value

WATCHED = """
import sys
from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.decode.reply import decode_reply, executable_calls
from console.benchmarks.bfcl.rules.verdict import has_call
decode_reply("[f(x=1)]", "simple_java"); decode_reply("[f(x=1)]", "simple_javascript"); decode_reply("[f(x=1)]", "x")
seen = []
watching = False
def hook(event, args):
    if watching and event in ("exec", "import", "open", "os.system", "subprocess.Popen", "socket.connect"):
        seen.append((event, str(args)[:80]))
sys.addaudithook(hook)
texts = [
    "[f(x=__import__('os').system('touch /tmp/x') + 1)]", "[f(x=open('/etc/passwd').read() + 'a')]",
    "[f(x=(lambda: 1)() + 1)]", "[f(x=eval('1+1') + 1)]", "[f(x=exec('import os') or 1)]", "[f(x=json.dumps([1])+'x')]",
    "[f(x=[c for c in ().__class__.__bases__][0] + 1)]", "[f(x=''.__class__.__mro__[1].__subclasses__() + [])]",
    "__import__('os').system('true')", "[__import__('os').system(x=1)]", "f(x=getattr(1, 'real') + 1)",
]
watching = True
for text in texts:
    for category in ("simple_python", "simple_java", "simple_javascript"):
        for family in FAMILIES:
            decode_reply(text, category, family)
            executable_calls(text, family)
    for config in ("ret_fmt=json&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic",
                   "ret_fmt=concise_xml&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"):
        decode_reply(text, "simple_python", "prompt", config)
    executable_calls(text, "prompt"); has_call(text, "prompt")
watching = False
print(seen)
"""


def test_no_model_text_is_executed_or_imported():
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, cwd=root, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "2**2**2**2**2**2",
        "'a' * 10**12",
        "[0] * 10**9 + [1]",
        "1 << 10**9",
        "'%1000000000d' % 5",
        "'%*d' % (1000000000, 5)",
        "pow(10, 10**9) + 1",
        "+".join(["1"] * 5000),
        "open('x') + 1",
        "x + 1",
        "f'{1:>999999999}' + 'a'",
        "(lambda: 1)() + 1",
        "[*range(40000), *range(40000)] + []",
        "[*('a'*40000), *('a'*40000)] + []",
        "['a'*10**6] * 10**6",
        "''.join(['a'*10**4] * 10**4) + ''",
        "('a'*40000).join(['']*40000) + ''",
        "sum([[0]]*40000, []) + []",
        "round(5, -10**9) + 0",
        "pow(10**4000, 10**4000, 10**4000+7) + 1",
        "['a'*40000 for x in range(40000)] + []",
        "[x for x in range(40000) for y in range(40000)] + []",
        "('a'*40000).replace('a', 'b'*40000) + ''",
        "f'{1:{10**6}}' + ''",
        "str(b'a', 'rot13') + ''",
        "max([10**9], key=bytes) + 1",
        "'a'.encode('rot13') + b''",
        "0x" + "f" * 5000 + " + 1",
        "'{0.__class__}'.format(1) + ''",
        "'{:99999999999}'.format(1) + ''",
        "f(**x) + 1",
    ],
)
def test_absurd_arithmetic_is_refused_at_once(text: str):
    decoded = decode_reply(f"f(x={text})", "simple_python")
    assert decoded.error_type == "ast_decoder:decoder_failed"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*3", 6),
        ("10**400", 10**400),
        ("'a' 'b' + 'c'", "abc"),
        ("'ab' * 2", "abab"),
        ("[1] + [2]", [1, 2]),
        ("len('abc') * 2", 6),
        ("-(3 + 4) + 1", -6),
        ("'x' % ()", "x"),
        ("'a'.upper() + 'b'", "Ab"),
        ("(1 if 0 else 5) + 1", 6),
        ("(1 < 2 < 3) + 1", 2),
        ("(0 or 7) + (1 and 2)", 9),
        ("round(2.567, 1) + 1", 3.6),
        ("sum([1, 2]) * 2", 6),
        ("pow(2, 5, 7) + 1", 5),
        ("{'a': 1} | {'b': 2}", {"a": 1, "b": 2}),
        ("[1, 2, 3][1:] + []", [2, 3]),
        ("f'{1}{\"x\"!r}' + 'b'", "1'x'b"),
        ("MAXIMUM_STEP_LIMIT * 1", 20),
        ("{1, 2} & {2}", {2}),
        ("json.dumps([1]) + 'x'", "[1]x"),
        ("list(map(str, [1]))[0] + ''", "1"),
        ("sum(x for x in [1, 2] if x > 1) + 0", 2),
        ("(x := 5) + x", 10),
        ("'abc'.replace('b', 'x') + ''", "axc"),
        ("[y * 2 for x in [[1], [2]] for y in x] + []", [2, 4]),
        ("isinstance('a', str) + 1", 2),
        ("'2023-10-01' % ()", "2023-10-01"),
        ("'{}-{a}'.format(1, a='b') + ''", "1-b"),
        ("'a'.encode().decode() + ''", "a"),
        ("f'{2.5:.2f}' + ''", "2.50"),
    ],
)
def test_ordinary_arithmetic_is_folded(text: str, value: object):
    decoded = decode_reply(f"f(x={text})", "simple_python")
    assert decoded.calls == [{"f": {"x": value}}]


def test_folding_needs_a_constant():
    with pytest.raises(Refused):
        fold(ast.parse("a @ b", mode="eval").body)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "(" * 5000 + "1" + ")" * 5000, "[f(x=" + "-" * 50_000 + "1)]", "\0", "f(x='\\d')", "a" * 300_000],
)
def test_deep_and_odd_texts_fail_quietly(text: str, recwarn: pytest.WarningsRecorder):
    for category in ("simple_python", "simple_java", "simple_javascript"):
        decode_reply(text, category)
    assert [warning for warning in recwarn if "escape" in str(warning.message)] == []


def test_collections_are_searched_to_an_end():
    """Each would take minutes with backtracking; what ends the test then is its time limit."""
    rows = "[" + "[1]," * 4000
    assert javascript_value(rows, "array", "integer") == ["[1"]
    javascript_value("new Array(" + "[1], " * 3000, "array", "integer")
    java_value("new ArrayList<>() {{" + " " * 15_000, "ArrayList", "String")
    java_value("new HashMap<>() {" + " " * 15_000, "HashMap")
    java_value("new HashMap<" * 1500, "HashMap")
    javascript_value("{" + "a" * 15_000 + "}", "dict")
    assert decode_json("[" + '{"function": "f", "parameters": {}}, ' * 20_000) == []


@pytest.mark.parametrize("tag", ["<TOOLCALL>", "<functions>"])
def test_tags_that_are_never_closed_are_searched_to_an_end(tag: str):
    """It would take minutes from every tag anew; what ends the test then is its time limit."""
    config = "ret_fmt=verbose_xml&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"
    for how in (config, config.replace("True", "False")):
        decoded = decode_reply(tag * 200_000, "simple_python", "prompt", how)
        assert decoded.error_type == "ast_decoder:decoder_failed"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("[[1, 2], [3]]", [[1, 2], [3]]),
        ("[[1,2],[3,4]] tail", [[1, 2], [3, 4]]),
        ("new Array([1], ['a'])", [[1], ["a"]]),
        ("[ [1] , [2] ]", [[1], [2]]),
        ("[[1], 2]", ["[1"]),
        ("[[1],[2", ["[1"]),
        ("[[]]", [[""]]),
    ],
)
def test_rows_of_two_dimensional_arrays(text: str, rows: object):
    assert javascript_value(text, "array", "any") == rows


def test_what_would_crash_the_official_scorer_is_refused():
    doc = {"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}, "required": ["x"]}}
    refusal = check_calls([doc], [{"f": {"x": 10**400}}], [{"f": {"x": [1.0]}}], CallRule())
    assert refusal is not None
    assert refusal.error_type == UNCHECKABLE


def test_what_is_said_of_an_undecodable_answer_is_the_same_each_time():
    text = '<functions><function name="f"><param name="a" type="array">[x]</param></function></functions>'
    config = "ret_fmt=concise_xml&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic"
    complaint = decode_reply(text, "simple_python", "prompt", config).message
    assert "ast.Name object" in complaint
    assert "0x" not in complaint
