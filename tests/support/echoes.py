"""Ways in which a server gives the key back that it was sent: in answers, in errors, in heads, whole, split and cut.

`install` puts them among the faults of the test server; `pieces_in` looks for a key, and for what is left of one.
"""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from server.faults import FAULTS
from server.faults.registry import both, chunk, stream
from server.faults.tools import call, calls
from server.http1 import Exchange, frame

SHORTEST_PIECE = 12
"""Characters of a key that nobody may see."""
CUT_AT = 42
"""Characters of a key that are sent where an echo is cut short."""

ANSWERS: dict[str, Callable[[Exchange], None]] = {}
DECODED: dict[str, Callable[[Exchange], None]] = {}
"""Answers that hold the key only once they are decoded."""
ERRORS: dict[str, Callable[[Exchange], None]] = {}


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `fault:echo_NAME` be asked for, for the length of a test."""
    for name, play in (ANSWERS | DECODED | ERRORS).items():
        monkeypatch.setitem(FAULTS, f"echo_{name}", play)


def pieces_in(data: bytes | str, key: str) -> list[str]:
    """Return every piece of a key that is long enough to be recognised and stands in the data."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    pieces = (key[start : start + SHORTEST_PIECE] for start in range(len(key) - SHORTEST_PIECE + 1))
    return [piece for piece in pieces if piece in text]


