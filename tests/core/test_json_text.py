"""Foreign JSON is read as Python's own module reads it, and never so deep that walking it would fail."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fuzz_budget import made_up

from console.core.json_text import DEEPEST, read_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@made_up(200)
@given(VALUES)
def test_what_python_writes_is_read_back(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value).encode()):
        assert json.dumps(read_json(text)) == json.dumps(value)


@made_up(200)
@given(st.text(alphabet='[]{}:," 0123456789.eE+-truefalsnNI\\u\ud800'))
def test_what_python_refuses_is_refused(text: str) -> None:
    try:
        expected = json.dumps(json.loads(text))
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            read_json(text)
    else:
        assert json.dumps(read_json(text)) == expected


@pytest.mark.parametrize("text", [nested(DEEPEST + 1), nested(900), nested(100_000), '{"a":' * 300 + "1" + "}" * 300])
def test_deep_values_are_refused(text: str) -> None:
    for form in (text, text.encode()):
        with pytest.raises(ValueError, match="nested deeper than 200 levels"):
            read_json(form)


def test_levels_are_counted_not_brackets() -> None:
    assert len(read_json("[" + ",".join(["[[]]"] * 500) + "]")) == 500
    assert read_json(nested(DEEPEST)) != []
    assert read_json(json.dumps("[" * 5_000)) == "[" * 5_000


@pytest.mark.parametrize("text", [b"\xff", b"{", b"9" * 5_000, b"", b"\xef\xbb\xbf1"])
def test_other_texts_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


def test_numbers_beyond_json_are_read() -> None:
    assert read_json("1e400") == math.inf
    assert read_json("1" + "0" * 400) == 10**400
