"""What Library finds out when asked: whether files of a suite are as they were pulled, whether a server answers."""

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


_MOST_WATCHED = 200
"""Files of one folder whose changes are noticed."""


def files_stamp(lines: Sequence[SuiteLine]) -> int:
    """Return what changes when somebody saves a file of a suite of their own: sizes and times of the folders' files."""
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
