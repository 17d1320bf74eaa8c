"""Connections that break."""

from server.faults.registry import fault, some_text
from server.http1 import Exchange


@fault
def s_cut(e: Exchange) -> None:
    some_text(e)
    e.cut()


@fault
def s_rst(e: Exchange) -> None:
    some_text(e)
    e.later(0.02, e.reset)


@fault
def cut_head(e: Exchange) -> None:
    e.cut()


@fault
def cut_body(e: Exchange) -> None:
    e.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n" + b'{"choices": [')
    e.cut()


@fault
def redirect(e: Exchange) -> None:
    e.answer(b"", "307 Temporary Redirect", location="http://127.0.0.1:9/steal?token=abc")


@fault
def redirect_odd(e: Exchange) -> None:
    e.answer(b"", "302 Found", location="http://[half")


@fault
def redirect_nowhere(e: Exchange) -> None:
    e.answer(b"", "301 Moved Permanently")


@fault
def not_http(e: Exchange) -> None:
    e.send(b"SSH-2.0-OpenSSH_9.2\r\n")
    e.cut()


@fault
def hdr200k(e: Exchange) -> None:
    e.answer(b"{}", x_big="a" * 200_000)