def answer(play: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
    ANSWERS[play.__name__] = play
    return play


def error(play: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
    ERRORS[play.__name__] = play
    return play


def key_of(exchange: Exchange) -> str:
    return exchange.headers["authorization"].removeprefix("Bearer ")


def in_pieces(exchange: Exchange, field: str, text: str, size: int) -> None:
    """Say a text in pieces of so many characters."""
    if not exchange.json.get("stream"):
        both(exchange, {"content": "x"} | {field: text})
        return
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    stream(exchange, *(chunk({field: piece}) for piece in pieces), chunk({"content": "."}, "stop"))


@answer
def content(e: Exchange) -> None:
    both(e, {"content": f"Your key is {key_of(e)}, is it not?"})


@answer
def content_by_one(e: Exchange) -> None:
    in_pieces(e, "content", f"Your key is {key_of(e)}, is it not?", 1)


@answer
def content_by_three(e: Exchange) -> None:
    in_pieces(e, "content", f"{key_of(e)}{key_of(e)}", 3)


@answer
def content_by_thirteen(e: Exchange) -> None:
    in_pieces(e, "content", f"Your key is {key_of(e)}", 13)


@answer
def content_cut(e: Exchange) -> None:
    both(e, {"content": f"It begins with {key_of(e)[:CUT_AT]} and ends with {key_of(e)[CUT_AT - 15 :]}."})


@answer
def reasoning(e: Exchange) -> None:
    in_pieces(e, "reasoning_content", f"The key {key_of(e)} was sent.", 7)


@answer
def refusal(e: Exchange) -> None:
    both(e, {"content": None, "refusal": f"I cannot take {key_of(e)}."})


@answer
def call_identity(e: Exchange) -> None:
    both(e, calls(call("{}", identity=key_of(e), index=0)), "tool_calls")


@answer
def call_name(e: Exchange) -> None:
    both(e, calls(call("{}", name=f"f_{key_of(e)}", index=0)), "tool_calls")


@answer
def call_arguments(e: Exchange) -> None:
    both(e, calls(call(json.dumps({"key": key_of(e)}), index=0)), "tool_calls")


@answer
def call_arguments_as_object(e: Exchange) -> None:
    both(e, calls(call({"deep": [{key_of(e): key_of(e)}]}, index=0)), "tool_calls")


@answer
def call_arguments_in_pieces(e: Exchange) -> None:
    text = json.dumps({"key": key_of(e)})
    if not e.json.get("stream"):
        both(e, calls(call(text, index=0)), "tool_calls")
        return
    pieces = [{"index": 0, "function": {"arguments": text[at : at + 5]}} for at in range(0, len(text), 5)]
    stream(e, chunk(calls(call("", index=0))), *(chunk(calls(piece)) for piece in pieces), chunk({}, "tool_calls"))


@answer
def call_arguments_half_escaped(e: Exchange) -> None:
    text = "".join(f"\\u{ord(x):04x}" if place % 2 else x for place, x in enumerate(key_of(e)))
    both(e, calls(call(f'{{"number": "{text}"}}', name="look_up", index=0)), "tool_calls")


def source_call(e: Exchange, spell: Callable[[str], str]) -> None:
    """A call as source text, with the key in an escaped spelling that a parser decodes."""
    both(e, {"content": f"[look_up(number='{''.join(map(spell, key_of(e)))}')]"})


@answer
def source_call_in_hexadecimal(e: Exchange) -> None:
    source_call(e, lambda letter: f"\\x{ord(letter):02x}")


@answer
def source_call_in_octal(e: Exchange) -> None:
    source_call(e, lambda letter: f"\\{ord(letter):o}" if not letter.isdigit() else letter)


@answer
def source_call_by_name(e: Exchange) -> None:
    source_call(e, lambda letter: f"\\N{{{unicodedata.name(letter)}}}")


def source_call_in_two_texts(e: Exchange) -> None:
    """A parser joins texts beside each other; no piece of them is long enough to be a secret's."""
    texts = [key_of(e)[at : at + 8] for at in range(0, len(key_of(e)), 8)]
    both(e, {"content": f"[look_up(number={' '.join(map(repr, texts))})]"})


DECODED["source_call_in_two_texts"] = source_call_in_two_texts


@answer
def source_call_with_folding_letters(e: Exchange) -> None:
    """A parser folds the letters of names."""
    name = "".join(chr(ord(letter) + 0xFEE0) for letter in key_of(e))
    both(e, {"content": f"[look_up(number=ｘ{name}), ｘ{name}(ｘ{name}=1)]"})


@answer
def model(e: Exchange) -> None:
    named = {"model": f"m-{key_of(e)}"}
    if e.json.get("stream"):
        stream(e, chunk({"content": "fine"}) | named, chunk({}, "stop") | named)
    else:
        both(e, {"content": "fine"}, **named)


@error
def finish_reason(e: Exchange) -> None:
    both(e, {"content": "fine"}, f"because of {key_of(e)}")


@error
def refused(e: Exchange) -> None:
    e.error("400 Bad Request", f"Incorrect API key {key_of(e)}", code=key_of(e), kind=key_of(e))


@error
def refused_at_the_end_of_a_long_text(e: Exchange) -> None:
    e.error("500 Internal Server Error", "x" * 370 + key_of(e))


@error
def body_cut_by_the_server(e: Exchange) -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key {key_of(e)}"}}).encode()
    end = body.index(key_of(e).encode()) + CUT_AT
    e.answer(body[:end], "500 Internal Server Error")


@error
def body_cut_by_the_network(e: Exchange) -> None:
    body = f"Incorrect API key {key_of(e)[:CUT_AT]}".encode()
    e.send(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 999\r\n\r\n" + body)
    e.cut()


@error
def long_text(e: Exchange) -> None:
    e.answer(("x" * 4075 + key_of(e)).encode(), "500 Internal Server Error", "text/plain")


@error
def huge_text(e: Exchange) -> None:
    e.answer((" " * (65536 - CUT_AT) + key_of(e)).encode(), "500 Internal Server Error", "text/plain")


@error
def title(e: Exchange) -> None:
    e.answer(f"<html><title>{'x' * 360} {key_of(e)}</title></html>".encode(), "502 Bad Gateway", "text/html")


@error
def page(e: Exchange) -> None:
    e.answer(f"<html>{'x' * 90}{key_of(e)}{'x' * 3930}{key_of(e)}</html>".encode(), kind="text/html")


@error
def status_line(e: Exchange) -> None:
    e.send(f"HTTP/1.1 500 {key_of(e)}\r\ncontent-length: 0\r\n\r\n".encode())
    e.finish()


@error
def bad_status_line(e: Exchange) -> None:
    e.send(f"{key_of(e)} {key_of(e)}\r\n\r\n".encode())
    e.cut()


@error
def bad_header(e: Exchange) -> None:
    e.send(f"HTTP/1.1 200 OK\r\n{key_of(e)} {key_of(e)}\r\n\r\n".encode())
    e.cut()


@error
def redirect(e: Exchange) -> None:
    e.answer(b"", "307 Temporary Redirect", location=f"http://127.0.0.1:9/{'x' * 150}/{key_of(e)}?key={key_of(e)}")


@error
def odd_redirect(e: Exchange) -> None:
    e.answer(b"", "307 Temporary Redirect", location=f"http://[{'x' * 60}{key_of(e)}")


@error
def encoding(e: Exchange) -> None:
    e.answer(b"x", content_encoding=f"gz{key_of(e)}")


@error
def error_in_a_stream(e: Exchange) -> None:
    stream(e, chunk({"content": f"half of {key_of(e)}"}), {"error": {"message": f"died with {key_of(e)}", "code": 500}})


@error
def error_in_a_choice(e: Exchange) -> None:
    failed: dict[str, Any] = {"index": 0, "delta": {}, "error": {"message": "x" * 380 + key_of(e)}}
    stream(e, chunk({"content": "half"}), {"choices": [failed]})


@error
def error_with_status_200(e: Exchange) -> None:
    e.answer_json({"detail": f"no answer for {key_of(e)}"})


@error
def page_in_a_stream(e: Exchange) -> None:
    e.begin_events()
    e.piece(frame(chunk({"content": "half"})) + f"<html>{'x' * 100}{key_of(e)}</html>\n\n".encode())
    e.finish()


@error
def no_json_in_a_stream(e: Exchange) -> None:
    e.begin_events()
    e.piece(f"data: {'x' * 90} {key_of(e)}\n\n".encode())
    e.finish()


@error
def stream_cut_in_the_key(e: Exchange) -> None:
    e.begin_events()
    for at in range(0, CUT_AT, 6):
        e.event(chunk({"content": key_of(e)[at : at + 6]}))
    e.cut()


@error
def body_of_another_form(e: Exchange) -> None:
    e.answer_json({"choices": [{"message": {"content": {"key": key_of(e)}}}], key_of(e): 1})
