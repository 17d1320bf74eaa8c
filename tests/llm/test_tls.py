"""A certificate that nobody vouches for is refused, in words."""

import asyncio
import shutil
import ssl
import subprocess

import pytest

from console.core.fault import Fault, FaultKind


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate of this test")
async def test_a_self_signed_certificate_is_refused_and_named(connect, question, seen, tmp_path):
    subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    files = ["-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"]
    subprocess.run(  # noqa: ASYNC221
        ["openssl", "req", "-x509", *subject, *files], check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(Fault) as caught:
        await connect(base_url=f"https://127.0.0.1:{port}/v1").ask(question(), seen)
    server.close()
    assert caught.value.kind is FaultKind.CONNECT
    assert "certificate" in caught.value.message.lower()
