"""Checks on request in Library: whether a suite's files have changed, and whether a model's server responds."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from console.tui.data.suites import SuiteLine


@dataclass(frozen=True, slots=True)
class Checksum:
    """Digests of a suite's files."""

    digest: str = ""
    """sha256 over names and contents; empty while it is being computed."""
    expected: str = ""
    """Digest recorded when the data was pulled; empty if none was."""

    @property
    def is_changed(self) -> bool:
        """True if the files are known to differ from those pulled."""
        return bool(self.digest and self.expected) and self.digest != self.expected


def read_checksum(line: SuiteLine) -> Checksum | None:
    """Compute the checksum of a suite's files; None if they cannot be read."""
    from console.suites.archive import tree_sha256

    expected = line.entry.source.get("digest", "") if line.entry.origin == "pulled" else ""
    try:
        return Checksum(tree_sha256(line.entry.folder, without=("suite.toml",)), expected)
    except OSError:
        return None


_MOST_WATCHED = 200
"""Maximum number of files per folder watched for changes."""


def files_stamp(lines: Sequence[SuiteLine]) -> int:
    """Return a hash of the names, sizes and times of the files of the user's own suites, to detect edits."""
    stamps: list[tuple[str, int, int]] = []
    for line in lines:
        if line.entry.origin == "user":
            for path in islice(line.entry.folder.glob("*"), _MOST_WATCHED):
                with suppress(OSError):
                    stat = path.stat()
                    stamps.append((str(path), stat.st_size, 0 if path.is_dir() else stat.st_mtime_ns))
    return hash(tuple(sorted(stamps)))


_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Ping:
    """Result of pinging a model's server."""

    at: float
    seconds: float
    good: bool
    text: str
    """Untrusted text: may quote the server's response."""
    hint: str = ""


def ping_model(name: str, models_path: Path | None) -> Ping:
    """Ping a model's server in a subprocess; errors of the server or in models.toml are part of the result."""
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
        return Ping(started_at, seconds, False, "the ping could not be run", "eval-console doctor shows why.")
