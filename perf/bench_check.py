"""CPU seconds of `check bfcl` over a file of saved outputs, the whole process and the simulators' worker included.

    python perf/bench_check.py CASES.jsonl[.gz] [--data FOLDER] [--category PART]

Prints lines judged, agreement with the verdicts in the file where it has any, and processor seconds.
"""

import argparse
import gzip
import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path

from console.benchmarks.bfcl.conformance import BfclLineChecker
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.simulators.host import host_of


def lines_of(path: Path, part: str) -> Iterator[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from (line for line in lines if f'"category":"{part}' in line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[1] / "data" / "bfcl")
    parser.add_argument("--category", default="", help="only categories that begin so")
    args = parser.parse_args()
    began, count, agreed, worker_s = time.perf_counter(), 0, 0, 0.0
    with BfclLineChecker(args.data) as checker:
        for line in lines_of(args.cases, args.category):
            case = json.loads(line)
            (verdict,) = checker.check([case])
            agreed += _agrees(case, verdict)
            count += 1
        host = host_of(Dataset(args.data))
        if host.generation:
            worker_s = host.call("spent", {})
    usage = resource.getrusage(resource.RUSAGE_SELF)
    own_s = usage.ru_utime + usage.ru_stime
    print(f"{count} lines, {agreed} as in the file")
    print(f"{own_s + worker_s:.2f} s CPU ({worker_s:.2f} s in the worker), {time.perf_counter() - began:.2f} s wall")
    print(f"{usage.ru_maxrss // 1024} MiB peak")


def _agrees(case: dict, verdict: dict) -> bool:
    if case.get("valid") is None:
        return verdict["valid"] is False
    return (case["valid"], case["error_type"]) == (verdict["valid"], verdict["error_type"])


if __name__ == "__main__":
    main()
