"""What is taken for a right schema or expression at a glance, the library takes for one, too."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.benchmarks.dialogue.rules import bounded_regex
from console.benchmarks.dialogue.rules.bounded_schema import problem_of
from console.benchmarks.dialogue.rules.quick_checks import is_plain_pattern, is_plain_schema

KEYWORDS = (
    "type", "const", "enum", "title", "description", "properties", "required", "additionalProperties", "items",
    "uniqueItems", "pattern", "minimum", "exclusiveMaximum", "minItems", "maxLength", "minProperties", "$ref", "oneOf",
    "format", "unevaluatedItems",
)  # fmt: skip
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["object", "string", "number", "what", "(", "^[a-z]+$", "#/properties/a"]),
)  # fmt: skip
SCHEMAS = st.recursive(
    VALUES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from((*KEYWORDS, "a", "b")), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(KEYWORDS), SCHEMAS, max_size=4))
def test_a_plain_schema_is_right(schema: dict[str, Any]) -> None:
    if is_plain_schema(schema):
        assert problem_of(schema) == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": 0}}, "required": ["n"]}',
        '{"type": "array", "minItems": 3, "items": {"type": "string", "pattern": "^[A-Z]+$"}, "uniqueItems": true}',
        '{"const": 225, "additionalProperties": false}',
    ],
)
def test_common_schemas_are_plain(text: str) -> None:
    assert is_plain_schema(msgspec.json.decode(text))


@pytest.mark.parametrize(
    "text",
    ['{"type": "thing"}', '{"required": ["a", "a"]}', '{"pattern": "("}', '{"minItems": -1}', '{"items": 3}',
     '{"$ref": "http://elsewhere"}', '{"minimum": true}', '{"properties": {"a": {"type": 3}}}', "[]"],
)  # fmt: skip
def test_others_are_left_to_the_library(text: str) -> None:
    assert not is_plain_schema(msgspec.json.decode(text))


def test_a_schema_without_end_is_not_plain() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"items": deep}
    assert not is_plain_schema(deep)


PIECES = st.sampled_from(
    ["a", "-z", "[", "]", "[^", "[:", ":]", "(", ")", "(?:", "(?i)", "(?P<n>", "(?P=n)", "(?<=", "(?<!", "(?=", "(?>",
     "|", "*", "+", "?", "{2}", "{,3}", "{2,1}", "^", "$", ".", "\\", "\\b", "\\d", "\\1", "\\p{L}", "\\N{DASH}",
     "\\x41", "\\L<a>", "\\G", "\\K", "\\X", "\\R", "\\u00e9", "\\Z", "\\m", "&&", "--", "||", "~~", "{e<=1}", "{",
     "}", " ", "é", "\n", "(?(1)a|b)", "(?#c)", "(?x)", "(?V1)", "(?R)", "(?1)", "(?&n)", "(?i:", "(?-i:", "(*FAIL)"]
)  # fmt: skip


@settings(max_examples=1000)
@given(st.one_of(st.lists(PIECES, max_size=9).map("".join), st.text(max_size=12)))
def test_a_plain_expression_is_right(pattern: str) -> None:
    if is_plain_pattern(pattern):
        assert bounded_regex.problem_of(pattern) == ""


def test_common_expressions_are_plain_and_others_are_left_to_the_library() -> None:
    assert all(map(is_plain_pattern, [r"\b15[:.h]30\b", r"(?i)no berth|not? .*free|sorry", r"^[A-Z][a-z]+$"]))
    assert not any(map(is_plain_pattern, ["(", r"\p{L}", "[[:alpha:]]", "[(?R)]", "a" * 1001]))
