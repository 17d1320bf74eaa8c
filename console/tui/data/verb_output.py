"""Verbs that need the network, run in a subprocess, since nothing else in the app needs it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from console.core.fault import UsageError

_TIMEOUT_S = 1200.0


def verb_output(models_path: Path | None, *words: str) -> dict[str, Any]:
    """Run a verb with a models file and return its JSON, whose strings are untrusted.

    Raises:
        UsageError: the verb failed, with its own message, or could not be run.
    """
    models = ["--models", str(models_path)] if models_path is not None else []
    answer = _run([sys.executable, "-m", "console", *models, *words, "--json"], words[0])
    if answer.get("kind") == "error":
        raise UsageError(str(answer.get("message")), where=str(answer.get("where")), hint=str(answer.get("hint")))
    return answer


def _run(command: Sequence[str], verb: str) -> dict[str, Any]:
    try:
        process = subprocess.run(  # noqa: S603  our own program
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
        return cast("dict[str, Any]", json.loads(process.stdout))
    except subprocess.TimeoutExpired:
        raise UsageError("the server did not answer in time", hint="Try again, or choose another server.") from None
    except (OSError, ValueError):
        raise UsageError(f"`{verb}` could not be run", hint="eval-console doctor shows why.") from None
