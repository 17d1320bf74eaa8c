"""Answers that take too long, in every way of taking long."""

from server.faults.registry import FAULTS, chunk, fault, some_text
from server.http1 import Exchange

FAULTS |= {"stall_head": lambda e: None, "s_stall": some_text}


@fault
def drip_head(e: Exchange) -> None:
    e.send(b"HTTP/1.1 200 OK\r\n")
    e.every(0.02, lambda n: e.send(b"x-%d: y\r\n" % n))


@fault
def s_stall_first(e: Exchange) -> None:
    e.begin_events()
    e.event(chunk({"role": "assistant", "content": ""}))


@fault
def s_ping(e: Exchange) -> None:
    some_text(e)
    e.every(0.02, lambda n: e.piece(b": ping\n\n"))


@fault
def s_empty_chunks(e: Exchange) -> None:
    some_text(e)
    e.every(0.02, lambda n: e.event(chunk({"content": ""})))


@fault
def s_loris(e: Exchange) -> None:
    e.begin_events()
    e.every(0.05, lambda n: e.event(chunk({"content": "a "})))


@fault
def s_stall_done(e: Exchange) -> None:
    """Says everything but [DONE], then hangs."""
    some_text(e)
    e.event(chunk({}, "stop"))
