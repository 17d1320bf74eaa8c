"""What a run's summary says was spent: by every call that was answered, whatever became of its conversation."""

from pathlib import Path

import pytest

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, Usage
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Closed, Embedded, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalWriter
from console.store.runs import RunFolder, create_run

PRICED = ModelFacts("m", price_in=1.0, price_out=2.0)
USAGE = Usage(1_000_000, 500_000)


def made(root: Path, *, judge: ModelFacts | None = None, model: ModelFacts = PRICED) -> tuple[RunFolder, JournalWriter]:
    roles = {"judge": judge} if judge else {}
    run = create_run(root, Manifest(id="r", at=1.0, suite="s", model=model, roles=roles, setting=Setting(), cases=2))
    writer = JournalWriter(run.journal_path)
    writer.append(Opened(at=1.0, pid=1))
    for case in "ab":
        writer.append(Started(at=1.0, key=Key(case), case=Case(case, "kind")))
    return run, writer


def asked(case: str, number: int, role: str = "model", usage: Usage | None = USAGE) -> Asked:
    return Asked(at=2.0, key=Key(case), n=number, digest="d", reply=Reply("x", usage=usage), role=role)


def end(case: str, cost_usd: float) -> Finished:
    verdict = Verdict(Outcome.PASSED)
    return Finished(at=3.0, key=Key(case), verdict=verdict, input_tokens=2, output_tokens=1, cost_usd=cost_usd)


def test_calls_of_conversations_that_did_not_end_were_paid(tmp_path: Path) -> None:
    run, writer = made(tmp_path, judge=ModelFacts("j", price_in=3.0, price_out=0.0))
    for record in (
        asked("a", 1),
        end("a", 5.0),
        asked("b", 1),
        asked("b", 2, "judge"),
        Closed(at=4.0, reason="stopped"),
    ):
        writer.append(record)
    writer.close()
    for tally in (run.summary().tally, run.summary().categories["kind"]):
        assert tally.cost_usd == pytest.approx(5.0 + 2.0 + 3.0)
        assert (tally.input_tokens, tally.output_tokens) == (2 + 2_000_000, 1 + 1_000_000)
        assert (tally.finished, tally.cost_unknown) == (1, 0)


def test_what_a_conversation_has_used_is_counted_once_it_ends_as_its_end_says(tmp_path: Path) -> None:
    run, writer = made(tmp_path)
    for record in (asked("a", 1), asked("b", 1), Opened(at=5.0, pid=2), asked("b", 2), end("a", 5.0), end("b", 0.25)):
        writer.append(record)
    writer.close()
    tally = run.summary().tally
    assert (tally.cost_usd, tally.input_tokens, tally.output_tokens) == (5.25, 4, 2)


@pytest.mark.parametrize(
    ("model", "usage", "unknown"),
    [
        (ModelFacts("m"), Usage(10, 10), 1),
        (PRICED, None, 1),
        (ModelFacts("m", simulated=True), Usage(10, 10), 0),
    ],
)
def test_a_call_without_price_or_usage_makes_the_sum_a_lower_bound(
    tmp_path: Path, model: ModelFacts, usage: Usage | None, unknown: int
) -> None:
    run, writer = made(tmp_path, model=model)
    writer.append(asked("a", 1, usage=usage))
    writer.append(Embedded(at=2.0, key=Key("a"), n=2, digest="e", texts=["t"], vectors=[b""], role="gone"))
    writer.close()
    assert (run.summary().tally.cost_usd, run.summary().tally.cost_unknown) == (0.0, unknown)
