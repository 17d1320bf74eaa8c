"""What faults cost the requests that are fine: whole runs against a loopback server that fails in five ways.

    python perf/bench_pacing.py [--entries 400] [--concurrency 8] [--latency-ms 50] [--seed 1] [--only NAME]

Then what rate limits cost, in virtual time (`--only limits`): the share of the throughput of a client that knows the
provider's rule, and the refused calls, for one process and for four that share a keeper; means of three seeds. Bounds
hold for one process: 80 % of the throughput where calls are refused at random, and 1.5 times as many refused calls as
with plain additive increase and halving where calls at once, or a minute, are capped. Printed only: caps whose refusals
take as long as answers (about four times as many: for a while they look like chance), and four processes (up to three
times as many, because each counts its own refusals in a row). See tests/support/rate_limits.py.

Server and engine are processes of their own, retries wait as long as usual (`backoff_s` is 1 s). Times are those of the
journal, from its opening to the last verdict of the requests that are fine. Ends with 1 when a bound does not hold:

    poisoned   a quarter of the entries gets 500 for ever      the others take <= 1.3 x as long as without that quarter
    slow       the same, and every 500 takes the usual time    printed only: a quarter more calls is a third more work
    random     one call in ten gets 500                        the run takes <= 1.25 x the calm time
    failing    every call gets 500                             at most 3 calls at once
    outage     every call gets 500 from half-way on, for 5 s   after the first answers of that kind at most 3 at once;
                                                               every entry is graded in the end
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from server.openai_server import OpenAIServer, Scripted  # noqa: E402
from support.lookup_suite import number_of, records, right, write_models, write_rows, write_suite  # noqa: E402
from support.rate_limits import Capped, Moody, PerMinute, PerSecond, Played, Provider  # noqa: E402
from support.rate_limits import play as play_virtually  # noqa: E402

from console.core.outcome import Outcome  # noqa: E402
from console.core.record import Finished, Opened  # noqa: E402

OUTAGE_S = 5.0
LEAST_SHARE = 0.8
"""Of the best throughput, where calls are refused at random."""
PROCESSES, SEEDS = (0, 4), 3


class RateLimits(NamedTuple):
    """A provider that refuses calls."""

    name: str
    make: Callable[[], Provider]
    plain: float = 0.0
    """Refused calls of 400 with plain additive increase and halving; 0 without a bound."""
    is_random: bool = False
    entries: int = 400
    at_once: int = 16


RATE_LIMITS = [
    RateLimits("1 at once", lambda: Capped(cap=1), 101),
    RateLimits("2 at once", lambda: Capped(cap=2), 65),
    RateLimits("4 at once", lambda: Capped(cap=4), 43),
    RateLimits("8 at once", lambda: Capped(cap=8), 23),
    RateLimits("12 at once", lambda: Capped(cap=12), 14),
    RateLimits("15 at once", lambda: Capped(cap=15), 9),
    RateLimits("8 at once, of 100", lambda: Capped(cap=8), 39, at_once=100),
    RateLimits("50 at once, of 100", lambda: Capped(cap=50), 6, at_once=100),
    RateLimits("8 at once, no time", lambda: Capped(cap=8, retry_after_s=None), 24),
    RateLimits("8 at once, quick", lambda: Capped(cap=8, latency_s=0.2), 22),
    RateLimits("8 at once, slow 429", lambda: Capped(cap=8, refusal_s=1.6)),
    RateLimits("12 or 4 at once", lambda: Capped(cap=12, other=4), 22),
    RateLimits("16 or 2 at once", lambda: Capped(cap=16, other=2, change_s=30), 13),
    RateLimits("60 a minute", lambda: PerMinute(count=60), 7),
    RateLimits("60 a min, no time", lambda: PerMinute(count=60, retry_after_s=None), 37),
    RateLimits("3 a second", lambda: PerSecond(rate=3), 49, at_once=32),
    RateLimits("10 a second", lambda: PerSecond(rate=10), 27, at_once=32),
    *(RateLimits(f"{p} % at random", lambda p=p: Moody(share=p / 100), is_random=True) for p in (1, 5, 10, 20)),
    *(
        RateLimits(f"{p} %, quick", lambda p=p: Moody(share=p / 100, latency_s=0.3), is_random=True, entries=1600)
        for p in (1, 5, 10, 20)
    ),
    RateLimits("10 %, of 64", lambda: Moody(share=0.1), is_random=True, entries=1600, at_once=64),
    RateLimits("10 %, no time", lambda: Moody(share=0.1, retry_after_s=None), is_random=True),
    RateLimits("10 %, slow 429", lambda: Moody(share=0.1, refusal_s=1.6), is_random=True),
    RateLimits("20 %, slow 429", lambda: Moody(share=0.2, refusal_s=1.6), is_random=True),
]


def is_poisoned(number: int, seed: int) -> bool:
    """Whether an entry belongs to the quarter that always fails."""
    return Random(f"{seed} {number}").random() < 0.25


class Misbehaviour:
    """Answers as one of the ways to fail says, and counts how many calls were in flight while nothing succeeded."""

    def __init__(self, name: str, entries: int, latency_s: float, seed: int) -> None:
        self.name, self.entries, self.latency_s, self.seed = name, entries, latency_s, seed
        self.random = Random(seed)
        self.answered = self.failed = self.most_in_outage = 0
        self.down_at: float | None = None
        self.server: OpenAIServer | None = None

    def __call__(self, request: dict[str, Any]) -> Scripted:
        if self.name in ("poisoned", "slow") and is_poisoned(number_of(request), self.seed):
            return Scripted(fault="r500", latency_s=self.latency_s if self.name == "slow" else 0.0)
        if self.name == "random" and self.random.random() < 0.1:
            return Scripted(fault="r500")
        if self.name == "failing" or (self.name == "outage" and self._is_down()):
            return Scripted(fault="r500", latency_s=self.latency_s)
        self.answered += 1
        return right(request, latency_s=self.latency_s)

    def _is_down(self) -> bool:
        assert self.server is not None
        if self.answered < self.entries // 2:
            return False
        self.down_at = self.down_at or time.monotonic()
        lasted = time.monotonic() - self.down_at
        if 3 * self.latency_s < lasted <= OUTAGE_S:  # what was in flight when it began has been answered
            self.most_in_outage = max(self.most_in_outage, self.server.in_flight + 1)
        return lasted < OUTAGE_S


def serve(name: str, entries: int, latency_s: float, seed: int) -> None:
    """Serve until stdin closes, then print what was counted."""
    misbehaviour = Misbehaviour(name, entries, latency_s, seed)
    with OpenAIServer(misbehaviour, keep=False) as server:
        misbehaviour.server = server
        print(server.base_url, flush=True)
        sys.stdin.read()
        counted = {"calls": server.counts["chat"], "most": server.most_in_flight, "outage": misbehaviour.most_in_outage}
        print(json.dumps(counted), flush=True)


def play(name: str, numbers: list[int], options: argparse.Namespace) -> dict[str, Any]:
    """Play one run and return its figures."""
    server_line = [sys.executable, __file__, "--serve", name, "--entries", str(options.entries)]
    server_line += ["--latency-ms", str(options.latency_ms), "--seed", str(options.seed)]
    server = subprocess.Popen(server_line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with tempfile.TemporaryDirectory(prefix="pacing-") as place:
        folder = Path(place)
        models = write_models(folder, server.stdout.readline().strip())
        models.write_text(models.read_text().replace("backoff_s = 0.01", "backoff_s = 1.0"))
        data = write_suite(folder / "data", 0)
        write_rows(data / "lookups", [(f"simple_python_{n}", f"Look up number {n}.", n) for n in numbers])
        command = [sys.executable, "-m", "console", "run", "-m", "m", "-s", "lookups", "--data", str(data)]
        command += ["-c", str(options.concurrency), "--quiet"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        timer = threading.Timer(options.limit_s, process.terminate)
        timer.start()
        process.wait()
        timer.cancel()
        figures = _figures(next((folder / "runs").iterdir()), len(numbers))
    out, _ = server.communicate()
    return figures | json.loads(out)


def _figures(run: Path, planned: int) -> dict[str, Any]:
    opened, healthy, last, graded, broken = 0.0, 0.0, 0.0, 0, 0
    for record in records(run):
        if isinstance(record, Opened):
            opened = record.at
        elif isinstance(record, Finished):
            last = record.at
            if record.verdict.outcome is Outcome.PASSED:
                graded, healthy = graded + 1, record.at
            broken += record.verdict.outcome is Outcome.BROKEN
    return {
        "healthy_s": healthy - opened,
        "whole_s": last - opened,
        "graded": graded,
        "broken": broken,
        "planned": planned,
    }


def _line(name: str, figures: dict[str, Any], ratio: float | None) -> str:
    healthy = f"{figures['healthy_s']:6.2f} s" if figures["graded"] else "       -"
    return (
        f"{name:<10}{figures['graded']:>5} graded {figures['broken']:>4} broken of {figures['planned']:<5}"
        f"{healthy}  whole {figures['whole_s']:6.2f} s  {figures['calls']:>5} calls, {figures['most']:>3} at once"
        + (f"   ratio {ratio:.2f}" if ratio is not None else "")
        + (f", {figures['outage']} in the outage" if figures["outage"] else "")
    )


def main() -> int:
    """Play all, print, say what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-s", type=float, default=120.0, help="a run that takes longer is stopped")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.entries, options.latency_ms / 1000, options.seed)
        return 0
    names = options.only or ["poisoned", "slow", "random", "failing", "outage", "limits"]
    failures = compare([name for name in names if name != "limits"], options)
    failures += [failure for case in RATE_LIMITS if "limits" in names for failure in limited(case)]
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


