"""Ways in which a server gives the key back that it was sent: in answers, in errors, in heads, whole, split and cut.

`install` puts them among the faults of the test server; `pieces_in` looks for a key, and for what is left of one.
"""

import json
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from server.faults import FAULTS
from server.faults.registry import both, chunk, stream
from server.faults.tools import call, calls
from server.http1 import Exchange, frame
from support.lookup_suite import results

from console.core.outcome import Outcome
from console.exchange.exports.formats import own_exports

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


class Leaks:
    """What commands show, and leave in files, of a key that a server echoes."""

    def __init__(self, console: Any, home: Path, key: str) -> None:
        self._console, self._home, self._key = console, home, key
        self.shown: list[str] = []

    def run(self, *command: object) -> Any:
        ended = self._console(*command)
        self.shown.append(ended.out + ended.err)
        return ended

    def read_everything(self, folder: Path, cases: Sequence[Sequence[str]]) -> None:
        """Export a run in every format, and show all of it; cases are given with further words of `show`."""
        for name, form in own_exports().items():
            out = self._home / f"out.{name}"
            self.run("export", folder.name, "--format", name, "-o", out)
            assert out.is_file() or not form.extension, f"nothing was exported as {name}"
        for verb, *words in (("show",), ("show", "--json"), ("review", "--all"), ("review", "--json"), ("failures",)):
            self.run(verb, folder.name, *words)
        for case, *words in cases:
            self.run("show", f"{folder.name}#{case}", *words)
        for command in (("models", "--json"), ("runs", "--json"), ("leaderboard",)):
            self.run(*command)
        assert (self._home / "runs" / folder.name / "index.msgpack").is_file()

    def assert_none(self) -> None:
        assert any("[redacted]" in text for text in self.shown)
        assert {place: held for place, text in enumerate(self.shown) if (held := pieces_in(text, self._key))} == {}
        files = [path for path in self._home.rglob("*") if path.is_file()]
        assert {str(path): held for path in files if (held := pieces_in(path.read_bytes(), self._key))} == {}


def outcomes_of(folder: Path) -> dict[int, Outcome]:
    """Return the outcomes of a run of lookups by the number of the case."""
    return {int(case.rpartition("_")[2]): verdict.outcome for case, (verdict, _, _) in results(folder).items()}


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


ANSWERS |= {
    "content": lambda e: both(e, {"content": f"Your key is {key_of(e)}, is it not?"}),
    "content_by_one": lambda e: in_pieces(e, "content", f"Your key is {key_of(e)}, is it not?", 1),
    "content_by_three": lambda e: in_pieces(e, "content", f"{key_of(e)}{key_of(e)}", 3),
    "content_by_thirteen": lambda e: in_pieces(e, "content", f"Your key is {key_of(e)}", 13),
    "content_cut": lambda e: both(
        e, {"content": f"It begins with {key_of(e)[:CUT_AT]} and ends with {key_of(e)[CUT_AT - 15 :]}."}
    ),
    "reasoning": lambda e: in_pieces(e, "reasoning_content", f"The key {key_of(e)} was sent.", 7),
    "refusal": lambda e: both(e, {"content": None, "refusal": f"I cannot take {key_of(e)}."}),
    "call_identity": lambda e: both(e, calls(call("{}", identity=key_of(e), index=0)), "tool_calls"),
    "call_name": lambda e: both(e, calls(call("{}", name=f"f_{key_of(e)}", index=0)), "tool_calls"),
    "call_arguments": lambda e: both(e, calls(call(json.dumps({"key": key_of(e)}), index=0)), "tool_calls"),
    "call_arguments_as_object": lambda e: both(
        e, calls(call({"deep": [{key_of(e): key_of(e)}]}, index=0)), "tool_calls"
    ),
    "source_call_in_hexadecimal": lambda e: source_call(e, lambda letter: f"\\x{ord(letter):02x}"),
    "source_call_in_octal": lambda e: source_call(
        e, lambda letter: f"\\{ord(letter):o}" if not letter.isdigit() else letter
    ),
    "source_call_by_name": lambda e: source_call(e, lambda letter: f"\\N{{{unicodedata.name(letter)}}}"),
}


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


ERRORS |= {
    "finish_reason": lambda e: both(e, {"content": "fine"}, f"because of {key_of(e)}"),
    "refused": lambda e: e.error("400 Bad Request", f"Incorrect API key {key_of(e)}", code=key_of(e), kind=key_of(e)),
    "refused_at_the_end_of_a_long_text": lambda e: e.error("500 Internal Server Error", "x" * 370 + key_of(e)),
    "long_text": lambda e: e.answer(("x" * 4075 + key_of(e)).encode(), "500 Internal Server Error", "text/plain"),
    "huge_text": lambda e: e.answer(
        (" " * (65536 - CUT_AT) + key_of(e)).encode(), "500 Internal Server Error", "text/plain"
    ),
    "title": lambda e: e.answer(
        f"<html><title>{'x' * 360} {key_of(e)}</title></html>".encode(), "502 Bad Gateway", "text/html"
    ),
    "page": lambda e: e.answer(f"<html>{'x' * 90}{key_of(e)}{'x' * 3930}{key_of(e)}</html>".encode(), kind="text/html"),
    "redirect": lambda e: e.answer(
        b"", "307 Temporary Redirect", location=f"http://127.0.0.1:9/{'x' * 150}/{key_of(e)}?key={key_of(e)}"
    ),
    "odd_redirect": lambda e: e.answer(b"", "307 Temporary Redirect", location=f"http://[{'x' * 60}{key_of(e)}"),
    "encoding": lambda e: e.answer(b"x", content_encoding=f"gz{key_of(e)}"),
    "error_in_a_stream": lambda e: stream(
        e, chunk({"content": f"half of {key_of(e)}"}), {"error": {"message": f"died with {key_of(e)}", "code": 500}}
    ),
    "error_with_status_200": lambda e: e.answer_json({"detail": f"no answer for {key_of(e)}"}),
    "body_of_another_form": lambda e: e.answer_json(
        {"choices": [{"message": {"content": {"key": key_of(e)}}}], key_of(e): 1}
    ),
}


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
def error_in_a_choice(e: Exchange) -> None:
    failed: dict[str, Any] = {"index": 0, "delta": {}, "error": {"message": "x" * 380 + key_of(e)}}
    stream(e, chunk({"content": "half"}), {"choices": [failed]})


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
