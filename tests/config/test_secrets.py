"""Secrets are taken out of texts in whatever spelling they travel."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.config.model import ModelConfig
from console.config.models import facts
from console.config.secrets import REDACTED, Redactor, mask

KEY = 'abcd1234+/EFGH=5678?"x\\y'

SPELLINGS = {
    "plain": KEY,
    "url": quote(KEY, safe=""),
    "json": json.dumps(KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "basic auth": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "basic auth 2": base64.b64encode(f"us:{KEY}:more".encode()).decode(),
    "url base64": base64.urlsafe_b64encode(f"u{KEY}".encode()).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_known_key_is_found_in_any_spelling(spelling):
    text = Redactor([KEY])(f"before {SPELLINGS[spelling]} after")
    assert REDACTED in text
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert KEY[:8] not in text


@given(st.binary(min_size=9, max_size=60), st.binary(max_size=9), st.binary(max_size=9))
def test_no_alignment_of_base64_hides_a_key(raw, before, after):
    key = raw.hex()
    text = base64.b64encode(before + key.encode() + after).decode()
    shown = Redactor([key])(text)
    assert REDACTED in shown
    assert len(shown.replace(REDACTED, "")) <= len(text) - 4 * len(key) / 3 + 6


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefghijklmnop.",
        "Incorrect API key provided: sk-ab**************wxyz.",
        "Authorization: Bearer abc.def-ghi_jkl",
        "key AIzaSyA1234567890abcdefghijk",
    ],
)
def test_what_looks_like_a_key_is_taken_out_too(text):
    assert REDACTED in Redactor()(text)


@pytest.mark.parametrize("text", ["a task-based skill", "sk-learn", "the bearer of news", "risk-averse people walk"])
def test_ordinary_words_are_left_alone(text):
    assert Redactor(["short"])(text) == text


def test_secrets_among_parameters_are_masked_where_facts_are_kept():
    params = {"aws_secret_access_key": "s3cr3tvalue", "max_tokens": 5, "nested": {"api_key": "k", "top_p": 1}}
    assert mask(params) == {
        "aws_secret_access_key": REDACTED,
        "max_tokens": 5,
        "nested": {"api_key": REDACTED, "top_p": 1},
    }
    model = ModelConfig(
        name="x",
        model_id="m",
        base_url="https://user:hunter22@h/v1?key=abc",
        params=params,
        headers={"X-Key": "hidden99"},
    )
    told = repr(facts(model))
    for secret in ("s3cr3tvalue", "hunter22", "abc", "hidden99"):
        assert secret not in told
    assert Redactor.for_models([model])("hunter22 hidden99 s3cr3tvalue") == " ".join([REDACTED] * 3)
