"""Asking a model's server whether it answers, in a process of its own: the app never loads a model client or a key."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from console.tui.screens.library.details import Ping

_PATIENCE_S = 60.0


def ping(name: str, models: Path | None) -> Ping:
    """Ask, and return what came of it; never raises for what the server or the file says."""
    begun = time.time()
    given = ["--models", str(models)] if models is not None else []
    command = [sys.executable, "-m", "console", "models", *given, "--json", f"--ping={name}"]
    try:
        done = subprocess.run(  # noqa: S603  our own program
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, stdin=subprocess.DEVNULL
        )
        found = cast("dict[str, Any]", json.loads(done.stdout))
        return Ping(begun, float(found["seconds"]), bool(found["good"]), str(found["text"]), str(found["hint"]))
    except subprocess.TimeoutExpired:
        return Ping(begun, _PATIENCE_S, False, "no answer")
    except (OSError, ValueError, KeyError, TypeError):
        return Ping(begun, time.time() - begun, False, "it could not be asked", "eval-console doctor says why.")
