"""The table of faults names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TABLE = TESTS.parent / "docs" / "reliability.md"
FILE = re.compile(r"(?:[a-z0-9]+/)+test_\w+\.py")


def test_every_row_names_tests_that_exist() -> None:
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if re.match(r"\| [\d–]+[a-z]? \|", line)]
    numbers: set[int] = set()
    previous = ""
    for row in rows:
        first, _, last = row.split("|")[1].strip().rstrip("abcdefgh").partition("–")
        numbers |= set(range(int(first), int(last or first) + 1))
        shown = row.split("|")[4]
        files = FILE.findall(shown) or FILE.findall(previous)
        assert files, row
        text = "\n".join((TESTS / name).read_text(encoding="utf-8") for name in files)
        for name in re.findall(r"::(\w+)", shown):
            assert f"def {name}(" in text, f"{name} is in none of {files}"
        previous = shown
    assert numbers == set(range(1, 67))
