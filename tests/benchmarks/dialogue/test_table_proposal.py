"""What the columns of somebody's table are taken for, and what is written of it."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from console.benchmarks.dialogue.data.proposal import propose, write_from_table
from console.core.fault import UsageError
from console.suites.catalog import open_folder_suite
from console.testing.case_play import usual_setting


def table(folder: Path, *rows: Sequence[str], name: str = "table.csv") -> Path:
    path = folder / name
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize(
    ("rows", "columns", "judged"),
    [
        ([("Question", "Answer"), ("a?", "B"), ("b?", "c")], {"Question": "prompt", "Answer": "choice"}, False),
        ([("input", "target"), ("a?", "1,200"), ("b?", "-3.5")], {"input": "prompt", "target": "number"}, False),
        ([("query", "label"), ("a?", "Lisbon"), ("b?", "in 3 days")], {"query": "prompt", "label": "contains"}, False),
        ([("query", "label"), ("a?", "Lisbon"), ("b?", "no")], {"query": "prompt"}, False),
        ([("prompt", "reference"), ("a?", "x" * 90)], {}, True),
        ([("prompt", "rubric", "answer"), ("a?", "kind", "x")], {"rubric": "judge"}, False),
        ([("text", "question", "topic"), ("t", "a?", "x")], {"question": "prompt", "topic": "category"}, False),
        ([("prompt", "contains", "answer"), ("a?", "x", "y")], {}, False),
    ],
    ids=["letters", "numbers", "short", "words", "long", "rubric", "two questions", "has a check"],
)
def test_columns_are_taken_for_what_they_are(
    tmp_path: Path, rows: list[Sequence[str]], columns: dict[str, str], judged: bool
) -> None:
    proposal = propose(table(tmp_path, *rows))
    assert proposal.columns == columns
    assert bool(proposal.judge) == judged


@pytest.mark.parametrize("answers", [("Lisbon", "no"), ("x" * 80, "y" * 80)], ids=["words", "judged"])
def test_a_column_that_is_used_is_not_called_unused(tmp_path: Path, answers: tuple[str, str]) -> None:
    rows = [("a?", answers[0], "z"), ("b?", answers[1], "z")]
    sentences = propose(table(tmp_path, ("question", "answer", "extra"), *rows)).sentences()
    assert any("answer" in sentence for sentence in sentences[:-1])
    assert sentences[-1].endswith("{name}: extra")


def test_what_is_written_can_be_read_and_the_table_is_kept_as_it_was(tmp_path: Path) -> None:
    path = table(tmp_path, ('A "question"', "answer"), ("Is [bold]this[/] a = b?", "x" * 80), ("b?", "y" * 80))
    path.write_bytes(path.read_bytes().replace(b'"A ""question"""', b"question"))
    files, sentences = write_from_table(tmp_path / "data", "mine", path)
    assert (tmp_path / "data" / "mine" / "cases.csv").read_bytes() == path.read_bytes()
    assert sentences[0] == "2 rows of table.csv, copied"
    suite = open_folder_suite(files[0].parent)
    assert [case.title for case in suite.cases((), usual_setting(suite))] == ["Is [bold]this[/] a = b?", "b?"]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("a,b\n1,2\n", "t.csv", "has no column with the question; its columns: a, b"),
        ("prompt\n", "t.csv", "has no rows"),
        ("prompt,prompt\n1,2\n", "t.csv", "two columns named"),
        ("{", "t.jsonl", "is not JSON"),
        ("x", "t.xlsx", "unsupported file type"),
        (None, "t.csv", "cannot be read"),
    ],
)
def test_a_table_that_cannot_be_is_refused_and_nothing_is_written(
    tmp_path: Path, text: str | None, name: str, message: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as caught:
        write_from_table(tmp_path / "data", "mine", path)
    assert message in str(caught.value)
    assert not (tmp_path / "data").exists()
