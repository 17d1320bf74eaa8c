"""Key to paint, open times, streaming load and large runs of the Live and Review screens, in a real terminal (pty).

    python perf/bench_screens.py            all, about a minute
    python perf/bench_screens.py step live  only these parts

Prints what was measured beside the budget. The app runs in a process of its own; keys go in through the pty and times
are taken from the bytes that come out.
"""

import argparse
import asyncio
import fcntl
import json
import os
import pty
import resource
import select
import struct
import sys
import tempfile
import termios
import threading
import time
from math import nan
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.fake_engine import FakeEngine  # noqa: E402
from support.recorded_runs import QUESTION, Recorder, call_reply  # noqa: E402

from console.cli.history import read_overview  # noqa: E402
from console.core.chat import Reply, Usage  # noqa: E402
from console.core.live import Activity, Status  # noqa: E402
from console.core.outcome import Outcome  # noqa: E402
from console.store.runs import RunFolder  # noqa: E402

APP = """
import sys, asyncio, json, os, time, resource
from pathlib import Path
from console.tui.app import ConsoleApp
from console.config.paths import WorkspacePaths
from console.store.runs import RunFolder
place, run, out, wanted = sys.argv[1:5]
app = ConsoleApp(WorkspacePaths(runs=Path(run).parent))
marks = {}
def look():
    # When there were rows, and when the wanted counts stood on the screen; by the parent's clock.
    feed = getattr(app.screen, "feed", None)
    if feed is None or not feed.overview.rollouts:
        return
    marks.setdefault("rows", time.perf_counter())
    if feed.is_read and any(wanted in strip.text for strip in app.screen._compositor.render_strips()):
        marks["counted"] = time.perf_counter()
lags = []
async def lag():
    while True:
        due = time.perf_counter() + 0.01
        await asyncio.sleep(0.01)
        if wanted and "counted" not in marks:
            look()
        lags.append(time.perf_counter() - due)
def opened():
    marks["opened"] = time.perf_counter()
    (app.navigator.open_live if place == "live" else app.navigator.open_review)(RunFolder(Path(run)))
    if not os.environ.get("BENCH_NO_PROBE"):
        app.run_worker(lag(), exit_on_error=False)
app.call_later(opened)
app.run()
usage = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which begins with what the parent held as it forked.
held = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
now_mb, peak_mb = (int(held[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
lags.sort()
Path(out).write_text(json.dumps(marks | {
    "cpu_s": usage.ru_utime + usage.ru_stime, "rss_mb": now_mb, "peak_mb": peak_mb,
    "lag_p95_ms": 1000 * lags[int(len(lags) * 0.95)] if lags else 0,
    "lag_max_ms": 1000 * lags[-1] if lags else 0,
}))
"""


class Terminal:
    """The app in a pty; `wait` reads until some bytes have come and says when."""

    def __init__(
        self, place: str, run: Path, size: tuple[int, int] = (160, 45), wanted: str = "", *, probe: bool = True
    ) -> None:
        self.result = Path(tempfile.mkstemp(suffix=".json")[1])
        environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled
        if not probe:  # measuring the lag of the loop wakes it a hundred times a second, which is not idle
            environment["BENCH_NO_PROBE"] = "1"
        self.begun = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            command = [sys.executable, "-c", APP, place, str(run), str(self.result), wanted]
            os.execvpe(sys.executable, command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.bytes = 0

    def wait(self, wanted: bytes, seconds: float = 30.0) -> float:
        """Return seconds from now until `wanted` has come out."""
        begun, held = time.perf_counter(), b""
        while wanted not in held:
            left = begun + seconds - time.perf_counter()
            if left < 0:
                raise TimeoutError(f"no {wanted!r} in {held[-3000:]!r}")
            held += self.read(left)
        return time.perf_counter() - begun

    def read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.fd], [], [], max(seconds, 0))
        found = os.read(self.fd, 1 << 16) if ready else b""
        self.bytes += len(found)
        return found

    def quiet(self, pause_s: float = 0.15) -> None:
        """Read until nothing has come for a while."""
        while self.read(pause_s):
            pass

    def key(self, key: bytes) -> float:
        """Press a key and return the seconds until the first changed bytes came."""
        begun = time.perf_counter()
        os.write(self.fd, key)
        self.read(5.0)
        return time.perf_counter() - begun

    def end(self, *, is_live: bool = False) -> dict[str, float]:
        """Quit, leaving a live run running, and return what the app measured of itself."""
        os.write(self.fd, b"\x11")
        if is_live:
            self.wait(b"leave running")
            os.write(self.fd, b"l")
        try:
            while self.read(5.0):
                pass
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        return json.loads(self.result.read_text())