def compare(names: list[str], options: argparse.Namespace) -> list[str]:
    """Play the runs of these names and a calm one beside each; return the bounds that do not hold."""
    everything = list(range(options.entries))
    fine = [number for number in everything if not is_poisoned(number, options.seed)]
    calm: dict[int, dict[str, Any]] = {}
    failures: list[str] = []
    for name in names:
        numbers = everything
        graded = {"poisoned": len(fine), "slow": len(fine), "failing": 0}.get(name, len(everything))
        if graded and name != "outage" and graded not in calm:
            calm[graded] = play("calm", fine if graded == len(fine) else everything, options)
            print(_line("calm", calm[graded], None), flush=True)
        figures = play(name, numbers, options)
        ratio = figures["healthy_s"] / calm[graded]["healthy_s"] if graded in calm and name != "outage" else None
        print(_line(name, figures, ratio), flush=True)
        failures += _broken_bounds(name, figures, ratio or 0.0, graded)
    return failures


def limited(case: RateLimits) -> list[str]:
    """Play against a provider that refuses calls; return the bounds that do not hold."""
    failures, line = list[str](), f"{case.name:<22}"
    for processes in PROCESSES:
        played: list[Played] = []
        for seed in range(SEEDS):
            options = {"entries": case.entries, "at_once": case.at_once, "processes": processes, "seed": seed}
            played.append(play_virtually(case.make(), **options))
        best_s = case.make().best_s(case.entries, case.at_once)
        shares = [best_s / one.took_s for one in played]
        refused = mean(one.refused for one in played)
        line += f"{mean(shares):6.0%} (least {min(shares):4.0%}) {refused:5.0f} refused   "
        if not processes and case.is_random and mean(shares) < LEAST_SHARE:
            failures.append(f"{case.name}: {mean(shares):.0%} of the throughput")
        if not processes and case.plain and refused > 1.5 * case.plain:
            failures.append(f"{case.name}: {refused:.0f} refused, {case.plain:.0f} with plain halving")
    print(line.rstrip(), flush=True)
    return failures


def _broken_bounds(name: str, figures: dict[str, Any], ratio: float, graded: int) -> list[str]:
    at_once = {"failing": figures["most"], "outage": figures["outage"]}.get(name, 0)
    largest = {"poisoned": 1.3, "random": 1.25}.get(name, 99.0)
    return [
        *([f"{name}: {ratio:.2f} x the calm time, more than {largest}"] if ratio > largest else []),
        *([f"{name}: {at_once} calls at once while nothing succeeded"] if at_once > 3 else []),
        *([f"{name}: {figures['graded']} graded, {graded} could be"] if figures["graded"] < graded else []),
    ]


if __name__ == "__main__":
    sys.exit(main())
