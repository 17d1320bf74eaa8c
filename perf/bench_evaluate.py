"""CPU seconds of `bfcl evaluate` over a result tree: the whole process from its start, the simulators' worker included.

    python perf/bench_evaluate.py PROJECT_ROOT [--runs 5] [--categories all] [--model NAME]

PROJECT_ROOT holds `result/`; the score files go to a temporary folder. The worker's share is asked of the worker, since
a confined process does not always report to its parent. The median of the runs after one to warm up is the figure.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--categories", default="all")
    parser.add_argument("--model", default="")
    parser.add_argument("--inner", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inner:
        evaluate(args)
        return
    records = sum(sum(1 for _ in path.open("rb")) for path in result_files(args.root, args.model))
    measured = [measure(args) for _ in range(args.runs + 1)][1:]
    cpu = statistics.median(one["cpu"] + one["worker"] for one in measured)
    worker = statistics.median(one["worker"] for one in measured)
    wall = statistics.median(one["wall"] for one in measured)
    print(f"{records} records: {cpu:.2f} s CPU (of these {worker:.2f} s in the worker), {wall:.2f} s wall")


def result_files(root: Path, model: str) -> list[Path]:
    return list((root / "result" / model).rglob("BFCL_v4_*_result.json"))


def measure(args: argparse.Namespace) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, __file__, str(args.root), "--categories", args.categories, "--inner", folder]
        line += ["--model", args.model] if args.model else []
        began = time.perf_counter()
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1]) | {"wall": time.perf_counter() - began}


def evaluate(args: argparse.Namespace) -> None:
    from console.__main__ import main as console

    os.environ["BFCL_PROJECT_ROOT"] = str(args.root.resolve())
    line = ["bfcl", "evaluate", "--test-category", args.categories, "--score-dir", str(args.inner)]
    line += ["--model", args.model] if args.model else []
    assert console(line) == 0
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "worker": worker_s()}))


def worker_s() -> float:
    from console.benchmarks.bfcl.simulators import host as simulator_host

    return sum(host.call("spent", {}) for host in simulator_host._hosts.values())


if __name__ == "__main__":
    main()
