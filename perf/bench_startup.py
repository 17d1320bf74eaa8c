"""From the command to what a reader waits for, and from the quit key to the exit, beside the smallest Textual app.

Starts whole programs in a real terminal (pty), one after the other, and prints medians and their ratio to hello's:

    frame       Home is painted: at most 1.8 (goal 1.4) times hello
    home        Home is complete, the last suite is listed: at most 1.8
    runs        Home of 1,111 runs is complete, their number and the last suite are drawn: at most 2 times hello
    review      `review RUN`: the first failing case of 10,000 rollouts, expected beside actual: at most 2.5;
                of 100,000 (--rollouts) at most 1.2 s and 150 MB
    quit        from the quit key to the exit: at most 1.5 (goal 1.2)

`--checkout PATH` measures another checkout of this project in the same rounds, so that two versions can be compared.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import shutil
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from console.config.paths import find_data_roots  # noqa: E402
from console.core.case import Key, Setting  # noqa: E402
from console.core.chat import Reply, Usage  # noqa: E402
from console.core.record import Asked, Closed, Finished, Opened, Started  # noqa: E402
from console.core.run import Manifest, ModelFacts, Selection  # noqa: E402
from console.store.journal import JournalWriter  # noqa: E402
from console.store.runs import create_run  # noqa: E402
from console.suites.catalog import Catalog  # noqa: E402
from console.suites.selection import select_cases  # noqa: E402

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
CONSOLE = "import sys; from console.__main__ import main; sys.exit(main())"
"""What the installed command `eval-console` runs."""
HEAVY = """
import sys
note = sys.argv.pop()
from console.tui.app import ConsoleApp
paint = ConsoleApp.on_mount
def on_mount(self):
    paint(self)
    heavy = {"litellm", "openai", "numpy", "pydantic", "aiohttp"} & set(sys.modules)
    open(note, "w").write(f"{len(sys.modules)} modules, heavy: {sorted(heavy) or 'none'}")
ConsoleApp.on_mount = on_mount
"""
SUITE = "bfcl-starter"
RUN = "large"
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")
STARTS: dict[str, tuple[tuple[str, ...], tuple[bytes, ...]]] = {
    "frame": ((), (b"Try the demo",)),
    "home": ((), (b"cav",)),
    "runs": ((), (b"111", b"cav")),
    "review": (("review", RUN), (b"actual",)),
}
"""Arguments of the command, and the texts on the screen that end the measurement."""
_SYNCED_EVERY = 10_000
"""Rollouts between two syncs of a journal."""
MANY = 1_111
"""Runs of the folder that `runs` opens; three digits of it are drawn together, whatever was there before."""


@dataclass
class Timing:
    """One start, in seconds and megabytes."""

    shown_s: float
    cpu_s: float
    """CPU of the process until then; steadier than the clock on a busy machine."""
    quit_s: float
    memory_mb: float


def start(
    checkout: Path, code: str, signs: tuple[bytes, ...], key: bytes, *arguments: str, bytecode: bool = True
) -> Timing:
    """Start a program in a 120×40 terminal, wait for texts on the screen, press the quit key, wait for the end."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "TERM": "xterm-256color"}
    for name in ("PYTHONDONTWRITEBYTECODE", "COLUMNS", "LINES"):
        environment.pop(name, None)
    if not bytecode:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": tempfile.mkdtemp()}
    began = time.perf_counter()
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(checkout)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execve(sys.executable, [sys.executable, "-c", code, *arguments], environment)
    _read_until(fd, signs)
    shown = time.perf_counter()
    cpu_s = time.clock_gettime(~pid << 3 | 2)  # the process's CPU clock (clock_getcpuclockid), ticks are too coarse
    memory_mb = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    _drain(fd, 0.6)
    os.write(fd, key)
    pressed = time.perf_counter()
    _read_until(fd, ())
    os.waitpid(pid, 0)
    ended = time.perf_counter()
    os.close(fd)
    return Timing(shown - began, cpu_s, ended - pressed, memory_mb)


def _read_until(fd: int, signs: tuple[bytes, ...]) -> None:
    """Read until these texts have been drawn, in any case; none: until the program is gone."""
    seen = b""
    deadline = time.perf_counter() + 30
    while not signs or any(sign.lower() not in CONTROL.sub(b"", seen).lower() for sign in signs):
        if time.perf_counter() > deadline:
            raise SystemExit(f"{signs!r} were not drawn within 30 s: {seen[-500:]!r}")
        if not select.select([fd], [], [], 1.0)[0]:
            continue
        try:
            piece = os.read(fd, 65_536)
        except OSError:
            piece = b""
        if not piece:
            if not signs:
                return
            raise SystemExit(f"it ended without drawing {signs!r}: {seen[-500:]!r}")
        seen += piece


