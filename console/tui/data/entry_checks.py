"""What Library finds out when asked: whether files of a suite are as they were pulled, whether a server answers."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from console.tui.data.catalog_items import SuiteLine


@dataclass(frozen=True, slots=True)
class Checksum:
    """Digests of a suite's files."""

    digest: str = ""
    """sha256 over names and contents; empty while it is worked out."""
    expected: str = ""
    """What it was when the data was pulled; empty when nobody wrote it down."""

    @property
    def is_changed(self) -> bool:
        """Whether the files are known to differ from what was pulled."""
        return bool(self.digest and self.expected) and self.digest != self.expected


def read_checksum(line: SuiteLine) -> Checksum | None:
    """Read all files of a suite; None if its folder went away meanwhile."""
    from console.suites.archive import tree_sha256

    expected = line.entry.source.get("digest", "") if line.entry.origin == "pulled" else ""
    try:
        return Checksum(tree_sha256(line.entry.folder, without=("suite.toml",)), expected)
    except OSError:
        return None


_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Ping:
    """What came of asking a model's server."""

    at: float
    seconds: float
    good: bool
    text: str
    """Foreign: may repeat what the server answered."""
    hint: str = ""


def ping_model(name: str, models_path: Path | None) -> Ping:
    """Ask, and return what came of it; never raises for what the server or the file says."""
    started_at = time.time()
    arguments = ["--models", str(models_path)] if models_path is not None else []
    command = [sys.executable, "-m", "console", "models", *arguments, "--json", f"--ping={name}"]
    try:
        process = subprocess.run(  # noqa: S603  our own program
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        answer = cast("dict[str, Any]", json.loads(process.stdout))
        return Ping(
            started_at, float(answer["seconds"]), bool(answer["good"]), str(answer["text"]), str(answer["hint"])
        )
    except subprocess.TimeoutExpired:
        return Ping(started_at, _TIMEOUT_S, False, "no answer")
    except (OSError, ValueError, KeyError, TypeError):
        seconds = time.time() - started_at
        return Ping(started_at, seconds, False, "it could not be asked", "eval-console doctor says why.")
