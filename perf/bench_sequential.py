"""Simulated error rates, savings and coverage of runs that end by their looks, through the public functions.

    python perf/bench_sequential.py [--runs 1000]

Prints the tables of docs/statistics.md: verdicts against a baseline at several true differences, with clusters and
repeats; coverage and size of runs that end at a given width; the bias of a live mean where failures are slow; races of
three models; and the cases that an estimate for the whole suite needs with a baseline. 1,000 runs take six minutes.
"""

import argparse
import heapq
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from console.core.statistics.decision import Decision, decide
from console.core.statistics.intervals import rate_interval
from console.core.statistics.sample import Cluster, Observation, Sample, sample_of
from console.core.statistics.sequential import (
    ALPHA,
    Boundary,
    even_looks,
    is_narrow,
    race,
    width_looks,
)
from console.core.statistics.sequential import LEAST_CASES as CASES
from console.core.statistics.sequential import LEAST_CLUSTERS as CLUSTERS

MARGIN = 0.01
DISCORDANCE = 0.15
Draw = Callable[[random.Random], list[list[Observation]]]
"""Returns differences B - A by cluster."""


def pairs(cases: int, truth: float, *, clusters: int = 0, rollouts: int = 1) -> Draw:
    """Draw differences of cases of which two equal models end 15 % differently, in clusters that agree or alone."""

    def draw(source: random.Random) -> list[list[Observation]]:
        size = cases // (clusters or cases)
        units: list[list[Observation]] = []
        for unit in range(clusters or cases):
            shift = source.gauss(0, 0.03) if clusters else 0.0  # cases of a cluster move together
            gain, loss = (DISCORDANCE + sign * (truth + shift) for sign in (1, -1))
            units.append(
                [
                    Observation(f"{unit}-{case}", value, "", str(unit) if clusters else "")
                    for case in range(size)
                    for value in _values(source, gain / 2, loss / 2, rollouts)
                ]
            )
        return units

    return draw


def _values(source: random.Random, gain: float, loss: float, rollouts: int) -> Iterator[float]:
    for _ in range(rollouts):
        at = source.random()
        yield 1.0 if at < gain else -1.0 if at < gain + loss else 0.0


def against_baseline(units: Sequence[Sequence[Observation]]) -> tuple[Decision, Decision, int]:
    """Return the verdict of a fixed run and of one with looks, and the cases that the latter played."""
    sizes = [len({item.case for item in unit}) for unit in units]
    looks = even_looks(sizes, least_units=CLUSTERS, least_cases=CASES)
    boundary = Boundary(tuple(share for _, share in looks))
    per_case = len(units[0]) // sizes[0]
    listed = [item for unit in units for item in unit]
    fixed = decide(*Boundary().interval(sample_of(listed), 1), -MARGIN, -MARGIN)
    for number, (cases, _) in enumerate(looks, 1):
        sample = sample_of(listed[: cases * per_case])
        decision = decide(*boundary.interval(sample, number), -MARGIN, -MARGIN)
        if decision is not Decision.CANNOT_TELL or number == len(looks):
            return fixed, decision, cases
    raise AssertionError


def verdicts(name: str, draw: Draw, runs: int) -> None:
    """Print one row of shares."""
    ended = [against_baseline(draw(random.Random(seed))) for seed in range(runs)]
    fixed, looked = (Counter(row[place] for row in ended) for place in (0, 1))
    cells = [
        f"{counts[verdict] / runs:6.3f}"
        for counts in (fixed, looked)
        for verdict in (Decision.WORSE, Decision.NOT_WORSE)
    ]
    print(f"{name:34}  {'  '.join(cells)}  {sum(row[2] for row in ended) / runs:8.0f}")


def widths(rate: float, half_width: float, runs: int, cases: int = 2_000) -> None:
    """Print coverage at the end and mean number of cases of runs that end at a given width."""
    covered = played = 0
    looks = width_looks([1] * cases)
    for seed in range(runs):
        source, passed, done = random.Random(seed), 0, 0
        for look in looks:
            passed += sum(source.random() < rate for _ in range(look - done))
            done = look
            sample = Sample((Cluster(1, 0.0, done - passed), Cluster(1, 1.0, passed)), done)
            interval = rate_interval(sample)
            if is_narrow(interval, half_width) or look == looks[-1]:
                break
        assert interval is not None
        covered += (interval.low or 0.0) <= rate <= (interval.high or 0.0)
        played += done
    print(f"{rate:6.2f}  {covered / runs:8.3f}  {played / runs:6.0f}")


