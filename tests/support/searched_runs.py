"""Indexed runs of two models in which the same words come up, for tests of search and history."""

from pathlib import Path

import pytest
from support.recorded_runs import Recorder

from console.core.chat import Reply
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.exchange.search.indexing import IndexUpdate
from console.tui.data.search_indexing import SearchIndexing

CASE = "seat-for-two"
"""A case of all runs; its data are others in the first."""
ANSWERS = {
    "a": ("sim/hasty", {CASE: "I booked one seat.\nIt will be fine!", "refund": "The refund is on its way."}),
    "b": ("sim/hasty", {CASE: "I booked two seats.", "refund": "A refund? Never! [b]No[/b] \x1b[2Jrefund."}),
    "c": ("sim/careful", {f"case-{n}": f"Seat {n} is refunded, refund number {n}." for n in range(5)}
          | {CASE: "Two seats, as you wish."}),
}  # fmt: skip
"""By run: its model, and the answer in each case; an exclamation mark ends in failure."""


def searched_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write and index the runs; nothing else is indexed in the background."""
    for name, (model, answers) in ANSWERS.items():
        recorder = Recorder(root, cases=len(answers), name=name, model=ModelFacts(model))
        for case, answer in answers.items():
            key = recorder.start(case, title=case, seats=3 if (name, case) == ("a", CASE) else 2)
            recorder.ask(key, "A seat for me and my wife, please", Reply(answer))
            recorder.finish(key, Outcome.FAILED if "!" in answer else Outcome.PASSED, "wrong" if "!" in answer else "")
        recorder.close()
    IndexUpdate(root).run()
    monkeypatch.setattr(SearchIndexing, "update", lambda self: None)
