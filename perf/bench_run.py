"""The whole process of `run` for many streamed calls with tools, beside one that only sends them with aiohttp.

    python perf/bench_run.py [--requests 1000] [--at-once 64] [--latency-ms 50] [--rounds 5]

Prints the second-best of all rounds: CPU and wall seconds of the process, the CPU of its start (imports above all),
seconds from its start to the first request, and from the last reply to its end, and requests per second. Goals: at
most twice the CPU and at least 0.85 of the rate of bare aiohttp; 0.35 s and 0.15 s.
`--profile FILE` writes a profile of one run instead.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from server.openai_server import OpenAIServer, Scripted  # noqa: E402
from support.lookup_suite import number_of, write_models, write_suite  # noqa: E402

BARE = """
import asyncio, json, sys, aiohttp
url, bodies, at_once = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
async def main():
    waiting = iter(bodies)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async def worker():
            for body in waiting:
                data = json.dumps(body).encode()
                async with session.post(url, data=data, headers={"content-type": "application/json"}) as response:
                    answer = await response.read()
                [json.loads(event[6:]) for event in answer.split(b"\\n\\n") if event.startswith(b"data: {")]
        await asyncio.gather(*(worker() for _ in range(at_once)))
asyncio.run(main())
"""
MEASURES = ("cpu", "start", "wall", "first", "last", "rate")


class Timed:
    """Answers a question about a number with the right call after a while, and remembers when."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self.bodies: list[dict[str, Any]] = []
        self.asked: list[float] = []
        self.pid = 0
        self.start_s = 0.0
        """CPU of the measured process before its first request."""

    def __call__(self, request: dict[str, Any]) -> Scripted:
        if not self.asked:
            threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
            self.start_s = sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
        self.asked.append(time.time())
        self.bodies.append(request)
        calls = [("look_up", {"number": number_of(request)})]
        return Scripted(calls=calls, latency_s=self._latency_s)


def measure(command: list[str], answer: Timed, home: Path) -> dict[str, float]:
    """Run a program to its end."""
    answer.asked.clear()
    began = time.time()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=home, env=environment)
    answer.pid = process.pid
    _, process.returncode, used = os.wait4(process.pid, 0)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    ended = time.time()
    last = answer.asked[-1] + answer._latency_s
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "start": answer.start_s,
        "wall": ended - began,
        "first": answer.asked[0] - began,
        "last": ended - last,
        "rate": len(answer.asked) / (ended - began),
    }


def second_best(values: list[float], *, largest: bool) -> float:
    """Return what hardly depends on the load of the machine, and on no single lucky round."""
    return sorted(values, reverse=largest)[:2][-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", type=Path)
    options = parser.parse_args()
    answer = Timed(options.latency_ms / 1000)
    with tempfile.TemporaryDirectory() as place, OpenAIServer(answer) as server:
        home = Path(place)
        data = write_suite(home / "data", options.requests)
        write_models(home, server, more='mode = "fc"')
        words = [
            "run",
            "-m",
            "m",
            "-s",
            "lookups",
            "--data",
            str(data),
            "--quiet",
            "--concurrency",
            str(options.at_once),
        ]
        profile = ["-m", "cProfile", "-o", str(options.profile.resolve())] if options.profile else []
        ours = [sys.executable, *profile, "-m", "console", *words]
        os.environ["PYTHONPATH"] = str(ROOT)
        if options.profile:
            measure(ours, answer, home)
            return
        rounds: dict[str, list[dict[str, float]]] = {"aiohttp": [], "run": []}
        measure(ours, answer, home)  # compiles the modules
        for _ in range(options.rounds):
            rounds["run"].append(measure(ours, answer, home))
            bodies = home / "bodies.json"
            bodies.write_text(json.dumps(answer.bodies[-options.requests :]))
            aiohttp = [
                sys.executable,
                "-c",
                BARE,
                f"{server.base_url}/chat/completions",
                str(bodies),
                str(options.at_once),
            ]
            rounds["aiohttp"].append(measure(aiohttp, answer, home))
    best = {
        name: {each: second_best([row[each] for row in rows], largest=each == "rate") for each in MEASURES}
        for name, rows in rounds.items()
    }
    for name, row in best.items():
        print(f"{name:8}  " + "  ".join(f"{each} {row[each]:7.2f}" for each in MEASURES))
    run, bare = best["run"], best["aiohttp"]
    without_start = (run["cpu"] - run["start"]) / (bare["cpu"] - bare["start"])
    print(f"CPU {run['cpu'] / bare['cpu']:.2f} ×, {without_start:.2f} × without the start; ", end="")
    print(f"rate {run['rate'] / bare['rate']:.2f} ×")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
