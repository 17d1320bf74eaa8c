"""JavaScript replies that only the grammar of the official package reads as the official package does."""

import pytest

from console.benchmarks.bfcl.models.decode.reply import FAILED, WRONG_FORMAT, decode_reply


@pytest.mark.parametrize("word", ["in", "if", "this", "class", "new"])
def test_reserved_words_may_be_names_where_nothing_else_fits(word: str) -> None:
    decoded = decode_reply(f"[f(a='x', {word}='y')]", "simple_javascript")
    accepted = {"in", "if"}
    assert decoded.calls == ([{"f": {"a": "x", word: "y"}}] if word in accepted else [])
    assert decoded.error_type == (None if word in accepted else FAILED)


def test_broken_template_strings_are_read_as_officially() -> None:
    assert decode_reply("[not`-available]", "simple_javascript").error_type == WRONG_FORMAT
    assert decode_reply('[f("transition"`, 4.0)', "simple_javascript").calls == [{"f": {}}]
    assert decode_reply("```javascript\n[f(a=1)]\n``` ;", "simple_javascript").calls == [{"``": {}}]
