"""From `review LOG.eval` to the first failing case of 10,000 samples, beside the smallest Textual app.

    cold        the log was never opened: at most 3 times hello, and 150 MB
    warm        it was, and what lists show of it is kept

Whole programs in a real terminal (pty), one after the other; medians and their ratio to hello's, by the clock and in
CPU time, which is steadier on a busy machine.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

from bench_startup import CONSOLE, HELLO, Timing, start  # noqa: E402
from support.inspect_logs import Json, eval_members, sample, write_zstd_eval  # noqa: E402

from console.exchange.imports.in_place import open_in_place  # noqa: E402


def _sample(number: int) -> Json:
    """Return a sample of about eight kilobytes; every seventh failed."""
    value = "I" if number % 7 == 3 else "C"
    store = {"seen": "lorem ipsum dolor sit amet " * 90}
    return sample(f"case-{number:05}", value, answer="a word of an answer " * 40, store=store)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=10_000)
    args = parser.parse_args()
    timings: dict[str, list[Timing]] = {"hello": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        os.environ["XDG_STATE_HOME"] = str(state)
        samples = [_sample(number) for number in range(args.samples)]
        log = write_zstd_eval(Path(folder) / "log.eval", eval_members(samples))
        (Path(folder) / "runs").mkdir()
        command = ("--runs", str(Path(folder) / "runs"), "review", str(log))
        for _ in range(args.rounds + 1):  # everything is started once before it counts
            timings["hello"].append(start(ROOT, HELLO, (b"hello-is-painted",), b"q"))
            shutil.rmtree(state / "eval-console" / "logs", ignore_errors=True)
            timings["cold"].append(start(ROOT, CONSOLE, (b"actual",), b"\x11", *command))
            open_in_place(log)  # whoever leaves at once leaves it half listed
            timings["warm"].append(start(ROOT, CONSOLE, (b"actual",), b"\x11", *command))
        print(f"{args.samples} samples, {log.stat().st_size / 1e6:.1f} MB")
    hello = timings["hello"]
    for name, measured in timings.items():
        cells = [name.ljust(6)]
        for figure in ("shown_s", "cpu_s"):
            value, base = (statistics.median(getattr(item, figure) for item in of[1:]) for of in (measured, hello))
            cells.append(f"{value * 1000:6.0f} ms {value / base:5.2f} ×")
        print(*cells, f"{statistics.median(item.memory_mb for item in measured[1:]):6.0f} MB")


if __name__ == "__main__":
    main()
