"""The tables of faults name tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"


def test_every_row_names_tests_that_exist() -> None:
    faults = PAGE.read_text(encoding="utf-8").partition("\n## Faults\n")[2]
    rows = [line.split(" | ") for line in faults.splitlines() if line.startswith("| ") and "| what holds |" not in line]
    assert len(rows) > 60
    for row in rows:
        assert len(row) == 3, row
        for name in row[2].removesuffix(" |").split("; "):
            assert re.fullmatch(r"(?:[a-z0-9]+/)+test_\w+\.py", name), row
            assert (TESTS / name).is_file(), name
