"""A program in a real terminal, made with `pty`."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time


class PseudoTerminal:
    """A real terminal of a given size with a program in it; keys in, bytes out, nothing waits without an end."""

    def __init__(self, command: list[str], size: tuple[int, int], environment: dict[str, str]) -> None:
        width, height = size
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            os.execvpe(command[0], command, environment)
        self.output = b""
        self.code: int | None = None

    def read_until(self, wanted: bytes, seconds: float = 60.0) -> bytes:
        """Read until the output since the last call holds `wanted`."""
        start, end = len(self.output), time.monotonic() + seconds
        while wanted not in self.output[start:]:
            assert time.monotonic() < end, f"no {wanted!r} in {self.output[start:][-2000:]!r}"
            assert self._read(end), f"it ended without {wanted!r}: {self.output[-2000:]!r}"
        return self.output[start:]

    def send(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def stall(self) -> None:
        """Stop the terminal: what the program writes from now on waits to be taken."""
        inside = os.open(f"/proc/{self.pid}/fd/1", os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(inside, termios.TCOOFF)
        os.close(inside)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait_unread(self) -> int:
        """Return the exit code of a program that nobody reads."""
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def wait(self, seconds: float = 60.0) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + seconds
        while self._read(end):
            assert time.monotonic() < end, "it does not end"
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does; the program goes on."""
        os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self._fd >= 0:
            os.close(self._fd)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(end - time.monotonic(), 0.0))
        if not ready:
            return True
        try:
            found = os.read(self._fd, 65_536)
        except OSError:
            return False
        self.output += found
        return bool(found)
