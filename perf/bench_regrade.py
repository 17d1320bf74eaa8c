"""CPU seconds of `regrade` beside `bfcl evaluate` over the same answers: whole processes from their start.

    python perf/bench_regrade.py [--categories single_turn,format_sensitivity] [--data PATH] [--runs 3]

A simulated model plays the categories once (8,841 cases of the official data by default). `regrade` reads and writes
the whole journal and builds every request again, since a conversation that asks anything new must break; `evaluate`
reads only answers. `--profile` also prints the functions that take most of `regrade`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSOLE = [sys.executable, "-m", "console"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--categories", default="single_turn,format_sensitivity")
    parser.add_argument("--data", type=Path, default=ROOT / "data")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    if not (args.data / "bfcl").exists():
        print("needs the official data: eval-console pull bfcl")
        return
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        os.environ |= {"EVAL_CONSOLE_SIM_PACE": "flat", "PYTHONPATH": str(ROOT), "BFCL_PROJECT_ROOT": place}
        os.environ |= {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        places = ["--data", str(args.data), "--runs", str(home / "runs"), "--quiet", "--json"]
        chosen = ["-m", "sim/careful", "-s", "bfcl", "--category", args.categories, "--mode", "prompt"]
        run = json.loads(cpu(["run", *chosen, *places], home)[1])["run"]
        cpu(["export", run, "--format", "bfcl", "-o", str(home / "result"), *places], home)
        verbs = {
            "regrade": ["regrade", run, *places],
            "evaluate": ["bfcl", "evaluate", "--test-category", args.categories, *places[:2]],
        }
        measured: dict[str, list[float]] = {name: [] for name in verbs}
        for _ in range(args.runs):
            for name, verb in verbs.items():
                measured[name].append(cpu(verb, home)[0])
        medians = {name: statistics.median(seconds) for name, seconds in measured.items()}
        print("  ".join(f"{name} {seconds:.2f} s CPU" for name, seconds in medians.items()))
        print(f"regrade takes {medians['regrade'] / medians['evaluate']:.1f} × the CPU of evaluate")
        if args.profile:
            subprocess.run([sys.executable, "-m", "cProfile", "-s", "cumtime", "-m", "console", *verbs["regrade"]],
                           cwd=home, check=True)  # fmt: skip


def cpu(words: list[str], folder: Path) -> tuple[float, str]:
    """Run a verb; return the processor seconds of its process, and its output."""
    before = os.times()
    ended = subprocess.run([*CONSOLE, *words], cwd=folder, capture_output=True, text=True, check=False)
    after = os.times()
    if ended.returncode not in (0, 3):
        raise SystemExit(ended.stderr)
    return after[2] + after[3] - before[2] - before[3], ended.stdout


if __name__ == "__main__":
    main()
