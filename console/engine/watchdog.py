"""A small process that ends an engine whose interpreter has stopped, which the engine itself cannot notice.

When memory runs out, or C code never returns, Python may wait for a lock forever without handling signals. The engine
writes a byte whenever its signal handlers run (see `stall_limit`); if none arrives for long, this process reports it
and kills the engine. It does the same if a suite's code has closed the engine's files. The run can be resumed.

This file is also the program of that process: it is started by path, and imports nothing of the package.
"""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

WITHOUT_FILES_S = 2.0
"""Seconds that an engine may live after its end of the pipe has closed; a normal exit takes much less."""
_CLOSED = (
    "eval-console: the engine's own files were closed by the code of the suite, and it was ended\n"
    "  Finished cases are kept; `eval-console resume` continues the run.\n"
)
_SENTENCE = (
    "eval-console: the engine did not react for {seconds:g} s and was ended (is there too little memory?)\n"
    "  Finished cases are kept; `eval-console resume` continues the run.\n"
)


class Watchdog:
    """The engine's side: start it, call `beat` at least every `limit_s`, and `close` it."""

    def __init__(self, limit_s: float) -> None:
        """Start the process; if the system refuses to, the run continues without a watchdog."""
        command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(limit_s)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=_messages_to(),
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            self._process = None

    def beat(self) -> None:
        """Report that signals are handled."""
        if self._process is not None and self._process.stdin is not None:
            try:
                os.write(self._process.stdin.fileno(), b".")
            except BrokenPipeError:  # the watchdog was killed
                self.close()
            except OSError:  # the pipe was closed here, which it notices
                self._process = None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _messages_to() -> int:
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):  # it was replaced by one without a descriptor
        return subprocess.DEVNULL


def _watch(pid: int, limit_s: float) -> None:
    """Wait until the engine ends or stops responding, and end it in that case."""
    last = time.monotonic()
    while True:
        ready, _, _ = select.select([0], [], [], limit_s / 8)
        now = time.monotonic()
        if ready:
            if not os.read(0, 4096):
                time.sleep(WITHOUT_FILES_S)
                if os.getppid() == pid:
                    os.write(2, _CLOSED.encode())
                    os.kill(pid, signal.SIGKILL)
                return
            last = now
        elif os.getppid() != pid:
            return
        elif _is_suspended(pid):
            last = now
        elif now - last >= limit_s:
            os.write(2, _SENTENCE.format(seconds=limit_s).encode())
            os.kill(pid, signal.SIGKILL)
            return


def _is_suspended(pid: int) -> bool:
    """Return whether a process is stopped, traced, or waiting for a device, and so not to blame."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        command = ["/bin/ps", "-o", "state=", "-p", str(pid)]
        state = subprocess.run(command, capture_output=True, check=False).stdout.strip()  # noqa: S603
    return state[:1] in (b"T", b"t", b"D", b"U")


if __name__ == "__main__":
    _watch(int(sys.argv[1]), float(sys.argv[2]))
