"""Proxies and certificates that the environment names."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from console.core.fault import Fault, FaultKind
from console.llm.transport.network import proxy_of

PROXY = "http://proxy.example:3128"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without the settings of this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("exceptions", "address", "is_excepted"),
    [
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3:8000/v1", False),
        ("192.168.1.7/24", "http://192.168.1.200/v1", True),
        ("10.1.2.3", "http://10.1.2.3/v1", True),
        ("10.1.2.3:8000", "http://10.1.2.3:8000/v1", True),
        ("10.1.2.3:8000", "http://10.1.2.3:9000/v1", False),
        ("fd00::/8", "http://[fd12::1]:8000/v1", True),
        ("[fd12::1]:8000", "http://[fd12::1]:8000/v1", True),
        ("[::1]", "http://[::1]/v1", True),
        ("example.com", "https://api.example.com/v1", True),
        (".example.com", "https://api.example.com/v1", True),
        ("*.example.com", "https://api.example.com/v1", True),
        ("example.com", "https://badexample.com/v1", False),
        ("Example.COM:443", "https://api.example.com/v1", True),
        ("localhost, 127.0.0.1 , 10.0.0.0/8", "http://10.9.9.9/v1", True),
        ("*", "https://api.example.com/v1", True),
        ("nonsense/99,,:", "https://api.example.com/v1", False),
    ],
)
def test_exceptions(monkeypatch, exceptions: str, address: str, is_excepted: bool) -> None:
    monkeypatch.setenv("ALL_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", exceptions)
    assert (proxy_of(urlsplit(address)) is None) is is_excepted


@pytest.mark.parametrize(
    ("settings", "proxy", "variable"),
    [
        ({"HTTPS_PROXY": PROXY}, PROXY, "HTTPS_PROXY"),
        ({"https_proxy": PROXY, "HTTPS_PROXY": "http://other:1"}, PROXY, "https_proxy"),
        ({"ALL_PROXY": PROXY}, PROXY, "ALL_PROXY"),
        ({"ALL_PROXY": "socks://old:9", "HTTPS_PROXY": PROXY}, PROXY, "HTTPS_PROXY"),
        ({"HTTPS_PROXY": "proxy.example:3128"}, PROXY, "HTTPS_PROXY"),
        ({"HTTP_PROXY": PROXY}, None, ""),
        ({"HTTPS_PROXY": ""}, None, ""),
    ],
)
def test_the_proxy_of_an_address(monkeypatch, settings: dict[str, str], proxy: str | None, variable: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(urlsplit("https://api.example.com/v1")) == (proxy and (proxy, variable))


@pytest.mark.parametrize(
    "value", ["socks://127.0.0.1:9/", "socks5h://127.0.0.1:9", "ftp://x", "http://:80", "http://[x"]
)
async def test_a_proxy_that_cannot_be_used(monkeypatch, connect, question, seen, value: str) -> None:
    """A server on this machine is reached without it; for others, one sentence names the variable."""
    monkeypatch.setenv("ALL_PROXY", value)
    assert (await connect().ask(question(), seen)).content
    with pytest.raises(Fault) as caught:
        await connect(base_url="http://api.example.com/v1").ask(question(), seen)
    assert caught.value.kind is FaultKind.BAD_REQUEST
    assert "the proxy in ALL_PROXY cannot be used" in caught.value.message
    assert "NO_PROXY" in caught.value.hint


@pytest.fixture
async def refusing() -> AsyncIterator[int]:
    """A proxy that refuses with a web page; its port."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_refusing_proxy_is_named_with_its_variable(
    monkeypatch, connect, question, seen, refusing: int, scheme: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"http://user:secret@127.0.0.1:{refusing}")
    with pytest.raises(Fault) as caught:
        await connect(base_url=f"{scheme}://api.example.com/v1").ask(question(), seen)
    assert caught.value.kind is FaultKind.AUTH
    assert f"the proxy http://127.0.0.1:{refusing} (ALL_PROXY) refuses" in caught.value.message
    assert "secret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_is_not_there_is_named(monkeypatch, connect, question, seen, scheme: str) -> None:
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", "127.0.0.1:9")
    with pytest.raises(Fault) as caught:
        await connect(base_url=f"{scheme}://api.example.com/v1").ask(question(), seen)
    assert f"cannot connect to the proxy http://127.0.0.1:9 ({scheme.upper()}_PROXY): " in caught.value.message
    assert "NO_PROXY" in caught.value.hint


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test")
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2", "-nodes"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", tmp_path / "key.pem"]
    subprocess.run(["openssl", "req", "-x509", *subject, *key, "-out", tmp_path / "cert.pem"], check=True)
    return tmp_path / "cert.pem"


@pytest.fixture
async def https_port(certificate: Path) -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = (
            b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}'
        )
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
async def test_a_named_authority_is_trusted(
    monkeypatch, connect, question, seen, https_port: int, certificate: Path, variable: str
) -> None:
    address = f"https://127.0.0.1:{https_port}/v1"
    with pytest.raises(Fault) as caught:
        await connect(base_url=address).ask(question(), seen)
    assert "SSL_CERT_FILE" in caught.value.hint
    assert "_ssl.c" not in caught.value.message
    monkeypatch.setenv(variable, str(certificate))
    assert (await connect(base_url=address).ask(question(), seen)).content == "yes"


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_certificates_that_cannot_be_read_are_named(monkeypatch, connect, question, seen, tmp_path, content):
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with pytest.raises(Fault) as caught:
        await connect(base_url="https://127.0.0.1:9/v1").ask(question(), seen)
    assert caught.value.kind is FaultKind.BAD_REQUEST
    assert f"REQUESTS_CA_BUNDLE cannot be used: {path}: " in caught.value.message


async def test_a_server_without_tls_is_said_to_have_none(connect, question, seen, server):
    with pytest.raises(Fault) as caught:
        await connect(base_url=server.base_url.replace("http://", "https://")).ask(question(), seen)
    assert caught.value.kind is FaultKind.CONNECT
    assert "[SSL" not in caught.value.message
