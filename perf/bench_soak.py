"""Long and large: what a run of very many cases, a list of very many runs and very many streams do to one machine.

    python perf/bench_soak.py [--cases 10000] [--rollouts 1000000] [--runs 1000] [--streams 64] [--minutes 10]

Server, engine and readers are processes of their own. Prints figures and ends with 1 when something was lost or leaks:
a case without a verdict, memory that grows with more than a case's own record, tasks or descriptors left at the end, an
engine of a million rollouts that needs more than 200 MB, or notably more CPU for each than one of a thousand.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.lookup_suite import write_models, write_suite  # noqa: E402

from console.core.live import Deltas  # noqa: E402
from console.engine.attach import EngineLink  # noqa: E402

ENOUGH = 5_000
"""Cases from which on memory per case can be told from that of warming up."""
BYTES_PER_CASE = 20_000
"""Memory that one more case may cost: its record of the end, held once for the counts and once for the report."""
MOST_ENGINE_MB = 200
"""Memory that an engine may need until its run is closed, whatever the number of rollouts."""
MOST_RATIO = 1.25
"""CPU that a rollout of a large run may take, beside one of a run of 1,000; the noise of a busy machine included."""
CONSOLE = """
import asyncio, json, os, sys, time
from pathlib import Path
from console.engine.engine import Engine
from console.llm.limits.keeper_socket import LocalKeepers
original, left_keepers = Engine.run, LocalKeepers.aclose
counts = []
def count():
    return {"tasks": len(asyncio.all_tasks()), "descriptors": len(os.listdir("/proc/self/fd"))}
async def run(self):
    counts.append(count())
    return await original(self)
async def leave(self):  # an endpoint's limits are shared for as long as the process plays runs
    await left_keepers(self)
    await asyncio.sleep(0.05)
    peak_mb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1000
    used = {"engine_mb": peak_mb, "engine_s": time.process_time()}
    print(json.dumps({"before": counts[0], "after": count(), "used": used}), file=sys.stderr)
