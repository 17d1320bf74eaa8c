"""An import that was stopped goes on from what is whole."""

from pathlib import Path

import pytest

from console.core.record import Opened
from console.store.staged_run import StagedRun


@pytest.mark.parametrize("lost", [0, 1, 30])
def test_an_import_whose_journal_lost_its_end_is_begun_again(tmp_path: Path, lost: int) -> None:
    staged = StagedRun(tmp_path, "a")
    staged.append([Opened(at=1.0, pid=1), Opened(at=2.0, pid=2)])
    staged.flush(lambda: {"samples": 2})
    staged.close()
    journal = tmp_path / ".imports" / "a" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size - lost])
    again = StagedRun(tmp_path, "a")
    assert again.state == (b"null" if lost else b'{"samples":2}')
    assert len(again.reader().read_new()) == (0 if lost else 2)
    again.close()
