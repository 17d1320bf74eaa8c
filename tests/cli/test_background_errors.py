"""An unexpected error in a thread or task ends a run at once, with a sentence, and it can be resumed."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from console.cli import progress
from console.cli.exitcode import Exit
from console.core.record import Asked, Closed, Finished
from console.engine import journal_buffer
from console.engine.publish import Publisher
from console.store import lock
from console.store.runs import RunFolder

RUN = ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "4", "-c", "1")


def without_data_sync(patch: pytest.MonkeyPatch) -> None:
    patch.delattr(os, "fdatasync" if sys.platform == "linux" else "fsync")


def watch_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(journal_buffer, "LOOK_EVERY_S", 0.01)
    patch.setattr(lock, "read_holder", _fail)


def publisher_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Publisher, "_tick", _fail_later)


def progress_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(progress.Progress, "beat", _fail_later)


def _fail(*_: object) -> None:
    raise AttributeError("nobody expects this")


async def _fail_later(*_: object) -> None:
    _fail()


@pytest.mark.parametrize(
    ("failing", "name"),
    [
        (without_data_sync, "journal sync"),
        (watch_fails, "journal watch"),
        (publisher_fails, "publisher"),
        (progress_fails, "progress"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_a_run_ends_at_once_with_the_cause_and_is_resumed(
    console: Any, home: Path, monkeypatch: pytest.MonkeyPatch, failing: Any, name: str
) -> None:
    monkeypatch.delenv("EVAL_CONSOLE_SIM_PACE")  # so that the run would go on for a while
    with monkeypatch.context() as patch:
        failing(patch)
        ended = console(*RUN)
    assert ended.code == Exit.INTERNAL
    assert f"internal error in the {name}: AttributeError" in ended.err
    assert "`eval-console resume` continues it" in ended.err
    assert "Finished cases are kept." in ended.err
    [run] = [RunFolder(path.parent) for path in home.glob("runs/*/run.json")]
    before = [*run.reader().iter_all()]
    closed = before[-1]
    assert isinstance(closed, Closed)
    assert closed.reason == "halted"
    assert f"internal error in the {name}: AttributeError" in run.summary().message
    assert run.summary().tally.finished < 4
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    assert console("resume").code == Exit.OK
    after = [*run.reader().iter_all()]
    assert after[: len(before)] == before
    assert len({record.key for record in after if isinstance(record, Finished)}) == 4
    asked = [(record.key, record.n) for record in after if isinstance(record, Asked)]
    assert len(asked) == len(set(asked))
    assert not run.is_unconfirmed
