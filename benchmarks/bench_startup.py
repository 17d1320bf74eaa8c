"""From command to first painted frame, and from quit key to exit, beside the smallest Textual app, in a real terminal.

Run it with the Python of the environment. Prints medians in milliseconds, the ratio to hello, the modules loaded at
the first frame that must not be, and the resident memory then. Targets: frame at most 1.8 (goal 1.4) times hello's,
quit at most 1.5 (goal 1.2) times.
"""

import argparse
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELLO = """
from textual.app import App, ComposeResult
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("hello-is-painted")
    def on_key(self, event):
        if event.key == "q":
            self.exit()
Hello().run()
"""
CONSOLE = """
import sys
from console.cli.main import run
sys.exit(run(["--runs", sys.argv[1]]))
"""
MODULES = """
import sys
from console.tui.app import ConsoleApp
paint = ConsoleApp.on_mount
def on_mount(self):
    paint(self)
    heavy = {"litellm", "openai", "numpy", "pydantic", "aiohttp"} & set(sys.modules)
    open(sys.argv[2], "w").write(f"{len(sys.modules)} modules, heavy: {sorted(heavy) or 'none'}")
ConsoleApp.on_mount = on_mount
"""


@dataclass
class Timing:
    """One start, in seconds and megabytes."""

    frame_s: float
    cpu_s: float
    """CPU of the process up to the first frame; steadier than the clock on a busy machine."""
    quit_s: float
    memory_mb: float


def start(code: str, sign: bytes, key: bytes, *arguments: str, bytecode: bool = True) -> Timing:
    """Start a program in a 120×40 terminal, wait for the sign, press the key, wait for the end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    for name in ("PYTHONDONTWRITEBYTECODE", "COLUMNS", "LINES"):
        environment.pop(name, None)
    if not bytecode:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": tempfile.mkdtemp()}
    began = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execve(sys.executable, [sys.executable, "-c", code, *arguments], environment)
    _read_until(fd, sign)
    painted = time.perf_counter()
    ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[11:13]
    cpu_s = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    memory_mb = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    _drain(fd, 0.6)
    os.write(fd, key)
    pressed = time.perf_counter()
    _read_until(fd, None)
    os.waitpid(pid, 0)
    ended = time.perf_counter()
    os.close(fd)
    return Timing(painted - began, cpu_s, ended - pressed, memory_mb)


def _read_until(fd: int, sign: bytes | None) -> None:
    """Read until the sign has come; None: until the program is gone."""
    seen = b""
    while sign is None or sign not in seen:
        try:
            found = os.read(fd, 65_536)
        except OSError:
            found = b""
        if not found:
            if sign is None:
                return
            raise SystemExit(f"it ended without painting: {seen[-500:]!r}")
        seen += found


def _drain(fd: int, seconds: float) -> None:
    """Let the program come to rest, reading what it still paints."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 65_536)


def main() -> None:
    """Measure both and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", default=str(ROOT / "runs"), help="runs folder to open with")
    parser.add_argument("--no-bytecode", action="store_true", help="without any .pyc file")
    args = parser.parse_args()
    bytecode = not args.no_bytecode
    hello, console = [], []
    for _ in range(args.rounds + 1):
        hello.append(start(HELLO, b"hello-is-painted", b"q", bytecode=bytecode))
        console.append(start(CONSOLE, b"Try the demo", b"\x11", args.runs, bytecode=bytecode))
    for what in ("frame_s", "cpu_s", "quit_s"):
        one = statistics.median(getattr(timing, what) for timing in hello[1:])
        other = statistics.median(getattr(timing, what) for timing in console[1:])
        print(f"{what[:-2]:6} hello {one * 1000:5.0f} ms   console {other * 1000:5.0f} ms   {other / one:4.2f} ×")
    print(f"memory at first frame: hello {hello[-1].memory_mb:.0f} MB, console {console[-1].memory_mb:.0f} MB")
    with tempfile.NamedTemporaryFile() as note:
        start(MODULES + CONSOLE, b"Try the demo", b"\x11", args.runs, note.name)
        print(Path(note.name).read_text())


if __name__ == "__main__":
    main()