def _drain(fd: int, seconds: float) -> None:
    """Let the program come to rest, reading what it still paints."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 65_536)


def record_run(root: Path, rollouts: int) -> None:
    """Write a finished run of the bundled function-calling suite, one wrong answer to each rollout."""
    suite, setting = Catalog(find_data_roots(ROOT / "data")).open(SUITE), Setting()
    cases = select_cases(suite, Selection(), setting)
    repeats = -(-rollouts // len(cases))
    model = ModelFacts("gpt-x", price_in=1.0, price_out=2.0)
    folder = create_run(root, Manifest(RUN, 1e9, SUITE, model, setting, rollouts=repeats, cases=rollouts))
    writer, at, answer = JournalWriter(folder.journal_path), 1e9, "[no_such_function(x=1)]"
    verdicts = [suite.score(case, answer, setting) for case in cases]
    writer.append(Opened(at=at, pid=1))
    for number in range(rollouts):
        if number % _SYNCED_EVERY == 0:
            writer.sync()  # else the writer keeps every line, for the case that syncing fails
        case = cases[number % len(cases)]
        key, at = Key(case.id, number // len(cases)), at + 1.0
        reply = Reply(answer, usage=Usage(900, 40), latency_s=1.0)
        message = {"role": "user", "content": case.title}
        writer.append(Started(at=at, key=key, case=case))
        writer.append(Asked(at=at, key=key, n=1, digest=f"{number}", reply=reply, messages=[message]))
        verdict = verdicts[number % len(cases)]
        writer.append(
            Finished(at=at, key=key, verdict=verdict, output=answer, seconds=1.0, input_tokens=900, output_tokens=40)
        )
    writer.append(Closed(at=at, reason="completed"))
    writer.close()
    folder.summary()


def copy_runs(root: Path, many: Path) -> None:
    """Write as many runs as are listed in `runs`, each with a name and a time of its own."""
    manifest, summary = (json.loads((root / RUN / name).read_bytes()) for name in ("run.json", "summary.json"))
    journal = (root / RUN / "journal.jsonl").read_bytes()
    for number in range(MANY):
        run = many / f"2026-01-01T0000-gpt-x-{number:04x}"
        run.mkdir(parents=True)
        changes = {"id": run.name, "at": manifest["at"] + number}
        (run / "run.json").write_text(json.dumps(manifest | changes))
        (run / "summary.json").write_text(json.dumps(summary | changes))
        (run / "journal.jsonl").write_bytes(journal)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rollouts", type=int, default=10_000, help="rollouts of the run that is reviewed")
    parser.add_argument("--checkout", type=Path, action="append", default=[], help="another version to measure")
    parser.add_argument("--no-bytecode", action="store_true", help="without any .pyc file")
    args = parser.parse_args()
    bytecode = not args.no_bytecode
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        runs = Path(folder) / "runs"
        record_run(runs, args.rollouts)
        record_run(Path(folder) / "short", 20)
        copy_runs(Path(folder) / "short", Path(folder) / "many")
        checkouts = {ROOT: runs}  # each has runs of its own: an index that another version saved is not read
        for number, checkout in enumerate(args.checkout):
            checkouts[checkout.resolve()] = shutil.copytree(runs, Path(folder) / f"runs-{number}")
        # Everything is started once before it counts: bytecode is compiled, and the run's index is written.
        timings: dict[tuple[str, str], list[Timing]] = defaultdict(list)
        for _ in range(args.rounds + 1):
            timings["hello", ""].append(start(ROOT, HELLO, (b"hello-is-painted",), b"q", bytecode=bytecode))
            for checkout, own_runs in checkouts.items():
                for name, (arguments, signs) in STARTS.items():
                    command = ("--runs", f"{folder}/many" if name == "runs" else str(own_runs), *arguments)
                    timing = start(checkout, CONSOLE, signs, b"\x11", *command, bytecode=bytecode)
                    timings[name, str(checkout)].append(timing)
        note = Path(folder) / "modules"
        start(ROOT, HEAVY + CONSOLE, (b"Try the demo",), b"\x11", "--runs", str(runs), str(note))
        modules = note.read_text()
    hello = timings.pop(("hello", ""))
    print(f"{'':7} {'shown':>9} {'':>7} {'CPU':>9} {'':>7} {'quit':>9} {'':>7} {'memory':>9}")
    for (name, checkout), measured in [(("hello", ""), hello), *timings.items()]:
        cells = [name.ljust(7)]
        for figure in ("shown_s", "cpu_s", "quit_s"):
            value, base = (
                statistics.median(getattr(timing, figure) for timing in some[1:]) for some in (measured, hello)
            )
            cells.append(f"{value * 1000:6.0f} ms {value / base:5.2f} ×")
        memory_mb = statistics.median(timing.memory_mb for timing in measured[1:])
        print(" ".join(cells), f"{memory_mb:6.0f} MB", checkout if args.checkout else "")
    print(f"at the first frame: {modules}")


if __name__ == "__main__":
    main()
