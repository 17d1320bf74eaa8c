"""The command that installs an extra is that of this copy, and no message names the package of an index instead."""

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from console.config import extras
from console.config.extras import install_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An active environment in a folder without a checkout."""
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "pip").touch(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'env' / 'bin'}{os.pathsep}/usr/bin")
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def installed_from(monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed())


def test_in_a_checkout_it_stays_a_checkout(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = environment / "my checkout"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    monkeypatch.setattr(extras, "_CHECKOUT", checkout)
    assert install_command("cave") == f"cd '{checkout}' && pip install -e '.[cave]'"
    monkeypatch.chdir(checkout)
    assert install_command("cave") == "pip install -e '.[cave]'"
    pip = checkout / ".venv" / "bin" / "pip"
    pip.parent.mkdir(parents=True)
    pip.touch(0o755)
    monkeypatch.setattr(sys, "prefix", str(checkout / ".venv"))
    assert install_command("cave") == ".venv/bin/pip install -e '.[cave]'", "the environment is not active"


def test_otherwise_it_comes_from_where_this_copy_came_from(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed_from(monkeypatch, {"url": environment.as_uri(), "dir_info": {}})
    assert install_command("ray") == "pip install '.[ray]'"
    wheel = "https://example.org/eval_console-0.1.0-py3-none-any.whl"
    installed_from(monkeypatch, {"url": wheel, "archive_info": {}})
    assert install_command("ray") == f"pip install 'eval-console[ray] @ {wheel}'"
    installed_from(monkeypatch, {"url": "https://example.org/e.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}})
    assert install_command("ray") == "pip install 'eval-console[ray] @ git+https://example.org/e.git@abc'"
    installed_from(monkeypatch, None)
    assert install_command("ray") == "pip install 'eval-console[ray]'"
    (environment / "env" / "uv-receipt.toml").touch()
    assert install_command("ray") == "uv tool install 'eval-console[ray]'"


def test_every_message_takes_its_command_from_here() -> None:
    naming = [path for path in (ROOT / "console").rglob("*.py") if "eval-console[" in path.read_text(encoding="utf-8")]
    assert naming == []
