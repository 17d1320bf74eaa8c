"""Asking a model's server whether it answers, in a process of its own: the app never loads a model client or a key."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

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