def large_run(root: Path, cases: int, failures: int) -> Path:
    recorder = Recorder(root, cases=cases, name=f"large-{cases}")
    subjects = ("unit", "location", "days", "lang", "city")
    for n in range(cases):
        key = recorder.start(f"live_multiple_{n}-{n % 7}", f"category_{n % 20}", QUESTION, question=[QUESTION] * 2)
        recorder.ask(key, f"{QUESTION} {n}", call_reply("get_current_weather", '{"location": "Chicago, IL"}'))
        if n % (cases // failures) == 0:
            recorder.finish(key, Outcome.FAILED, "value_error:string", subjects[n % 5], messages=["Invalid value."])
        else:
            recorder.finish(key, Outcome.PASSED, output=[{"get_current_weather": {"location": "Chicago, IL"}}])
    folder = recorder.close()
    folder.summary()  # as the engine leaves it, so that Home reads the sums and not the journal
    return folder.path


def talk_run(root: Path, cases: int = 100, messages: int = 20) -> Path:
    """Failures with 20-message conversations."""
    recorder = Recorder(root, cases=cases, name="talk")
    for n in range(cases):
        key = recorder.start(f"multi_turn_{n}", "multi_turn", QUESTION)
        for turn in range(messages // 2):
            asked = [{"role": "user", "content": f"{QUESTION} {turn} " * 3}]
            reply = Reply("The weather will be fine. " * 12, usage=Usage(100, 50), latency_s=1.0)
            recorder.ask(key, "", reply, n=turn + 1, turn=turn, messages=asked, prefix=2 * turn)
        recorder.finish(key, Outcome.FAILED, f"reason_{n % 6}", messages=["Invalid value."], output={"x": [1] * 50})
    return recorder.close().path


def row(what: str, measured: str, budget: str) -> None:
    print(f"{what:58} {measured:>34}   {budget}", flush=True)


def share(values: list[float], part: float) -> float:
    return 1000 * sorted(values)[min(int(len(values) * part), len(values) - 1)]


def measure_steps(root: Path) -> None:
    terminal = Terminal("review", talk_run(root))
    terminal.wait(b"1 of 100")
    terminal.quiet(0.5)
    times: list[float] = []
    for _ in range(80):
        times.append(terminal.key(b"n"))
        terminal.quiet(0.08)
    row(
        "next failure, 20 messages, 160x45: key to paint p50 / p95",
        f"{share(times, 0.5):.0f} / {share(times, 0.95):.0f} ms",
        "p95 50 (goal 20)",
    )
    fast = [terminal.key(b"v") for _ in range(20) if terminal.quiet(0.08) is None]
    row("next view: p50 / p95", f"{share(fast, 0.5):.0f} / {share(fast, 0.95):.0f} ms", "p95 50")
    begun = time.perf_counter()
    os.write(terminal.fd, b"N" * 50)
    terminal.quiet(0.25)
    row("50 queued steps settle in", f"{1000 * (time.perf_counter() - begun - 0.25):.0f} ms", "")
    row("memory", f"{terminal.end()['rss_mb']:.0f} MB", "")


def measure_large(root: Path) -> None:
    run = large_run(root, 10_000, 500)
    size = (run / "journal.jsonl").stat().st_size / 1e6
    for place, wanted, kept in (
        ("review", "1 of 500", False),
        ("review", "1 of 500", True),
        ("live", "9,500", False),
        ("live", "9,500", True),
    ):
        if kept:
            read_overview(RunFolder(run))
        else:
            RunFolder(run).index_path.unlink(missing_ok=True)
        terminal = Terminal(place, run, wanted=wanted)
        settled = time.perf_counter() + 12.0
        while time.perf_counter() < settled:
            terminal.read(0.2)
        times = [terminal.key(b"j") for _ in range(40) if terminal.quiet(0.05) is None]
        row(
            "  cursor down: p50 / p95",
            f"{share(times, 0.5):.0f} / {share(times, 0.95):.0f} ms",
            "p95 30 (list), 50 (case)",
        )
        found = terminal.end()
        rows, counted = (found.get(name, nan) - found["opened"] for name in ("rows", "counted"))
        how = "kept" if kept else "read"
        row(
            f"  {place}, 10,000 cases, {size:.0f} MB {how}: rows / all counted",
            f"{rows:.2f} / {counted:.2f} s",
            "0.2 / 1 s",
        )
        row(
            "  CPU of the whole process, longest stall, memory (most)",
            f"{found['cpu_s']:.2f} s, {found['lag_max_ms']:.0f} ms, {found['rss_mb']:.0f} ({found['peak_mb']:.0f}) MB",
            "RSS 2.5 x hello (83)",
        )


def measure_search(root: Path) -> None:
    """Keys while a text is looked for in everything that 100,000 conversations hold."""
    run = large_run(root, 100_000, 100_000)
    read_overview(RunFolder(run))
    terminal = Terminal("review", run, wanted="1 of 100")
    settled = time.perf_counter() + 8.0
    while time.perf_counter() < settled:
        terminal.read(0.2)
    os.write(terminal.fd, b"/")
    terminal.quiet(0.3)
    times: list[float] = []
    for letter in b"chicago":
        times.append(terminal.key(bytes([letter])))
        time.sleep(0.1)
    times.append(terminal.key(b"\r"))
    begun = time.perf_counter()
    while time.perf_counter() - begun < 8.0:
        times.append(terminal.key(b"j"))
        time.sleep(0.05)
    found = terminal.end()
    row(
        f"keys while 100,000 rollouts are searched ({len(times)}): p50 / p95 / most",
        f"{share(times, 0.5):.0f} / {share(times, 0.95):.0f} / {1000 * max(times):.0f} ms",
        "p95 50",
    )
    row(
        "  CPU, stall p95, longest stall, memory (most)",
        f"{found['cpu_s']:.1f} s, {found['lag_p95_ms']:.0f} ms, {found['lag_max_ms']:.0f} ms, "
        f"{found['rss_mb']:.0f} ({found['peak_mb']:.0f}) MB",
        "150 MB",
    )


async def stream(engine: FakeEngine, count: int, rate: int, ready: threading.Event, stop: threading.Event) -> None:
    """Play `count` conversations that write `rate` tokens a second each, until told to stop."""
    async with engine:
        keys = [engine.recorder.start(f"case-{n}", title=QUESTION) for n in range(count)]
        engine.status = Status("running", count, [Activity(key, "streaming") for key in keys])
        for key in keys:
            engine.begin(key, messages=[{"role": "user", "content": QUESTION}])
        ready.set()
        written = 0
        begun = time.monotonic()
        while not stop.is_set():
            due = int((time.monotonic() - begun) * rate)
            for key in keys:
                for n in range(written, due):
                    engine.publisher.text(key, 1, "text", f" word{n % 97}" if n % 25 else "\n")
            written = due
            await asyncio.sleep(0.02)


def measure_live(root: Path, count: int, rate: int, seconds: float = 12.0) -> None:
    engine = FakeEngine(root / f"live{count}", cases=count)
    ready, stop = threading.Event(), threading.Event()
    player = threading.Thread(target=lambda: asyncio.run(stream(engine, count, rate, ready, stop)))
    player.start()
    ready.wait()
    terminal = Terminal("live", engine.recorder.folder.path)
    terminal.wait(b"streaming")
    cpu = child_cpu(terminal.pid)
    terminal.bytes, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        terminal.read(0.05)
    spent, bytes_out = child_cpu(terminal.pid) - cpu, terminal.bytes
    found = terminal.end(is_live=True)
    stop.set()
    player.join()
    row(
        f"{count} conversations x {rate} tok/s: share of a core",
        f"{100 * spent / seconds:.0f} %",
        "20 % at 16, 30 % at 64 (goal 12)",
    )
    row("  loop lag p95 / max", f"{found['lag_p95_ms']:.1f} / {found['lag_max_ms']:.0f} ms", "p95 15 at 16, 30 at 64")
    row("  bytes to the terminal", f"{bytes_out / seconds / 1000:.0f} kB/s", "100")


def child_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_idle(root: Path) -> None:
    terminal = Terminal("review", talk_run(root / "idle", 20), probe=False)
    terminal.wait(b"1 of 20")
    settled = time.perf_counter() + 4
    while time.perf_counter() < settled:
        terminal.read(0.2)
    terminal.bytes, cpu = 0, child_cpu(terminal.pid)
    end = time.perf_counter() + 10
    while time.perf_counter() < end:
        terminal.read(0.2)
    row(
        "idle for 10 s: share of a core, bytes",
        f"{100 * (child_cpu(terminal.pid) - cpu) / 10:.1f} %, {terminal.bytes}",
        "1 %, 0",
    )
    terminal.end()


PARTS = {
    "step": lambda root: measure_steps(root),
    "large": measure_large,
    "search": measure_search,
    "live": lambda root: [measure_live(root, 16, 50), measure_live(root, 64, 50)],
    "idle": measure_idle,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    chosen = parser.parse_args().part
    if unknown := [part for part in chosen if part not in PARTS]:
        parser.error(f"no part is named {unknown[0]}")
    print(f"{'what':58} {'measured':>34}   budget")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            PARTS[name](Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(measured from a process of {peak:.0f} MB on {os.cpu_count()} cores)")


if __name__ == "__main__":
    main()
