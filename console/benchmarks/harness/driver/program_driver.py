"""Driver of programs: one process per case, which calls its models at the addresses in its environment variables.

A program reads its case from standard input, as one JSON object, and prints its answer; if the last line is a JSON
object with `answer`, `score` or `scores`, that is its result.
"""

import json
import os
import signal
import subprocess
import tempfile
import threading
from typing import IO, Any

from link import Link

_MOST = 2_000_000
"""Maximum number of characters in an answer."""
_MOST_PRINTED, _MOST_COMPLAINTS = 64 << 20, 1 << 16
"""Maximum number of bytes read from the output of a program, and from its errors."""


class Programs:
    """The running processes, by token."""

    def __init__(self, link: Link) -> None:
        self._link, self._opening = link, link.opening
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def handle(self, order: dict[str, Any]) -> None:
        """Start or stop a program."""
        if order["do"] == "start":
            threading.Thread(target=self._play, args=(order,), daemon=True).start()
        elif process := self._running.pop(order["token"], None):
            process.send_signal(signal.SIGKILL)

    def _play(self, order: dict[str, Any]) -> None:
        token = order["token"]
        try:
            result = self._run(token, order["case"])
            if result is not None:
                self._link.say("finished", token=token, **result)
        except Exception as error:  # a rollout that never ends would hold up its run for ever
            self._link.say("finished", token=token, error=f"{type(error).__name__}: {error}")

    def _run(self, token: str, case: dict[str, Any]) -> dict[str, Any] | None:
        """Run a program to its end and return its result; None if it was stopped.

        It prints to files, as a process that it leaves behind may hold a pipe open forever.
        """
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaints:
            try:
                process = subprocess.Popen(  # noqa: S603 - what the user named; in the driver's group, and ended with it
                    self._opening["command"],
                    stdin=subprocess.PIPE,
                    stdout=printed,
                    stderr=complaints,
                    env={**os.environ, **self._addresses(token)},
                )
            except OSError as error:
                return {"error": f"cannot be started: {error}"}
            self._running[token] = process
            process.communicate(json.dumps(case).encode())
            if self._running.pop(token, None) is None:
                return None
            if process.returncode:
                last = (_tail(complaints, _MOST_COMPLAINTS).strip().splitlines() or [""])[-1]
                return {"error": f"ended with code {process.returncode}: {last}"[:2000]}
            if printed.seek(0, os.SEEK_END) > _MOST_PRINTED:
                return {"error": f"printed more than {_MOST_PRINTED >> 20} MiB"}
            return result_of(_tail(printed, _MOST_PRINTED), case.get("target"))

    def _addresses(self, token: str) -> dict[str, str]:
        """Return the environment variables with the addresses of the models."""
        base = f"{self._opening['gateway']}/c/{token}"
        addresses = {
            "OPENAI_BASE_URL": f"{base}/v1",
            "OPENAI_API_BASE": f"{base}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": "none",
        }
        roles = {f"{name.upper()}_BASE_URL": f"{base}/r/{role}/v1" for name, role in self._opening["roles"].items()}
        return {**addresses, **roles}


def _tail(file: IO[bytes], most: int) -> str:
    """Return the end of a program's output."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - most))
    return file.read(most).decode("utf-8", "replace")


def result_of(printed: str, target: Any) -> dict[str, Any]:
    """Return the answer and scores in a program's output; without a score, whether the answer contains the target."""
    lines = printed.strip().splitlines()
    try:
        result = json.loads(lines[-1]) if lines else {}
    except (ValueError, RecursionError):
        result = {}
    if not (isinstance(result, dict) and result.keys() & {"answer", "score", "scores"}):
        result = {"answer": printed.strip()}
    answer = result.get("answer", "")
    answer = answer if isinstance(answer, str) else json.dumps(answer)
    numbers = result.get("scores") or {}
    if not isinstance(numbers, dict):
        raise ValueError("`scores` of its last line is not an object")
    if "score" in result:
        numbers = {"score": result["score"], **numbers}
    if not numbers and target not in (None, "", []):
        targets = target if isinstance(target, list) else [target]
        numbers = {"target": float(any(str(each) in answer for each in targets))}
    scores = {name: {"value": value, "numbers": {"": value}} for name, value in numbers.items()}
    return {"answer": answer[:_MOST], "scores": scores}


def main() -> None:
    """Play cases until the engine disconnects."""
    link = Link()
    programs = Programs(link)
    link.follow(programs.handle).join()


if __name__ == "__main__":
    main()
