"""Search in a million conversations: time and size of the index, time to the first hits, history of a case.

    python perf/bench_search.py [--rollouts 1000000] [--runs 1000]

Runs are folders with hard links to a few journals of random text, so that little of the disk is taken. Ends with 1 when
the first hits of any query, or a history, take longer than they may.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.recorded_runs import AT, Recorder  # noqa: E402

from console.core.chat import Reply, ToolCall  # noqa: E402
from console.core.outcome import Outcome  # noqa: E402
from console.exchange.search.case_history import case_history  # noqa: E402
from console.exchange.search.hits import Search  # noqa: E402
from console.exchange.search.indexing import IndexUpdate  # noqa: E402
from console.insight.search_query import read_query  # noqa: E402
from console.store.search_index import search_path  # noqa: E402

MAY_TAKE_S = 0.3
JOURNALS = 10
VOCABULARY = 30_000
QUERIES = {
    "a word of every conversation": "composing",
    "two frequent words": "w3 w5",
    "an ordinary word": "w700",
    "a phrase": '"w1 w2"',
    "a prefix": "w29*",
    "a rare word": "needle4",
    "two frequent words, not together": "w0 -w1 -w2 -w3",
    "the oldest run only": "needle0",
    "failed, of one category": "w50 is:failed cat:live_3",
    "two words that never meet": "needle1 needle2",
    "nothing": "nowhere",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rollouts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="search-") as name:
        root = Path(name) / "runs"
        began = time.perf_counter()
        make_runs(root, options.runs, options.rollouts // options.runs)
        journal_bytes = sum(path.stat().st_size for path in root.glob("*/journal.jsonl"))
        made_s = time.perf_counter() - began
        print(f"{options.runs} runs, journals of {journal_bytes / 1e9:.2f} GB (made in {made_s:.0f} s)")
        took_s, cpu_s = timed(lambda: IndexUpdate(root).run())
        size = sum(path.stat().st_size for path in search_path(root).parent.glob("search.sqlite*"))
        rate = options.rollouts / took_s
        print(f"index made in {took_s:.0f} s ({cpu_s:.0f} CPU, {rate:.0f} a second): {size / 1e6:.0f} MB")
        took_s, cpu_s = timed(lambda: IndexUpdate(root).run())
        print(f"nothing new: {took_s:.2f} s ({cpu_s:.2f} CPU)")
        slow = [words for words, query in QUERIES.items() if measure(root, words, query) > MAY_TAKE_S]
        with Search(root) as search:
            began = time.perf_counter()
            runs = case_history(search, "recorded", "case_3")
            took_s = time.perf_counter() - began
            print(f"history of a case: {len(runs)} runs in {took_s * 1000:.1f} ms")
    slow += ["history"] * (took_s > MAY_TAKE_S)
    for words in slow:
        print(f"FAILED: {words}: more than {MAY_TAKE_S} s")
    return 1 if slow else 0


def measure(root: Path, words: str, query: str) -> float:
    """Search, print how long the first hits and all of them took, and return the former."""
    began, first_s = time.perf_counter(), 0.0
    with Search(root) as search:
        by_run: dict[str, int] = {}
        for run in search.run(read_query(query)):
            by_run[run.folder.name] = run.count
            first_s = first_s or time.perf_counter() - began
        all_s = time.perf_counter() - began
    first_s = first_s or all_s
    hits = f"{sum(by_run.values())} hits in {len(by_run)} runs"
    print(f"  {words:34} first {first_s * 1000:7.1f} ms   all {all_s:7.2f} s   {hits}")
    return first_s


def make_runs(root: Path, count: int, rollouts: int) -> None:
    """Write a few journals and link them into the folders of all runs."""
    draw = random.Random(7)
    originals = [make_run(root.parent / "originals", number, rollouts, draw) for number in range(min(JOURNALS, count))]
    for number in range(count):
        folder = root / f"run-{number:05}"
        original = originals[1 + number % (len(originals) - 1)] if number else originals[0]  # of the oldest run only
        folder.mkdir(parents=True)
        manifest = msgspec.json.decode(original.manifest_path.read_bytes())
        (folder / "run.json").write_bytes(msgspec.json.encode(manifest | {"id": folder.name, "at": AT + number}))
        os.link(original.journal_path, folder / "journal.jsonl")


def make_run(root: Path, number: int, rollouts: int, draw: random.Random):
    """Write one run in which every conversation has a question, an answer, a call and its result."""
    recorder = Recorder(root, cases=rollouts, name=f"original-{number}")
    for case in range(rollouts):
        key = recorder.start(f"case_{case}", f"live_{case % 7}", title=text(draw, 12))
        call = ToolCall("1", "get_weather", f'{{"city": "{text(draw, 2)}"}}')
        recorder.ask(key, text(draw, 60), Reply(text(draw, 90), (call,)))
        result = {"role": "tool", "content": text(draw, 40), "tool_call_id": "1"}
        recorder.ask(key, "", Reply(text(draw, 60)), n=2, messages=[result])
        passed = draw.random() < 0.7
        recorder.finish(key, Outcome.PASSED if passed else Outcome.FAILED, "" if passed else "wrong_value")
    key = recorder.start(f"needle_{number}")
    recorder.ask(key, f"needle{number}", Reply("done"))
    recorder.finish(key, Outcome.PASSED)
    return recorder.close()


def text(draw: random.Random, words: int) -> str:
    """Return words of a vocabulary in which the n-th is about n times as rare as the first."""
    return " ".join(f"w{int(VOCABULARY ** draw.random()) - 1}" for _ in range(words))


def timed(act: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds and the processor seconds that something takes."""
    began, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - began, time.process_time() - cpu


if __name__ == "__main__":
    sys.exit(main())