def live_means(at_once: int, runs: int, rate: float = 0.7, cases: int = 1_000) -> None:
    """Print the mean of what has finished, and of the complete prefix of the same length, with slow failures."""
    marks = (50, 100, 200, 400)
    finished, prefix = Counter[int](), Counter[int]()
    for seed in range(runs):
        source = random.Random(seed)
        passes = [source.random() < rate for _ in range(cases)]
        flying: list[tuple[float, int]] = []
        ended = good = 0
        now = 0.0
        for case, passed in enumerate(passes):
            if len(flying) == at_once:
                now, first = heapq.heappop(flying)
                ended, good = ended + 1, good + passes[first]
                if ended in marks:
                    finished[ended] += good
            heapq.heappush(flying, (now + source.lognormvariate(0, 0.6) * (1 if passed else 3), case))
        for mark in marks:
            prefix[mark] += sum(passes[:mark])
    cells = [f"{finished[mark] / runs / mark:.3f} {prefix[mark] / runs / mark:.3f}" for mark in marks]
    print(f"{at_once:8}  {'   '.join(cells)}")


def races(rates: Sequence[float], runs: int, cases: int = 1_000) -> None:
    """Print how often a race finds and loses its first model, which is (one of) the best, and the calls it takes.

    The models have half of what makes a case hard in common.
    """
    looks = even_looks([1] * cases, least_units=CLUSTERS, least_cases=CASES)
    boundary = Boundary(tuple(share for _, share in looks), ALPHA / (len(rates) - 1))
    found = lost = played = 0
    for seed in range(runs):
        source = random.Random(seed)
        values: dict[str, list[Observation]] = {str(number): [] for number in range(len(rates))}
        for case in range(cases):
            common = source.random()
            for number, rate in enumerate(rates):
                at = common if source.random() < 0.5 else source.random()
                values[str(number)].append(Observation(str(case), float(at < rate)))
        alive, before = list(values), 0
        for number, (upto, _) in enumerate(looks, 1):
            played += (upto - before) * len(alive)
            before = upto
            _, standings = race({name: values[name][:upto] for name in alive}, boundary, number)
            alive = [name for name in alive if not standings[name].is_out]
            if len(alive) == 1:
                break
        found += alive == ["0"]
        lost += "0" not in alive
    words = " ".join(f"{rate:.2f}" for rate in rates)
    print(f"{words:16}  {found / runs:6.3f}  {lost / runs:6.3f}  {played / runs / cases / len(rates):8.0%}")


def whole_suite(runs: int, cases: int = 1_000, part: int = 300) -> None:
    """Print the squared standard error of B's mean with A's help, relative to that of B's cases alone."""
    ratio = 0.0
    covered = 0
    for seed in range(runs):
        source = random.Random(seed)
        a = [source.random() < 0.6 for _ in range(cases)]
        b = [not value if source.random() < 0.15 else value for value in a]
        changes = sample_of(Observation(str(n), float(b[n]) - float(a[n])) for n in range(part))
        alone = sample_of(Observation(str(n), float(b[n])) for n in range(part))
        ratio += (changes.standard_error / alone.standard_error) ** 2
        low, high = Boundary().interval(changes, 1)
        covered += low <= (sum(b) - sum(a)) / cases <= high
    print(f"{1 - ratio / runs:.0%} fewer cases than B alone; covers B's mean on all cases in {covered / runs:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="simulated runs per row")
    runs = parser.parse_args().runs
    full = Boundary(tuple(step / 20 for step in range(1, 21)))
    print(f"constant of 20 looks at alpha .05: {full.constant:.4f}\n")
    print(f"{'B - A, margin 1 point':34}  fixed: worse, not   looks: worse, not   cases")
    for points in (-15, -10, -6, -3, -1, 0, 5, 10):
        verdicts(f"{points:+d}, 1,000 cases", pairs(1_000, points / 100), runs)
    verdicts("-1, 400 cases in 40 clusters", pairs(400, -MARGIN, clusters=40), runs)
    verdicts("-1, 1,000 cases in 200 clusters", pairs(1_000, -MARGIN, clusters=200), runs)
    verdicts("-1, 100 cases of 4 rollouts", pairs(100, -MARGIN, rollouts=4), runs)
    print("\nuntil ± 3 points: rate, coverage, cases of 2,000")
    for rate in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9):
        widths(rate, 0.03, runs)
    print("\nfailures three times as slow, truth .70: mean of the first 50, 100, 200, 400 finished, and of the prefix")
    for at_once in (16, 64, 128):
        live_means(at_once, runs)
    print("\nraces over 1,000 cases: rates, the first is found to be the best, is lost, calls of all")
    for rates in ((0.7, 0.6, 0.5), (0.7, 0.65, 0.6), (0.7, 0.7, 0.6), (0.7, 0.7, 0.7)):
        races(rates, max(runs // 5, 20))
    print("\nthe whole suite from 300 of 1,000 cases and a baseline that differs in 15 % of them:")
    whole_suite(runs)


if __name__ == "__main__":
    main()
