"""Connections that break."""

from server.faults.registry import FAULTS, fault, some_text
from server.http1 import Exchange


@fault
def s_cut(e: Exchange) -> None:
    some_text(e)
    e.cut()


@fault
def s_rst(e: Exchange) -> None:
    some_text(e)
    e.later(0.02, e.reset)


FAULTS |= {
    "cut_head": lambda e: e.cut(),
    "redirect": lambda e: e.answer(b"", "307 Temporary Redirect", location="http://127.0.0.1:9/steal?token=abc"),
    "redirect_odd": lambda e: e.answer(b"", "302 Found", location="http://[half"),
    "redirect_nowhere": lambda e: e.answer(b"", "301 Moved Permanently"),
    "hdr200k": lambda e: e.answer(b"{}", x_big="a" * 200_000),
}


@fault
def cut_body(e: Exchange) -> None:
    e.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n" + b'{"choices": [')
    e.cut()


@fault
def cut_status(e: Exchange) -> None:
    e.send(b"HTTP/1.1 2")
    e.cut()


@fault
def not_http(e: Exchange) -> None:
    e.send(b"SSH-2.0-OpenSSH_9.2\r\n")
    e.cut()
