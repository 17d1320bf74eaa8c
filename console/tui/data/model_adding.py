"""`models add` in a subprocess, since the app needs the network for nothing else."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from console.core.fault import UsageError

_TIMEOUT_S = 300.0


def add_model_words(models_path: Path | None, *words: str) -> list[str]:
    """Return the arguments of `models add` for a models file."""
    return [*(["--models", str(models_path)] if models_path is not None else []), "models", "add", *words]


def run_add_model(models_path: Path | None, *words: str) -> dict[str, Any]:
    """Run `models add` and return its JSON, whose texts are foreign.

    Raises:
        UsageError: it refused, with its own message, or could not be run.
    """
    command = [sys.executable, "-m", "console", *add_model_words(models_path, *words), "--json"]
    answer = _run(command)
    if answer.get("kind") == "error":
        raise UsageError(str(answer.get("message")), where=str(answer.get("where")), hint=str(answer.get("hint")))
    return answer


def _run(command: Sequence[str]) -> dict[str, Any]:
    try:
        process = subprocess.run(  # noqa: S603  our own program
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        return cast("dict[str, Any]", json.loads(process.stdout))
    except subprocess.TimeoutExpired:
        raise UsageError("the server did not answer in time", hint="Try again, or choose another server.") from None
    except (OSError, ValueError):
        raise UsageError("`models add` could not be run", hint="eval-console doctor shows why.") from None
