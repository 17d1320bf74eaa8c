"""Runs whose cases ended as a table says, with repeats and clusters, for tests of what numbers rest on."""

from collections.abc import Mapping
from pathlib import Path

from support.recorded_runs import AT

from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.runs import RunFolder, create_run

OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED, "b": Outcome.BROKEN, "u": Outcome.UNDECIDED}


def graded_run(
    root: Path,
    name: str,
    letters: Mapping[str, str],
    *,
    planned: int | None = None,
    clusters: Mapping[str, str] | None = None,
    category: str = "sums",
    suite: str = "recorded",
    model: str = "gpt-x",
    close: bool = True,
) -> RunFolder:
    """Write a run: by case, a letter for each rollout (passed, failed, broken, undecided)."""
    rollouts = max(map(len, letters.values()), default=1)
    manifest = Manifest(
        id=name, at=AT, suite=suite, model=ModelFacts(model), setting=Setting(), rollouts=rollouts,
        cases=sum(map(len, letters.values())) if planned is None else planned,
    )  # fmt: skip
    folder, at = create_run(root, manifest), AT
    writer = JournalWriter(folder.journal_path)
    writer.append(Opened(at=at, pid=1))
    for case, endings in letters.items():
        asked = Case(case, category, {"question": case}, title=case, cluster=(clusters or {}).get(case, ""))
        for rollout, letter in enumerate(endings):
            key, at = Key(case, rollout), at + 1
            writer.append(Started(at=at, key=key, case=asked))
            outcome = OUTCOMES[letter]
            reason = None if outcome is Outcome.PASSED else "server" if outcome is Outcome.BROKEN else "wrong_sum"
            verdict = Verdict(outcome, reason)
            writer.append(Finished(at=at + 0.5, key=key, verdict=verdict, seconds=0.5, cost_usd=0.001, output="1"))
    if close:
        writer.append(Closed(at=at + 1, reason="completed"))
    writer.close()
    return folder
