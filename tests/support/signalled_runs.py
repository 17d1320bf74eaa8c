"""Plays dialogue runs one after the other, each with a signal to itself at a named point, then resumes it.

    python -m support.signalled_runs FOLDER BASE_URL POINTS

POINTS is a JSON list of [point, count] as in killable_run.py. Prints one JSON line a run: how it ended, with how many
cases left, and whether after the resume its results are those of a run that nothing happened to.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from support import killable_run
from support.dialogue_suite import DialogueSuite

from console.core.record import Finished
from console.engine.launch import run_in_foreground
from console.store.journal import JournalReader
from console.store.runs import create_run

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def play(folder: Path, url: str) -> str:
    """Play or go on with a run; return how it ended."""
    ready = killable_run.prepared(folder, url, DialogueSuite())
    run = killable_run.RunFolder(folder) if folder.exists() else create_run(folder.parent, ready.manifest)
    return run_in_foreground(run, ready).closed.reason


def results(folder: Path) -> dict[str, Any]:
    """What came of every case, once."""
    ended = [record for record in JournalReader(folder / "journal.jsonl").read_new() if isinstance(record, Finished)]
    assert len({record.key for record in ended}) == len(ended), "a case was finished twice"
    return {record.key.case: (record.verdict, record.output, record.calls) for record in ended}


def main() -> None:
    root, url, points = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    play(root / "undisturbed", url)
    expected = results(root / "undisturbed")
    for number in SIGNALS:
        for point, count in points:
            sent: list[int] = []

            def send(number: int = number, sent: list[int] = sent) -> None:
                sent.append(number)
                os.kill(os.getpid(), number)

            killable_run.die = send
            killable_run.arm(point, count)
            folder = root / f"{number.name} {point}".replace(" ", "-")
            reason = play(folder, url)
            left = len(expected) - len(results(folder))
            if reason != "completed":
                assert play(folder, url) == "completed"
            told = {"signal": number.name, "point": point, "sent": bool(sent), "reason": reason, "left": left}
            print(json.dumps(told | {"equal": results(folder) == expected}), flush=True)


if __name__ == "__main__":
    main()
