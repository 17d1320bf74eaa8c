"""Plays a suite with simulated models again and again, each time with a signal to itself at a named point.

    python -m support.killed_suite_runs FOLDER SUITE CASES [DATA]

CASES is a JSON list of [signal, point, count] with points as in killable_run.py, or the number of kills at random
points that the undisturbed run passes. Every run is resumed where it was left. Prints one JSON line for the run that
nothing happened to, then one for each case: whether the point was reached, how the process ended, how many cases were
left then, whether results and calls are those of the undisturbed run, how many calls were in flight at the end, and
how many were made again.

Runs are played in forked children, so that everything is imported once only.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from support import killable_run

from console.config.paths import WorkspacePaths
from console.core.record import Asked, Finished
from console.core.run import Selection
from console.engine.launch import run_in_foreground
from console.engine.plan import Plan, prepare
from console.llm.simulated import endpoint as simulated
from console.store.journal import JournalReader
from console.store.runs import RunFolder, create_run

SELECTED = {
    "bfcl-starter": Selection(limit=4),
    "aidan-starter": Selection(limit=2),
    "cave-starter": Selection(limit=1),
    "dialogue-starter": Selection(("visitors",), limit=2),
}


def play(folder: Path, suite: str, signals: Sequence[Any] = ("SIGKILL", "nowhere", 1), data: Path | None = None) -> int:
    """Play or go on with a run in a child; return its wait status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 70
    try:
        count_calls(folder.with_suffix(".calls"))
        arm(folder, *signals)
        options = {"i_trust_this_model": True} if sys.platform != "linux" and suite == "cave-starter" else {}
        plan = Plan(
            "sim/careful", suite, SELECTED.get(suite, Selection()), options=options, concurrency=2,
            paths=WorkspacePaths(data=data, runs=folder.parent),
        )  # fmt: skip
        ready = prepare(plan)
        run = RunFolder(folder) if folder.exists() else create_run(folder.parent, renamed(ready.manifest, folder.name))
        code = 0 if run_in_foreground(run, ready).closed.reason == "completed" else 1
        folder.with_suffix(".passed").write_text(json.dumps(killable_run.PASSED))
    finally:
        os._exit(code)


def renamed(manifest: Any, name: str) -> Any:
    return msgspec.structs.replace(manifest, id=name)


def arm(folder: Path, name: str, point: str, count: int) -> None:
    def send() -> None:
        folder.with_suffix(".sent").touch()
        os.kill(os.getpid(), signal.Signals[name])

    killable_run.die = send
    killable_run.remote_endpoint.RemoteEndpoint = simulated.SimulatedEndpoint
    killable_run.arm(point, count)


def count_calls(place: Path) -> None:
    """Write a byte to a file for each call that is made."""
    ask = simulated.SimulatedEndpoint.ask

    async def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        with place.open("ab") as file:
            file.write(b".")
        return await ask(self, *args, **kwargs)

    simulated.SimulatedEndpoint.ask = counted


def made(folder: Path) -> int:
    """Return how many calls were made for a run so far."""
    place = folder.with_suffix(".calls")
    return place.stat().st_size if place.exists() else 0


def drawn(folder: Path, count: int) -> list[list[Any]]:
    """Return random points of an undisturbed run, each kind of point as likely as any other."""
    passed = json.loads(folder.with_suffix(".passed").read_text())
    random = Random(count)
    names = [random.choice(sorted(passed)) for _ in range(count)]
    return [["SIGKILL", name, random.randint(1, passed[name])] for name in names]


def read(folder: Path) -> tuple[dict[str, Any], Counter[str], Counter[str]]:
    """What came of every case, how often it was finished, and how often each call was journaled."""
    records = [*JournalReader(folder / "journal.jsonl").iter_all()]
    ended = [record for record in records if isinstance(record, Finished)]
    verdicts = {
        str(it.key): [
            it.verdict.outcome,
            it.verdict.reason,
            it.verdict.scores,
            it.calls,
            it.output and len(str(it.output)),
        ]
        for it in ended
    }
    calls = Counter(f"{record.key} {record.n}" for record in records if isinstance(record, Asked))
    return verdicts, Counter(str(it.key) for it in ended), calls


def main() -> None:
    root, suite, cases = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    data = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    os.environ["EVAL_CONSOLE_SIM_PACE"] = "flat"
    calm = root / "undisturbed"
    assert play(calm, suite, data=data) == 0
    expected, _, calls = read(calm)
    print(json.dumps({"cases": len(expected), "calls": sum(calls.values())}), flush=True)
    for number, case in enumerate(drawn(calm, cases) if isinstance(cases, int) else cases):
        folder = root / f"{number}"
        first = status = play(folder, suite, case, data)
        journaled, _, kept = read(folder)
        left, in_flight = len(expected) - len(journaled), made(folder) - sum(kept.values())
        if first:
            status = play(folder, suite, data=data)
        verdicts, times, asked = read(folder)
        told = {
            "case": case,
            "sent": folder.with_suffix(".sent").exists(),
            "killed": os.WIFSIGNALED(first) and os.WTERMSIG(first) == signal.SIGKILL,
            "stopped": os.WIFEXITED(first) and os.WEXITSTATUS(first) == 1,
            "left": left,
            "complete": status == 0,
            "equal": verdicts == expected and set(asked) == set(calls),
            "once": set(times.values()) | set(asked.values()) == {1},
            "in flight": in_flight,
            "again": made(folder) - made(calm),
        }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
