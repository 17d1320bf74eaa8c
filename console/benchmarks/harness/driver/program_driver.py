"""Driver of a program: one process per case, which calls its models at the addresses in its environment variables.

A program reads its case from standard input, as one JSON object, and prints its answer; if the last line is a JSON
object with `answer`, `score` or `scores`, that is its result. A keeper, the parent of the driver, ends the program and
all that it started as soon as the driver ends, even if the program kills it, or the engine disconnects.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import types
from typing import IO, Any

package = types.ModuleType("console")
package.__path__ = [sys.argv[1]]
sys.modules["console"] = package  # its parent folder may contain the user's files and is never listed

from link import Link  # noqa: E402

from console.sandbox import keeper  # noqa: E402

_MOST = 2_000_000
"""Maximum number of characters in an answer."""
_MOST_COMPLAINTS = 1 << 16
"""Number of bytes kept of the end of a program's errors."""
_PART = 1 << 16
_LONGEST_NAME = 200
"""Maximum number of characters in the name of a score."""
_LOOKED_EVERY_S = 1.0
"""Seconds between counts of a program's processes."""
_KEEPER = os.getpid()
_MARK = f"EVAL_CONSOLE_KEEPER={_KEEPER}-{time.time_ns()}"
"""A variable in the environment of everything that the program starts."""


class OverLimit(Exception):
    """The program exceeded a limit; the message says which."""


class Program:
    """One program from its start to its end."""

    def __init__(self, process: subprocess.Popen[bytes], case: bytes, printed: IO[bytes], limits: dict[str, Any]):
        self._process, self._unread, self._printed, self._limits = process, memoryview(case), printed, limits
        self.complaints = b""
        self._written = 0
        self._next_look = time.monotonic() + _LOOKED_EVERY_S
        self._waiting = select.poll()
        self._ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        os.set_blocking(process.stdin.fileno(), False)
        self._waiting.register(process.stdin, select.POLLOUT)
        for stream in (process.stdout, process.stderr, self._ended):
            self._waiting.register(stream, select.POLLIN)

    def run(self) -> int:
        """Wait for its end, and return its exit code.

        A process that it leaves behind may hold its output open, so that does not delay the end.

        Raises:
            OverLimit: it printed too much, or has too many processes.
        """
        code = None
        while True:
            ready = {number for number, _ in self._waiting.poll(_LOOKED_EVERY_S * 1000)}
            outputs = ready & {self._process.stdout.fileno(), self._process.stderr.fileno()}
            if self._ended in ready:
                os.read(self._ended, _PART)
            if ready - outputs - {self._ended}:
                self._write()
            for output in outputs:
                self._read(output)
            if code is not None and not outputs:
                return code
            code = keeper.reap(self._process.pid) if code is None else code
            self._look()

    def _write(self) -> None:
        """Write a part of the case, or nothing more if the program does not read it."""
        try:
            self._unread = self._unread[os.write(self._process.stdin.fileno(), self._unread[:_PART]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unread = self._unread[:0]
        if not self._unread:
            self._waiting.unregister(self._process.stdin)
            self._process.stdin.close()

    def _read(self, output: int) -> None:
        part = os.read(output, _PART)
        if not part:
            self._waiting.unregister(output)
        self._written += len(part)
        if self._written > self._limits["output_mib"] << 20:
            raise OverLimit(f"printed more than {self._limits['output_mib']} MiB")
        if output == self._process.stdout.fileno():
            self._printed.write(part)
        else:
            self.complaints = (self.complaints + part)[-_MOST_COMPLAINTS:]

    def _look(self) -> None:
        """Count the program's processes from time to time, and end them if the keeper is gone."""
        if time.monotonic() < self._next_look:
            return
        if os.getppid() != _KEEPER:
            keeper.end_descendants(_MARK)
            os._exit(1)
        if len(keeper.descendants(os.getpid())) > self._limits["processes"]:
            raise OverLimit(f"has more than {self._limits['processes']} processes")
        self._next_look = time.monotonic() + _LOOKED_EVERY_S


def play(opening: dict[str, Any], token: str, case: dict[str, Any]) -> dict[str, Any]:
    """Run a program to its end and return its result."""
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(  # noqa: S603 - what the user named
                opening["command"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **addresses(opening, token), **dict([_MARK.split("=")])},
                start_new_session=True,
            )
        except OSError as error:
            return {"error": f"{opening['command'][0]} cannot be started: {error.strerror}"}
        program = Program(process, json.dumps(case).encode(), printed, opening["limits"])
        try:
            code = program.run()
        except OverLimit as over:
            return {"error": f"{over} ([limits] in suite.toml)", "limit": "program"}
        except OSError as error:
            return {"error": f"its output cannot be stored: {error.strerror}"}
        finally:
            keeper.end_descendants(_MARK)
        if code:
            cause = f"signal {code - 128}" if code > 128 else f"code {code}"
            last = (program.complaints.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
            return {"error": f"ended with {cause}{': ' if last else ''}{last}"[:2000]}
        printed.seek(0)
        return result_of(printed.read().decode("utf-8", "replace"), case.get("target"))


def addresses(opening: dict[str, Any], token: str) -> dict[str, str]:
    """Return the environment variables with the addresses of the models."""
    base = f"{opening['gateway']}/c/{token}"
    fixed = {
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_BASE": f"{base}/v1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "none",
    }
    return fixed | {f"{name.upper()}_BASE_URL": f"{base}/r/{role}/v1" for name, role in opening["roles"].items()}


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
    scores = {name[:_LONGEST_NAME]: {"value": value, "numbers": {"": value}} for name, value in numbers.items()}
    return {"answer": answer[:_MOST], "scores": scores}


def main() -> None:
    """Play the case that the engine sends, in a process of its own, until the engine disconnects."""
    keeper.adopt_orphans()
    driver = os.fork()
    if driver:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        keeper.watch(driver, leash_events=0, mark=_MARK)
    os.setpgid(0, 0)
    keeper.adopt_orphans()
    link = Link()
    order = link.read()
    token = order["token"]
    try:
        result = play(link.opening, token, order["case"])
    except Exception as error:  # a rollout that never ends would hold up its run for ever
        result = {"error": f"{type(error).__name__}: {error}"}
    link.say("finished", token=token, **result)
    link.read()


if __name__ == "__main__":
    main()
