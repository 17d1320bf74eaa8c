"""The list of faults, and the pieces they are made of."""

from collections.abc import Callable
from typing import Any

from server.http1 import Exchange

Fault = Callable[[Exchange], None]
FAULTS: dict[str, Fault] = {}
TEXT = "The weather is fine"
DONE = b"data: [DONE]\n\n"


def fault(play: Fault) -> Fault:
    FAULTS[play.__name__] = play
    return play


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def some_text(exchange: Exchange) -> None:
    """Begin a stream and say three pieces of text."""
    exchange.begin_events()
    for piece in ("The weather", " is", " fine"):
        exchange.event(chunk({"content": piece}))


def after_text(*parts: bytes | dict[str, Any]) -> Fault:
    """Say some text, then these bytes and events, and end."""

    def play(exchange: Exchange) -> None:
        some_text(exchange)
        for part in parts:
            exchange.piece(part) if isinstance(part, bytes) else exchange.event(part)
        exchange.finish()

    return play


def stream(exchange: Exchange, *events: object, done: bool = True) -> None:
    """Send a whole stream."""
    exchange.begin_events()
    for event in events:
        exchange.event(event)
    if done:
        exchange.piece(DONE)
    exchange.finish()


def both(exchange: Exchange, message: dict[str, Any], finish: str | None = "stop", **more: Any) -> None:
    """Say the same streamed or whole, as was asked."""
    if exchange.json.get("stream"):
        stream(exchange, chunk(message), chunk({}, finish) | more)
    else:
        exchange.answer_json({"id": "c", "model": "m", "choices": [choice(message, finish)], **more})


def choice(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