Engine.run, LocalKeepers.aclose = run, leave
from console.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@dataclass
class Seen:
    """What a process was seen to use, while it ran."""

    megabytes: list[float] = field(default_factory=list[float])
    descriptors: list[int] = field(default_factory=list[int])
    left: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Tasks and descriptors before and after, and memory and CPU of the engine, without report and index."""
    wall_s: float = 0.0
    code: int | None = None

    @property
    def leaks(self) -> dict[str, int]:
        """What is there at the end and was not at the beginning."""
        return {name: self.left["after"][name] - self.left["before"][name] for name in self.left["before"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rollouts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        failures = many_cases(folder / "cases", options.cases)
        failures += many_rollouts(folder / "rollouts", options.rollouts)
        failures += many_runs(folder / "runs", options.runs)
        failures += many_streams(folder / "streams", options.streams, options.minutes)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


def many_cases(folder: Path, count: int) -> list[str]:
    """Play many short cases in one run; memory is looked at after a fifth of them and at the end."""
    with server(folder, "--tokens", "5", "--latency-ms", "2") as url:
        data = write_suite(folder / "data", count)
        write_models(folder, url)
        process = console(folder, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", "64", "--yes", "--json")
        seen = Observer(process).result()
    summary = json.loads(Path(folder / "out").read_text())["summary"]
    run = next((folder / "runs").iterdir())
    size = (run / "journal.jsonl").stat().st_size
    fifth = seen.megabytes[len(seen.megabytes) // 5]
    grown = (max(seen.megabytes) - fifth) * 1e6 / (count * 0.8)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "console", "show", run.name], env=env(), cwd=folder, capture_output=True)
    show_s = time.perf_counter() - began
    print(
        f"{count} cases in one run: {seen.wall_s:.0f} s, {count / seen.wall_s:.0f} cases/s, journal {size / 1e6:.1f} MB"
    )
    print(f"  memory {fifth:.0f} MB after a fifth, {max(seen.megabytes):.0f} MB at most: {grown / 1000:.1f} kB a case")
    print(f"  descriptors at most {max(seen.descriptors)}; left at the end: {seen.leaks}; `show` {show_s:.2f} s")
    tally = summary["tally"]
    ended = tally.get("failed", 0) + tally.get("passed", 0)
    return [
        *([f"{count - ended} of {count} cases have no verdict"] if ended != count else []),
        *([f"memory grows by {grown:.0f} bytes a case"] if count >= ENOUGH and grown > BYTES_PER_CASE else []),
        *leaked(seen),
    ]


def many_rollouts(folder: Path, count: int) -> list[str]:
    """Let a simulated model play 1,000 cases very often, beside runs of 64 and 1,000 rollouts."""
    suite = folder / "data" / "sums"
    suite.mkdir(parents=True)
    (suite / "suite.toml").write_text('format = "dialogue"\ntitle = "Sums"\n')
    rows = (
        {
            "id": f"sum-{n}",
            "prompt": f"{n} plus 1?",
            "number": n + 1,
            "simulated": {"right": [f"{n + 1}"], "wrong": ["x"]},
        }
        for n in range(1_000)
    )
    (suite / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    used: list[dict[str, float]] = []
    for cases, repeats in ((64, 1), (1_000, 1), (1_000, count // 1_000)):
        words = ["-m", "sim/careful", "-s", "sums", "-n", str(cases), "-r", str(repeats), "-c", "512"]
        process = console(folder, "run", *words, "--data", str(folder / "data"), "--yes", "--json", "--quiet")
        seen = Observer(process).result()
        used.append(seen.left["used"])
        engine = f"engine {used[-1]['engine_mb']:.0f} MB at most, {used[-1]['engine_s']:.1f} s CPU"
        print(f"{cases * repeats} simulated rollouts: {seen.wall_s:.0f} s, {engine}; "
              f"report and index {max(seen.megabytes):.0f} MB at most")  # fmt: skip
    start, small, large = (each["engine_s"] for each in used)
    ratio = (large - start) / (count - 64) / ((small - start) / (1_000 - 64))
    print(f"  CPU of a rollout: {ratio:.2f} × that in a run of 1,000")
    return [
        *([f"an engine needs {used[-1]['engine_mb']:.0f} MB"] if used[-1]["engine_mb"] > MOST_ENGINE_MB else []),
        *([f"a rollout takes {ratio:.2f} × the CPU of one in a small run"] if ratio > MOST_RATIO else []),
    ]


def many_runs(folder: Path, count: int) -> list[str]:
    """List many finished runs."""
    folder.mkdir(parents=True)
    line = [sys.executable, "-m", "console"]
    one = [*line, "run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "20", "--quiet", "--json"]
    made = json.loads(subprocess.run(one, env=env(), cwd=folder, capture_output=True, text=True, check=True).stdout)
    original = folder / "runs" / made["run"]
    for number in range(1, count):
        copied = folder / "runs" / f"{made['run']}-{number:04}"
        shutil.copytree(original, copied)
        manifest = json.loads((copied / "run.json").read_text()) | {"id": copied.name}
        (copied / "run.json").write_text(json.dumps(manifest))
        (copied / "summary.json").unlink(missing_ok=True)
    times: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        out = subprocess.run(
            [*line, "runs", "--json"], env=env(), cwd=folder, capture_output=True, text=True, check=True
        )
        times.append(time.perf_counter() - began)
    listed = len(runs_of(json.loads(out.stdout)))
    print(f"{count} runs: listed in {times[0]:.2f} s without kept summaries, in {min(times[1:]):.2f} s with them")
    return [] if listed == count else [f"{listed} of {count} runs are listed"]


def runs_of(listed: Any) -> list[Any]:
    """Return what `runs --json` lists; before schema 2 it was the bare list."""
    return listed["runs"] if isinstance(listed, dict) else listed


def many_streams(folder: Path, count: int, minutes: float) -> list[str]:
    """Let many answers stream at once, watched by one reader, and look at how regularly it is told."""
    tokens = max(20, int(minutes * 60 / 0.05))
    with server(folder, "--tokens", str(tokens), "--itl-ms", "50") as url:
        data = write_suite(folder / "data", count)
        write_models(folder, url, f"first_token_s = 60, concurrency = {count}").write_text(
            (folder / "models.toml").read_text().replace("timeout_s = 30", f"timeout_s = {minutes * 60 + 600}")
        )
        process = console(folder, "run", "-m", "m", "-s", "lookups", "--data", str(data), "-c", str(count), "--json")
        observer = Observer(process)
        gaps = asyncio.run(gaps_of(folder / "runs", process))
        seen = observer.result()
    gaps.sort()
    late = gaps[int(len(gaps) * 0.99)] if gaps else 0.0
    third = max(1, len(seen.megabytes) // 3)
    print(
        f"{count} streams for {minutes:g} min: exit {seen.code}, {len(gaps)} sets of news to a watcher, "
        f"99 % within {late * 1e3:.0f} ms"
    )
    print(
        f"  memory at most {max(seen.megabytes[:third]):.0f} MB in the first third, {max(seen.megabytes):.0f} MB in all"
    )
    print(f"  descriptors at most {max(seen.descriptors)}; left at the end: {seen.leaks}")
    tally = json.loads(Path(folder / "out").read_text())["summary"]["tally"]
    broken = tally.get("broken", 0)
    return [*([f"{broken} streams broke"] if broken else []), *leaked(seen)]


async def gaps_of(runs: Path, process: "subprocess.Popen[str]") -> list[float]:
    """Seconds between two sets of new text, as a watcher gets them, while the engine lives."""
    link, gaps, last = None, list[float](), 0.0
    while link is None:
        await asyncio.sleep(0.02)
        for place in sockets(runs):
            link = await EngineLink.connect(place.parent)
        if process.poll() is not None:
            return gaps
    async for frame in link.frames():
        if isinstance(frame, Deltas):
            now = time.perf_counter()
            if last:
                gaps.append(now - last)
            last = now
    link.close()
    return gaps


def sockets(runs: Path) -> list[Path]:
    """Where engines can be watched."""
    return list(runs.glob("*/live.sock"))


class Observer:
    """Looks at a process five times a second until it ends."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.seen, self.began = process, Seen(), time.perf_counter()
        self.thread = threading.Thread(target=self._look)
        self.thread.start()

    def _look(self) -> None:
        place, seen = Path(f"/proc/{self.process.pid}"), self.seen
        while self.process.poll() is None:
            try:
                seen.descriptors.append(len(os.listdir(place / "fd")))
                seen.megabytes.append(int((place / "status").read_text().split("VmRSS:")[1].split()[0]) / 1000)
            except (OSError, IndexError):
                continue
            time.sleep(0.2)

    def result(self) -> Seen:
        """Wait for the process to end."""
        self.thread.join()
        self.seen.wall_s, self.seen.code = time.perf_counter() - self.began, self.process.returncode
        said = Path(str(self.process.args[-1])).read_text().splitlines()  # type: ignore[index]
        self.seen.left = json.loads([line for line in said if line.startswith('{"before"')][-1])
        return self.seen


def leaked(seen: Seen) -> list[str]:
    """The watcher's own connection may still be closing; anything else that is left is a leak."""
    return [f"{count} {name} are left" for name, count in seen.leaks.items() if count > 1]


def console(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a command line that counts what its engine leaves; its output goes to `out` and `err`."""
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        command = [sys.executable, "-c", CONSOLE, *arguments]
        process = subprocess.Popen(command, env=env(), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
    process.args = [*command, str(folder / "err")]
    return process  # type: ignore[return-value]


def env() -> dict[str, str]:
    """Variables of a process that finds this checkout and answers simulated questions at once."""
    return dict(os.environ) | {"PYTHONPATH": str(ROOT), "EVAL_CONSOLE_SIM_PACE": "flat"}


@contextmanager
def server(folder: Path, *arguments: str) -> Iterator[str]:
    """Run the test server as a process of its own; yields its address."""
    folder.mkdir(parents=True)
    command = [sys.executable, str(ROOT / "tests" / "server"), "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["base_url"]
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
