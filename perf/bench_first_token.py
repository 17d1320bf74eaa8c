"""From a server's first token to that text in the terminal: the real app in a pty, a real engine, a loopback server.

    python perf/bench_first_token.py [--loops 1 32] [--seconds 20] [--size 160x45]

The server notes the moment at which it sends the first piece of an answer that holds a mark of its own; the app's
pty is read until that mark comes out. `watched` is the loop whose text is shown, `rows` are the others in the list;
`first` is the very first answer of the run. Budget: 100 ms.
"""

import argparse
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from server.http1 import Exchange, frame  # noqa: E402
from server.openai_server import OpenAIServer, Scripted, chunks  # noqa: E402

PIECE_S = 0.05
"""Between two pieces of an answer: 20 a second."""
THINKS_S = 0.4
PIECES = 12
QUESTION = re.compile(r"<question>(.*?)</question>", re.DOTALL)
MARK = re.compile(rb"[A-Z]q\d{4}z")


class MarkingServer(OpenAIServer):
    """Every answer of the tested model begins with a mark; the moment it is sent is kept."""

    def __init__(self) -> None:
        super().__init__(self._script, models=("tested", "grader", "vectors"), keep=False)
        self.sent: dict[bytes, tuple[float, str]] = {}
        """When each mark was sent, and in answer to which question."""
        self._made = 0

    def _script(self, request: dict[str, Any]) -> Scripted:
        text = request["messages"][-1]["content"]
        if "<coherence_score>" in text:
            return Scripted("<coherence_score>85</coherence_score>", latency_s=0.1)
        self._made += 1
        mark = f"{chr(65 + self._made % 26)}q{self._made:04}z"
        words = " ".join(f"{mark}{number}" for number in range(PIECES))
        return Scripted(f"{mark} {words}", reasoning="", latency_s=THINKS_S + (self._made % 17) / 25, chunk=9)

    def _say(self, exchange: Exchange, request: dict[str, Any], scripted: Scripted) -> None:
        text = scripted.content or ""
        if "<coherence" in text or not request.get("stream"):
            super()._say(exchange, request, scripted)
            return
        self.in_flight -= 1
        if not exchange.alive:
            return
        events = [frame(event) for event in chunks(request, scripted)]
        exchange.begin_events()
        exchange.piece(events[0])
        mark = text.split(" ")[0].encode()
        self.sent[mark] = time.monotonic(), QUESTION.findall(request["messages"][-1]["content"])[0]

        def step(number: int) -> None:
            exchange.piece(events[number + 1])
            if number + 2 == len(events):
                exchange.piece(b"data: [DONE]\n\n")
                exchange.finish()

        exchange.every(PIECE_S, step, len(events) - 1)


class Pty:
    """A program in a pty; every mark that comes out is kept with the moment it came."""

    def __init__(self, command: list[str], size: tuple[int, int]) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            environment.pop("SSH_CONNECTION", None)
            os.chdir(ROOT)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.seen: dict[bytes, float] = {}
        self.bytes = 0
        self._tail = b""
        self._stop = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while not self._stop.is_set():
            ready, _, _ = select.select([self.fd], [], [], 0.1)
            if not ready:
                continue
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return
            now = time.monotonic()
            self.bytes += len(data)
            held = self._tail + data
            for mark in set(MARK.findall(held)):
                self.seen.setdefault(mark, now)
            self._tail = held[-16:]

    def close(self) -> None:
        self._stop.set()
        self._reader.join()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def write_files(root: Path, base_url: str, loops: int) -> None:
    tables = [
        f'[{name}]\nmodel_id = "{name}"\nbase_url = "{base_url}"\n[{name}.limits]\nconcurrency = 64\n'
        for name in ("tested", "grader", "vectors")
    ]
    (root / "models.toml").write_text("\n".join(tables))
    questions = [f"Question {number}: what else could be done?" for number in range(1, loops + 1)]
    (root / "questions.json").write_text(json.dumps(questions))


def measure(loops: int, seconds: float, size: tuple[int, int]) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder, MarkingServer() as server:
        root = Path(folder)
        write_files(root, server.base_url, loops)
        console = [sys.executable, "-m", "console"]
        places = ["--models", str(root / "models.toml"), "--runs", str(root / "runs")]
        options = ['thresholds={"embedding_dissimilarity_score": -3}', f"questions_path={root / 'questions.json'}"]
        options += ["protocol=original"]
        run = [*console, "run", "-m", "tested", "-s", "aidan-starter", "--judge", "grader", "--embedding", "vectors"]
        run += [*places, "--concurrency", str(loops), "--yes", "--quiet", "--detach"]
        run += [part for option in options for part in ("--option", option)]
        name = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
        terminal = Pty([*console, "watch", name, *places], size)
        time.sleep(3.0)
        bytes_before, cpu = terminal.bytes, child_cpu(terminal.pid)
        time.sleep(seconds)
        written, cpu = terminal.bytes - bytes_before, child_cpu(terminal.pid) - cpu
        sent = dict(server.sent)
        time.sleep(1.0)
        terminal.close()
        subprocess_stop(root / "runs" / name)
    began = min(terminal.seen.values(), default=0.0) - 0.001
    watched: list[float] = []
    rows: list[float] = []
    lost = 0
    in_sight = {question for mark, (_, question) in sent.items() if mark in terminal.seen}
    for mark, (at, question) in sent.items():
        if at < began + 2.0 or question not in in_sight:
            continue  # while the app came up, or a row below the edge of the list
        seen = terminal.seen.get(mark)
        if seen is None:
            lost += 1
            continue
        (watched if question.startswith("Question 1:") else rows).append(seen - at)
    return {
        "watched": watched,
        "rows": rows,
        "lost": [float(lost)],
        "kbps": [written / seconds / 1000],
        "cpu": [100 * cpu / seconds],
    }


def child_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def subprocess_stop(run: Path) -> None:
    """End the engine of a run, by the process id in its lock."""
    import contextlib

    from console.store.journal import JournalReader

    with contextlib.suppress(ProcessLookupError, OSError):
        opened = next(record for record in JournalReader(run / "journal.jsonl").read_new() if hasattr(record, "pid"))
        os.kill(opened.pid, signal.SIGKILL)


def share(values: list[float], part: float) -> float:
    return 1000 * sorted(values)[min(int(len(values) * part), len(values) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--size", default="160x45")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    print(
        f"first token to paint at {options.size}; budget 100 ms; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'loops':>5} {'what':10}{'answers':>9}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}{'kB/s':>8}{'CPU %':>8}")
    for loops in options.loops:
        found = measure(loops, options.seconds, (width, height))
        for what in ("watched", "rows"):
            values = found[what]
            if values:
                numbers = "".join(
                    f"{number:9.0f}" for number in (share(values, 0.5), share(values, 0.95), share(values, 1))
                )
                print(f"{loops:>5} {what:10}{len(values):>9}{numbers}{found['kbps'][0]:8.0f}{found['cpu'][0]:8.0f}")
        if found["lost"][0]:
            print(f"{loops:>5} never seen: {found['lost'][0]:.0f}")


if __name__ == "__main__":
    main()
