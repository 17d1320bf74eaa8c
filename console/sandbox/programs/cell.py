"""Runs code cells in one namespace and returns their output: the smallest program, for tests of the confinement."""

import contextlib
import io
from typing import Any

from console.sandbox.serve import Operation, Port


def start(port: Port, setup: Any) -> dict[str, Operation]:
    """Offer `run`, which executes `{"code": …}` and returns its output and the class of any exception."""
    del setup
    space: dict[str, Any] = {"port": port}

    def run(arguments: dict[str, Any]) -> dict[str, Any]:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(arguments["code"], "<cell>", "exec"), space)  # noqa: S102 - this is the sandbox
        except BaseException as error:
            return {"output": out.getvalue()[:10_000], "error": type(error).__name__, "message": str(error)[:1000]}
        return {"output": out.getvalue()[:10_000], "error": "", "message": ""}

    return {"run": run}
