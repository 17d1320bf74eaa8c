"""The app in a browser: one page at a secret address of this machine, nothing from elsewhere, and a clear refusal."""

import errno
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.tui import serve

ROOT = Path(__file__).resolve().parents[2]


def test_without_the_extra_it_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    with pytest.raises(UsageError, match="textual-serve") as caught:
        serve.serve(WorkspacePaths(), [], 8765, [].append)
    assert ".[serve]" in caught.value.hint


def test_paths_go_to_the_app_as_they_were_given(tmp_path: Path) -> None:
    command = serve._command(WorkspacePaths(runs=tmp_path / "my runs; rm -rf x"), ["--ascii"])
    assert f"'{tmp_path}/my runs; rm -rf x'" in command
    assert command.endswith("--ascii")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("textual_serve")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "console", "--runs", str(tmp_path), "--serve", "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SERVE_API_KEY": "sk-canary-0123456789"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        yield next(word for word in said.split() if word.startswith("http://"))
        server.terminate()


def test_a_taken_port_is_named_without_phrases_of_libraries() -> None:
    pytest.importorskip("textual_serve")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError) as caught:
            serve.serve(WorkspacePaths(), [], port, [].append)
    assert caught.value.message == f"port {port} of 127.0.0.1 cannot be opened: {os.strerror(errno.EADDRINUSE)}"


def status_of(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_page_is_at_a_secret_address_and_loads_nothing_from_elsewhere(address: str) -> None:
    with urllib.request.urlopen(address, timeout=60) as answer:
        page = answer.read().decode()
    origin, _, secret = address.rpartition("/")
    assert len(secret) >= 20
    assert page.count("://") == 1
    assert f"ws://{origin.removeprefix('http://')}/{secret}/ws" in page
    assert "sk-canary" not in page
    script = f"{address}/focus.js"
    assert f'src="/{secret}/focus.js"' in page, "keys go to the app without a click first"
    assert status_of(script) == 200
    assert status_of(origin + "/focus.js") == 404
    assert status_of(origin + "/") == 404
    assert status_of(origin + "/ws") == 404
    assert status_of(f"{address}/ws", Origin="http://evil.example") == 403
