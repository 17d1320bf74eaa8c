"""Whatever a model writes: decoding executes, imports and opens nothing and reads literals as Python does."""

import ast
import sys
import threading
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.decode.minicpm import NO_FILE
from console.benchmarks.bfcl.models.decode.reply import decode_reply, executable_calls

FORBIDDEN = ("exec", "import", "open", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pickle.", "marshal.")
CATEGORIES = ("simple_python", "simple_java", "simple_javascript", "multi_turn_base")

FRAMES = (
    "[{}]",
    "[{{'name': 'f', 'parameters': {{'a': {}}}}}]",
    "<|tool_call_start|>f(a={})<|tool_call_end|>",
    "<TOOLCALL>[f(a={})]</TOOLCALL>",
    "<function_call> {}",
    "<start_function_call>call:f{{a:{}}}<end_function_call>",
)
"""How calls are wrapped by families that read Python in them, and some that read none."""

_seen: list[str] = []
_watched: list[int] = []


def _look(event: str, args: tuple[Any, ...]) -> None:
    if _watched and threading.get_ident() == _watched[0] and event.startswith(FORBIDDEN):
        if event == "open" and args[0] == NO_FILE:
            return  # Python's parser asks for the line of a mistake; there can be no such file
        _seen.append(f"{event} {args}")


names = st.sampled_from(
    ["f", "a.b", "__import__", "eval", "exec", "open", "getattr", "setattr", "os.system", "type", "().__class__", "x"]
)
atoms = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.text(max_size=8).map(repr),
    st.sampled_from(
        ["None", "True", "1e999", "-0", "9**9", "...", "lambda: 1", "b'x'", "f'{open}'", "x", "'os'", "[", "}"]
    ),
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    call = st.builds("{}({}={})".format, names, st.sampled_from(["x", "cmd", "__name__"]), inner)
    bare = st.builds("{}({})".format, names, inner)
    joined = st.builds("{} {} {}".format, inner, st.sampled_from("+-*%@|,:"), inner)
    boxed = st.builds("{}{}{}".format, st.sampled_from("[({"), inner, st.sampled_from("])}"))
    comprehended = st.builds("[{} for x in {}]".format, inner, inner)
    attribute = st.builds("({}).{}".format, inner, st.sampled_from(["__class__", "__mro__", "system", "x"]))
    return st.one_of(call, bare, joined, boxed, comprehended, attribute)


answers = st.one_of(st.recursive(atoms, _larger, max_leaves=12), st.text(max_size=60)).flatmap(
    lambda text: st.sampled_from(FRAMES).map(lambda frame: frame.format(text))
)


@settings(max_examples=150, deadline=None)
@given(answers, st.sampled_from(CATEGORIES), st.sampled_from(sorted(FAMILIES)))
@example("[f(x=__import__('os').system('true') + 1)]", "simple_python", "prompt")
@example("[f(x=open('/etc/hostname').read() + '')]", "simple_python", "prompt")
@example("<|tool_call_start|>f(a=0 , 0)<|tool_call_end|>", "simple_python", "minicpm_fc")
def test_decoding_does_nothing_but_decode(text: str, category: str, family: str) -> None:
    decode_reply("[f(x=1)]", category, "prompt")  # whatever is loaded late is loaded now
    if _look not in _hooked:
        sys.addaudithook(_look)
        _hooked.append(_look)
    _seen.clear()
    _watched[:] = [threading.get_ident()]
    try:
        decode_reply(text, category, family)
        executable_calls(text, family)
    finally:
        _watched.clear()
    assert _seen == []


_hooked: list[object] = []
literals = st.recursive(
    st.one_of(
        st.integers(), st.booleans(), st.none(), st.text(max_size=12), st.floats(allow_nan=False, allow_infinity=False)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(literals)
def test_literals_are_read_as_python_reads_them(value: Any) -> None:
    decoded = decode_reply(f"[f(x={value!r})]", "simple_python", "prompt")
    assert decoded.calls == [{"f": {"x": ast.literal_eval(repr(value))}}]
