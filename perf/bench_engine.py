"""CPU per request of the whole engine, journal on disk, against a local server of its own process.

    python perf/bench_engine.py [--requests 1000] [--concurrency 64] [--latency-ms 0] [--reference]
    python perf/bench_engine.py --large 100000 [--repeats 100]     some minutes

Prints, per way of asking: CPU milliseconds a request with start-up taken out (two sizes are run and subtracted), wall
seconds, requests a second and connections. `--reference` adds the openai SDK on its aiohttp transport, the yardstick.
`--large` plays one run of so many rollouts and one of 1,000, and ends with 1 when the large one needs more memory than
it may, or notably more CPU for each rollout.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"

CHILD = """
import asyncio, dataclasses, json, secrets, sys, time
sys.path[:0] = [{tests!r}]
from pathlib import Path
import msgspec
from console.config.model import Secret
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared
from console.engine.launch import run_in_foreground
from console.store.runs import create_run
folder, url, count, concurrency = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
repeats = int(sys.argv[5]) if sys.argv[5:] else 1
ready = prepared(folder, url, DialogueSuite(count // repeats, 1, judged=False), concurrency)
ready = dataclasses.replace(ready, manifest=msgspec.structs.replace(ready.manifest, rollouts=repeats, cases=count))
key = Secret("sk-proj-" + secrets.token_urlsafe(116))  # as long as they are, because every record is searched for it
ready.models["model"] = msgspec.structs.replace(ready.models["model"], api_key=key)
run = create_run(folder.parent, ready.manifest)
began = time.time()
ending = run_in_foreground(run, ready)
# Not ru_maxrss, which begins with what the parent held as it forked.
peak_mb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps([ending.closed.reason, run.summary().tally.calls, time.time() - began, peak_mb]))
"""

REFERENCE = """
import asyncio, json, sys, time
from openai import AsyncOpenAI, DefaultAioHttpClient
url, count, concurrency, streamed = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "stream"
async def main():
    gate = asyncio.Semaphore(concurrency)
    http = DefaultAioHttpClient()
    async with AsyncOpenAI(base_url=url, api_key="x", max_retries=0, http_client=http) as client:
        async def one(n):
            messages = [{"role": "user", "content": f"d{n}-1 turn 0"}]
            async with gate:
                if not streamed:
                    await client.chat.completions.create(model="m", messages=messages)
                    return
                async for _ in await client.chat.completions.create(model="m", messages=messages, stream=True):
                    pass
        began = time.time()
        await asyncio.gather(*(one(n) for n in range(count)))
        print(json.dumps(["completed", count, time.time() - began, 0.0]))
asyncio.run(main())
"""


MOST_MB = 150
"""Most memory of an engine that plays a large run, its cases included."""
MOST_RATIO = 1.1
"""Most CPU for a rollout of a large run, beside one of a run of 1,000; the noise of a busy machine included."""


def cpu_of(program: str, *arguments: str) -> tuple[float, float, float]:
    """Run a program to its end and return its CPU and wall seconds, and its memory at most in MB."""
    before = os.times()
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    after = os.times()
    reason, calls, wall, peak_mb = json.loads(done.stdout)
    assert reason == "completed", done.stdout
    assert calls > 0
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, wall, peak_mb


def measure(name: str, program: str, url: str, count: int, concurrency: int, *more: str) -> None:
    """Print one line: the marginal cost of a request."""
    few = max(64, count // 10)
    with tempfile.TemporaryDirectory() as place:
        small, *_ = cpu_of(program, f"{place}/small", url, str(few), str(concurrency), *more)
        large, wall, _ = cpu_of(program, f"{place}/large", url, str(count), str(concurrency), *more)
    each = (large - small) / (count - few) * 1e3
    print(
        f"{name:<34} {each:7.3f} ms CPU/request  whole {large:6.2f} s CPU {wall:6.2f} s wall {count / wall:8.0f} req/s"
    )


def measure_large(url: str, count: int, concurrency: int, repeats: int) -> list[str]:
    """Print what a large run costs beside one of 1,000 rollouts; return in sentences what is too much."""
    program = CHILD.format(tests=str(TESTS))
    with tempfile.TemporaryDirectory() as place:
        start_s, *_ = cpu_of(program, f"{place}/start", url, "64", str(concurrency))
        small_s, _, small_mb = cpu_of(program, f"{place}/small", url, "1000", str(concurrency))
        large_s, wall, large_mb = cpu_of(program, f"{place}/large", url, str(count), str(concurrency), str(repeats))
    small, large = (small_s - start_s) / (1000 - 64) * 1e3, (large_s - start_s) / (count - 64) * 1e3
    print(f"{1000:>7} rollouts  {small:6.3f} ms CPU each  {small_mb:4.0f} MB at most")
    print(f"{count:>7} rollouts  {large:6.3f} ms CPU each  {large_mb:4.0f} MB at most  {wall:.0f} s wall")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return [
        *([f"{large_mb:.0f} MB of memory, at most {MOST_MB}"] if large_mb > MOST_MB else []),
        *([f"{large / small:.2f} times the CPU of a small run"] if large > MOST_RATIO * small else []),
    ]


def main() -> int:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--tokens", type=int, default=16, help="words in an answer, each an event of its own")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--repeats", type=int, default=1, help="play each case of the large run so often")
    parser.add_argument("--large", type=int, default=0, metavar="ROLLOUTS", help="play a run of so many instead")
    args = parser.parse_args()
    command = [sys.executable, str(TESTS / "server"), "--port", "0", "--latency-ms", str(args.latency_ms)]
    command += ["--tokens", str(args.tokens)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    failures: list[str] = []
    try:
        url = json.loads(server.stdout.readline())["base_url"]
        engine = CHILD.format(tests=str(TESTS))
        if args.large:
            failures = measure_large(url, args.large, args.concurrency, args.repeats)
            return 1 if failures else 0
        measure("engine, streamed, journal on disk", engine, url, args.requests, args.concurrency)
        if args.reference:
            for how in ("plain", "stream"):
                measure(f"openai on aiohttp, {how}", REFERENCE, url, args.requests, args.concurrency, how)
    finally:
        server.terminate()
        server.wait(10)
        for failure in failures:
            print(f"FAILED: {failure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
