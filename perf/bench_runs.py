"""Very many runs: what listing them and finding the newest one costs, beside a folder of ten.

    python perf/bench_runs.py [--runs 100000]

Makes small run folders in a temporary place and removes them. `first` is the time when the index does not exist yet,
`then` the best one after that. Ends with 1 when `runs` or `show latest` computes longer than it may.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAY_TAKE_S = 0.5
LIMITED = (["runs"], ["show", "latest"])
LINE = [sys.executable, "-m", "console"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    options = parser.parse_args()
    slow: list[str] = []
    with tempfile.TemporaryDirectory(prefix="runs-") as name:
        folder = Path(name)
        original = play_one(folder)
        for count in (10, options.runs):
            began = time.perf_counter()
            copy_runs(original, folder / str(count), count)
            print(f"{count} runs (made in {time.perf_counter() - began:.0f} s)")
            for verb in (*LIMITED, ["runs", "--all"], ["runs", "--json"]):
                times = 4 if verb in LIMITED else 2
                first, *more = [measure([*verb, "--runs", str(folder / str(count))], folder) for _ in range(times)]
                wall, cpu = min(more)
                then = f"then {wall:.2f} s ({cpu:.2f} CPU)"
                print(f"  {' '.join(verb):12} first {first[0]:.2f} s ({first[1]:.2f} CPU), {then}")
                if verb in LIMITED and cpu > MAY_TAKE_S:
                    slow.append(f"{' '.join(verb)} of {count} runs takes {cpu:.2f} s of CPU")
    for sentence in slow:
        print(f"FAILED: {sentence}")
    return 1 if slow else 0


def play_one(folder: Path) -> Path:
    """Play one small run and return its folder."""
    line = [*LINE, "run", "-m", "sim/hasty", "-s", "bfcl-starter", "-n", "3", "--quiet", "--json"]
    played = subprocess.run(line, env=env(), cwd=folder, capture_output=True, text=True, check=True)
    return Path(json.loads(played.stdout)["folder"])


def copy_runs(original: Path, root: Path, count: int) -> None:
    """Write as many copies, each with a name and a time of its own."""
    root.mkdir()
    manifest, summary = (json.loads((original / name).read_bytes()) for name in ("run.json", "summary.json"))
    journal = (original / "journal.jsonl").read_bytes()
    for number in range(count):
        run = root / f"2026-01-01T0000-{original.name[16:-5]}-{number:06x}"
        run.mkdir()
        changes = {"id": run.name, "at": manifest["at"] + number * 0.001}
        (run / "run.json").write_text(json.dumps(manifest | changes))
        (run / "summary.json").write_text(json.dumps(summary | changes))
        (run / "journal.jsonl").write_bytes(journal)


def measure(verb: list[str], folder: Path) -> tuple[float, float]:
    """Return how many seconds a command takes, and how many of them it computes: a busy machine changes the first."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*LINE, *verb], env=env(), cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def env() -> dict[str, str]:
    """Variables of a process that finds this checkout and answers simulated questions at once."""
    return dict(os.environ) | {"PYTHONPATH": str(ROOT), "EVAL_CONSOLE_SIM_PACE": "flat"}


if __name__ == "__main__":
    sys.exit(main())
