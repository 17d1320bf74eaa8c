"""What workers on Ray cost and gain, against a local server or in sandboxes: needs the extra `ray`.

    python perf/bench_workers.py [--rollouts 400] [--turns]

Prints: seconds from starting a cluster on this machine to the first call; CPU milliseconds a rollout of BFCL single
calls, in this process and with two workers (theirs and the engine's), start-up taken out by two sizes; and with --turns
the seconds of cave-bench conversations, whose code runs in sandboxes, with one worker and with two that play one
conversation each: several at a time fill all processors from one worker as well, as every sandbox is its own process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
CHILD = """
import json, resource, sys, time
from console.__main__ import main
began = time.time()
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([code, used.ru_utime + used.ru_stime]))
"""
TICKS = os.sysconf("SC_CLK_TCK")


def worker_cpu() -> dict[int, float]:
    """CPU seconds of every worker that lives now, by process."""
    used: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"WorkerActor" in (path / "cmdline").read_bytes():
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                used[int(path.name)] = (int(fields[11]) + int(fields[12])) / TICKS
        except OSError:
            continue
    return used


def play(home: Path, *options: str) -> tuple[float, float, float, float]:
    """Play a run; return CPU of engine and workers, seconds of the run, and seconds until its first call's answer."""
    before, workers = set(home.glob("runs/*")), dict[int, float]()
    began = time.time()
    environment = os.environ | {"HOME": str(home), "RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": ""}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, "run", "--quiet", "--json", "--runs", str(home / "runs"), *options],
        cwd=home, env=environment, stdout=(home / "out").open("w"), stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    while child.poll() is None:
        workers |= worker_cpu()
        time.sleep(0.1)
    engine = json.loads((home / "out").read_text().splitlines()[-1])[1]
    folder = next(path for path in home.glob("runs/20*") if path not in before)
    records = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    started = next(record["at"] for record in records if record["t"] == "started")
    assert records[-1]["reason"] == "completed", records[-1]
    return engine, sum(workers.values()), records[-1]["at"] - started, started - began


def main() -> None:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=400)
    parser.add_argument("--turns", action="store_true")
    args = parser.parse_args()
    server = subprocess.Popen([sys.executable, str(TESTS / "server"), "--port", "0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = json.loads(server.stdout.readline())["base_url"]
        with tempfile.TemporaryDirectory() as place:
            home = Path(place)
            (home / "models.toml").write_text(f'[served]\nmodel_id = "test-model"\nbase_url = "{url}"\nmode = "fc"\n')
            compare(home, args.rollouts)
            if args.turns:
                turns(home)
    finally:
        server.terminate()
        server.wait(10)


def compare(home: Path, rollouts: int) -> None:
    suite = ("-m", "served", "-s", "bfcl-starter", "--category", "simple_python", "-c", "32")
    local, remote, engines = list[float](), list[float](), list[float]()
    ready = 0.0
    for count in (rollouts // 4, rollouts):
        repeats = ("-r", str(max(1, count // 10)))
        engine, _, _, _ = play(home, *suite, *repeats)
        local.append(engine)
        engine, workers, seconds, ready = play(home, *suite, *repeats, "--on", "ray", "--workers", "2")
        remote.append(engine + workers)
        engines.append(engine)
        print(f"{count} rollouts with 2 workers: {seconds:.1f} s, {count / seconds:.0f} a second")
    each = rollouts - rollouts // 4
    here, there, engine = ((cpu[1] - cpu[0]) / each * 1e3 for cpu in (local, remote, engines))
    print(f"from the command to the first call, a cluster started here: {ready:.1f} s")
    times = there / here
    print(f"CPU a rollout: {here:.2f} ms here, {there:.2f} ms with workers ({times:.2f} ×), the engine {engine:.2f} ms")


def turns(home: Path) -> None:
    suite = ("-m", "sim/careful", "-s", "cave-starter", "-r", "2")
    os.environ["EVAL_CONSOLE_SIM_PACE"] = "flat"
    times = [play(home, *suite, "-c", number, "--on", "ray", "--workers", number)[2] for number in ("1", "2")]
    print(f"cave-bench turns: {times[0]:.1f} s with 1 worker, {times[1]:.1f} s with 2 ({times[0] / times[1]:.2f} ×)")


if __name__ == "__main__":
    main()
