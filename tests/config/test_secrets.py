"""Secrets are taken out of texts in whatever spelling they travel."""

import base64
import codecs
import html
import json
import string
import sys
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.config.model import ModelConfig
from console.config.models import facts
from console.config.redaction import REDACTED, Redactor, is_worth_hiding
from console.config.secrets import mask, redactor_for

KEY = 'abcd1234+/EFGH=5678?"x\\y'

SPELLINGS = {
    "plain": KEY,
    "url": quote(KEY, safe=""),
    "json": json.dumps(KEY),
    "json with escaped slashes": json.dumps(KEY).replace("/", "\\/"),
    "json with all escaped": "".join(f"\\u{ord(character):04x}" for character in KEY),
    "json with all escaped in capitals": "".join(f"\\u{ord(character):04X}" for character in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "basic auth": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "basic auth 2": base64.b64encode(f"us:{KEY}:more".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "HEXADECIMAL": KEY.encode().hex().upper(),
    "url in small letters": "".join(letter if letter.isalnum() else f"%{ord(letter):02x}" for letter in KEY),
    "html": html.escape(KEY),
    "base32": base64.b32encode(f"usr:{KEY}".encode()).decode(),
    "base32 in small letters": base64.b32encode(KEY.encode()).decode().lower(),
    "backwards": KEY[::-1],
    "rot13": codecs.encode(KEY, "rot13"),
    "in capitals": KEY.upper(),
    "in small letters": KEY.lower(),
    "with its case swapped": KEY.swapcase(),
    "with blanks": " ".join(KEY),
    "url base64": base64.urlsafe_b64encode(f"u{KEY}".encode()).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_known_key_is_found_in_any_spelling(spelling):
    text = Redactor([KEY])(f"before {SPELLINGS[spelling]} after")
    assert REDACTED in text
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert KEY[:8].casefold() not in text.casefold()


@pytest.mark.parametrize("change", [str.upper, str.lower, str.swapcase])
def test_a_key_in_another_case_is_redacted_whole(change: Callable[[str], str]) -> None:
    assert Redactor(["sk-AbCdEfGhIjKlMnOpQrSt"]).known(change("sk-AbCdEfGhIjKlMnOpQrSt")) == REDACTED


@pytest.mark.parametrize(("encode", "growth"), [(base64.b64encode, 4 / 3), (base64.b32encode, 8 / 5)])
@given(st.binary(min_size=9, max_size=60), st.binary(max_size=9), st.binary(max_size=9))
def test_no_alignment_of_base64_or_base32_hides_a_key(encode, growth, raw, before, after):
    key = raw.hex()
    text = encode(before + key.encode() + after).decode()
    shown = Redactor([key])(text)
    assert REDACTED in shown
    assert len(shown.replace(REDACTED, "")) <= len(text) - growth * len(key) + 6


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
        base_url="https://h/v1",
        params=params,
        headers={"X-Key": "hidden99"},
    )
    told = repr(facts(model))
    for secret in ("s3cr3tvalue", "hidden99"):
        assert secret not in told
    assert redactor_for([model])("hidden99 s3cr3tvalue") == " ".join([REDACTED] * 2)


def pieces(secret: str, length: int = 12) -> list[str]:
    return [secret[start : start + length] for start in range(len(secret) - length + 1)]


def is_random(key: str) -> bool:
    """Whether a key could have been made by chance: no three characters come twice in it."""
    return is_worth_hiding(key) and len(set(pieces(key, 3))) == len(key) - 2


KEYS = st.text(string.ascii_letters + string.digits + "-_+/=", min_size=16, max_size=90).filter(is_random)
AROUND = st.text("xyz \n\"'{}:,.", max_size=20)


@given(KEYS, st.data())
def test_no_piece_of_twelve_characters_is_left(key, data):
    """A key cut at either end, as servers and networks cut what they echo."""
    start = data.draw(st.integers(0, len(key)))
    end = data.draw(st.integers(start, len(key)))
    text = data.draw(AROUND) + key[start:end] + data.draw(AROUND) + key[:end] + data.draw(AROUND)
    shown = Redactor([key]).known(text)
    assert [piece for piece in pieces(key) if piece in shown.replace(REDACTED, "\0")] == []


@given(KEYS, st.data())
def test_a_text_in_deltas_shows_no_key(key, data):
    """However a text is cut into deltas, what is shown at once holds no key, and ends as the whole text does."""
    text = data.draw(AROUND) + key + data.draw(AROUND) + key[: data.draw(st.integers(0, len(key)))]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    live = Redactor([key]).live()
    shown = "".join(
        [live.feed(text[start:end]) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)] + [live.end()]
    )
    assert [piece for piece in pieces(key) if piece in shown] == []


@given(st.lists(st.text(max_size=12), max_size=20), st.text(min_size=16, max_size=40))
def test_a_text_without_a_key_is_shown_as_it_is(deltas, key):
    text = "".join(deltas)
    redactor = Redactor([key])
    live = redactor.live()
    shown = "".join([live.feed(delta) for delta in deltas] + [live.end()])
    if redactor.known(text) == text:
        assert shown == text


WORDS = ("EMPTY", "none", "sk-x", "ollama", "lm-studio", "not-needed", "placeholder", "no-KEY-required")


@pytest.mark.parametrize("key", WORDS)
def test_a_key_that_is_a_common_word_falsifies_no_answer(key):
    text = f"The server wants {key} as its key; {key.upper()}: none is EMPTY, a placeholder is not-needed."
    assert Redactor([key]).known(text) == Redactor([key])(text) == text
    assert Redactor(["sk-no-key-required"]).known("say sk-no-key-required") == "say sk-no-key-required"


@pytest.mark.parametrize("key", ["hunter22", "0123456789", "abcdefghijklmnop", "token-abc123"])
def test_a_real_key_is_no_word(key):
    assert Redactor([key]).known(f"it is {key}!") == f"it is {REDACTED}!"


def test_values_of_public_headers_are_no_secrets():
    headers = {"User-Agent": "my-program/1.0", "anthropic-version": "2023-06-01", "X-Api-Key": "a1b2c3d4e5f6g7h8"}
    model = ModelConfig(name="x", model_id="m", headers=headers | {"Authorization": "Bearer q1w2e3r4t5y6u7i8"})
    text = "On 2023-06-01, my-program/1.0 sent a1b2c3d4e5f6g7h8 and q1w2e3r4t5y6u7i8."
    assert redactor_for([model]).known(text) == f"On 2023-06-01, my-program/1.0 sent {REDACTED} and {REDACTED}."


def test_decoded_json_is_redacted_at_any_depth():
    redact = Redactor([KEY])
    value = json.loads(json.dumps({"a": [{KEY: f"x{KEY}y"}, 1, None, True], "b": KEY[3:]}))
    expected = {"a": [{REDACTED: f"x{REDACTED}y"}, 1, None, True], "b": REDACTED}
    assert redact.value(value) == redact.known_value(value) == expected
    assert redact.known_value(["sk-abcdefghijklmnop"]) == ["sk-abcdefghijklmnop"], "a model may speak of such keys"


ESCAPES: dict[str, Callable[[str], str]] = {
    "hexadecimal": lambda letter: f"\\x{ord(letter):02x}",
    "octal": lambda letter: f"\\{ord(letter):03o}",
    "unicode": lambda letter: f"\\u{ord(letter):04x}",
    "long unicode": lambda letter: f"\\U{ord(letter):08X}",
    "escaped twice": lambda letter: f"\\\\u{ord(letter):04X}",
    "of JavaScript": lambda letter: f"\\u{{{ord(letter):x}}}",
    "of a URL": lambda letter: f"%{ord(letter):02X}",
    "decimal, of HTML": lambda letter: f"&#{ord(letter)};",
    "hexadecimal, of HTML": lambda letter: f"&#x{ord(letter):x};",
    "by name": lambda letter: f"\\N{{{unicodedata.name(letter)}}}",
    "full width": lambda letter: chr(ord(letter) + 0xFEE0),
    "mathematical": lambda letter: chr(0x1D41A + ord(letter) - ord("a")) if letter.islower() else letter,
    "a pair of surrogates": lambda letter: json.dumps(
        chr(0x1D41A + ord(letter) - ord("a")) if letter.islower() else letter
    )[1:-1],
    "over two lines": lambda letter: f"{letter}\\\n",
}
ESCAPED_KEY = "vkQ7zEw31TnbXs0Lq"


@given(st.data())
def test_a_key_in_any_mix_of_escapes_is_found_and_what_is_around_it_stays(data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(ESCAPED_KEY) - 12))
    hows = data.draw(st.lists(st.sampled_from([*ESCAPES.values(), str]), min_size=17, max_size=17))
    piece = "".join(how(letter) for how, letter in zip(hows, ESCAPED_KEY[begin:], strict=False))
    piece = piece.removesuffix("\\\n")
    before, after = (
        data.draw(st.sampled_from(["", "é 'it: ", "f(x='\\n\\x41", "½ "])),
        data.draw(st.sampled_from(["", "') é", "\\n"])),
    )
    assert Redactor(["another key 0815", ESCAPED_KEY])(before + piece + after) == f"{before}{REDACTED}{after}"


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\x00", "\x08", "\x1b[1m", "\u0301", "\u2060", "\u202e", "\\u200b", "\\x00"]
)
def test_what_is_not_seen_between_the_letters_of_a_key_hides_nothing(unseen: str) -> None:
    assert Redactor([ESCAPED_KEY])(f"it is {unseen.join(ESCAPED_KEY)}!") == f"it is {REDACTED}!"
    assert Redactor([ESCAPED_KEY]).may_be_in(msgspec.json.encode(unseen.join(ESCAPED_KEY)))


@given(st.text(), st.text(st.sampled_from("\\\\uxN{}0123456789abcdef\n"), max_size=40))
def test_texts_without_a_key_are_as_they_were(text: str, escapes: str) -> None:
    redactor = Redactor([ESCAPED_KEY, KEY, "zz19-aa4"])
    assert redactor(text + escapes) == text + escapes
    assert redactor.known(escapes + text) == escapes + text


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=9, max_size=40),
    st.text(max_size=9),
    st.text(max_size=9),
)
def test_any_secret_is_found_at_any_place(secret: str, before: str, after: str) -> None:
    if is_worth_hiding(secret):
        assert secret not in Redactor([secret]).known(before + secret + after)
        data = msgspec.json.encode({"a": [before.encode("utf-8", "replace").decode() + secret]})
        assert Redactor([secret]).may_be_in(data)


def test_every_character_that_unicode_folds_into_a_letter_or_digit_is_recognized() -> None:
    redactors = {letter: Redactor([letter * 20]) for letter in string.ascii_letters + string.digits}
    for code in range(0x80, sys.maxunicode + 1):
        if redact := redactors.get(unicodedata.normalize("NFKC", chr(code))):
            assert redact.known(chr(code) * 20) == REDACTED, f"U+{code:04X}"
