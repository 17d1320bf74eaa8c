"""Driver of programs: one process per case, which calls its models at the addresses in its environment variables.

A program reads its case from standard input, as one JSON object, and prints its answer; if the last line is a JSON
object with `answer`, `score` or `scores`, that is its result.
"""

import json
import os
import signal
import subprocess
import threading
from typing import Any

from link import Link

_MOST = 2_000_000
"""Maximum characters of an answer."""


class Programs:
    """The processes that run, by token."""

    def __init__(self, link: Link) -> None:
        self._link, self._opening = link, link.opening
        self._running: dict[str, subprocess.Popen[str]] = {}

    def obey(self, order: dict[str, Any]) -> None:
        """Start or stop a program."""
        if order["do"] == "start":
            threading.Thread(target=self._play, args=(order,), daemon=True).start()
        elif process := self._running.pop(order["token"], None):
            process.send_signal(signal.SIGKILL)

    def _play(self, order: dict[str, Any]) -> None:
        token = order["token"]
        try:
            process = subprocess.Popen(  # noqa: S603 - what the user named; in the group of the driver, and ended with it
                self._opening["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **self._addresses(token)},
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._link.say("finished", token=token, error=f"cannot be started: {error}")
            return
        self._running[token] = process
        printed, complaints = process.communicate(json.dumps(order["case"]))
        if self._running.pop(token, None) is None:
            return  # stopped
        result = result_of(printed, order["case"].get("target"))
        if process.returncode:
            last = (complaints.strip().splitlines() or [""])[-1]
            result["error"] = f"ended with code {process.returncode}: {last}"[:2000]
        self._link.say("finished", token=token, **result)

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


def result_of(printed: str, target: Any) -> dict[str, Any]:
    """Return answer and scores in a program's output; the default score: whether the answer contains the target."""
    lines = printed.strip().splitlines()
    try:
        result = json.loads(lines[-1]) if lines else {}
    except ValueError:
        result = {}
    if not (isinstance(result, dict) and result.keys() & {"answer", "score", "scores"}):
        result = {"answer": printed.strip()}
    answer = result.get("answer", "")
    answer = answer if isinstance(answer, str) else json.dumps(answer)
    numbers = dict(result.get("scores") or {})
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
    link.follow(programs.obey).join()


if __name__ == "__main__":
    main()
