"""Creation of a suite from a table, guessing the fields of its columns from names and values."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from console.benchmarks.dialogue.data.dataset import KNOWN
from console.benchmarks.dialogue.data.row_files import NAME, RawRow, read_rows
from console.benchmarks.dialogue.rules.mistakes import Mistakes
from console.config.toml_text import toml_key, toml_value
from console.core.fault import UsageError, os_errors_as
from console.store.atomic import read_regular
from console.suites.new_folder import write_suite

SUFFIXES = (".csv", ".json", ".jsonl", ".yaml", ".yml")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt": ("question", "input", "query", "instruction", "problem", "text", "user_message"),
    "id": ("key", "no", "nr", "number_of_case", "question_id", "case", "case_id", "uid", "name"),
    "category": ("topic", "subject", "type", "group", "area", "kind", "task"),
    "cluster": ("passage_id", "source_id", "document", "document_id"),
    "system": ("system_prompt", "instructions"),
    "judge": ("rubric", "criteria", "grading", "guideline", "guidelines"),
}
"""Alternative column names by field."""
_ANSWERS = ("answer", "expected", "target", "output", "label", "ideal", "reference", "gold", "solution", "ground_truth",
            "correct", "correct_answer", "expected_answer", "expected_output", "reference_answer")  # fmt: skip
_LETTER = re.compile(r"[A-Ja-j]")
WORD = "word"
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")
_SHORT = 60
"""Maximum length, in characters, of answers compared by `contains`; longer ones need a judge."""
_AGREES = "The answer says the same as this reference, in whatever words: {%s}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposed interpretation of a table."""

    file: str
    """Name of the row file in the suite's folder."""
    rows: int
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Fields by column, if the names differ."""
    judge: str = ""
    """Rubric of all rows, if answers need a judge."""
    variables: tuple[str, ...] = ()
    """Columns that are not fields."""
    word: str = ""
    """Column of one-word answers, which must match the whole answer."""

    def sentences(self) -> list[str]:
        """Describe each guess in a sentence. May contain untrusted text."""
        guesses = [f"column {column} is {_MEANINGS.get(name, name)}" for column, name in self.columns.items()]
        guesses += [f"a judge grades each answer: {self.judge}"] if self.judge else []
        guesses += [f"column {self.word} is the whole answer, one word, in any case"] if self.word else []
        left = ", ".join(name for name in self.variables if name != self.word and f"{{{name}}}" not in self.judge)
        return [*guesses, *([f"unused, but available in texts as {{name}}: {left}"] if left else [])]


_MEANINGS = {
    "prompt": "the user's question",
    "id": "the id of the case",
    "category": "the category for --category",
    "judge": "the rubric for the judge",
    "choice": "the right letter",
    "number": "the right number",
    "equals": "the right answer, word for word",
    "contains": "what the answer must contain",
}


def propose(path: Path) -> Proposal:
    """Read a table and guess the fields of its columns.

    Raises:
        UsageError: an unreadable table, or no column with the user's question; names the columns.
    """
    if path.suffix.lower() not in SUFFIXES:
        listed = ", ".join(SUFFIXES)
        raise UsageError("has an unsupported file type", where=str(path), hint=f"Save it as one of {listed}.")
    mistakes = Mistakes()
    with os_errors_as("cannot be read", where=path):
        rows = list(read_rows(path.with_suffix(path.suffix.lower()), read_regular(path), mistakes))
    mistakes.raise_if_any(str(path))
    names = list(dict.fromkeys(name for row in rows for name in row.fields))
    columns = _named(names)
    fields = {columns.get(name, name) for name in names}
    if not fields & {"prompt", "messages", "turns", "user"}:
        raise UsageError(
            f"has no column with the question; its columns: {', '.join(names)}",
            where=str(path),
            hint="Name one of them `prompt`.",
        )
    judge = word = ""
    answer = next((name for name in names if name.lower() in _ANSWERS), "")
    if answer and not fields & _CHECKS:
        check = _check_of(_texts(rows, answer))
        columns |= {answer: check} if check and check != WORD else {}
        word = answer if check == WORD else ""
        judge = "" if check or "judge" in fields else _AGREES % answer
    variables = tuple(name for name in names if columns.get(name, name) not in KNOWN)
    return Proposal(f"{NAME}{path.suffix.lower()}", len(rows), columns, judge, variables, word)


_CHECKS = frozenset({"equals", "contains", "regex", "number", "choice", "json", "calls", "expect", "judge"})


def _named(names: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for field_name, others in _NAMES.items():
        if field_name in names:
            continue
        alike = [
            name for name in names if name not in KNOWN and name.lower().replace(" ", "_") in (field_name, *others)
        ]
        if alike:
            columns[min(alike, key=lambda name: _rank(name, others))] = field_name
    return columns


def _rank(name: str, others: Sequence[str]) -> int:
    plain = name.lower().replace(" ", "_")
    return others.index(plain) if plain in others else -1


def _texts(rows: Iterable[RawRow], column: str) -> list[Any]:
    return [row.fields[column] for row in rows if row.fields.get(column) not in (None, "")]


def _check_of(values: Sequence[Any]) -> str:
    """Return the check that fits all right answers of a column, or an empty string if a judge must compare them."""
    texts = [value.strip() if isinstance(value, str) else str(value) for value in values]
    if not texts:
        return "contains"
    if all(_LETTER.fullmatch(text) for text in texts):
        return "choice"
    if all(_NUMBER.fullmatch(text) for text in texts):
        return "number"
    if all(len(text) <= _SHORT and _WORD.fullmatch(text) for text in texts):
        return WORD
    return "contains" if all(len(text) <= _SHORT for text in texts) else ""


def write_from_table(root: Path, name: str, path: Path) -> tuple[list[Path], list[str]]:
    """Create a suite from a table; return its files and a sentence on each guess.

    Raises:
        UsageError: an unreadable table, no question column, or an existing folder.
    """
    proposal = propose(path)
    files = write_suite(root, name, {"suite.toml": suite_toml(name, proposal), proposal.file: read_regular(path)})
    return files, [f"{proposal.rows} rows of {path.name}, copied", *proposal.sentences()]


def suite_toml(name: str, proposal: Proposal) -> str:
    """Return the commented suite.toml of a proposal."""
    lines = [
        f"# Created from a table copied to {proposal.file}. Check the guessed meaning of its columns.",
        'format = "dialogue"',
        f"title = {toml_value(name)}",
        "",
        "# Column = field: prompt, id, category, cluster, system, judge, or a check: contains, number, choice …",
        "# All fields: `eval-console suites schema dialogue`. Other columns are variables, {column}.",
        "[columns]",
        *(f"{toml_key(column)} = {toml_value(field_name)}" for column, field_name in proposal.columns.items()),
        "",
        "# Default values for all rows.",
        "[defaults]",
        'system = "Answer with one word."' if proposal.word else '# system = "Answer in one sentence."',
    ]
    if proposal.word:
        lines.append(f"expect = [{{ equals = {toml_value(f'{{{proposal.word}}}')}, ignore_case = true }}]")
    if proposal.judge:
        lines += ["# A judge grades each answer from 1 to 5; 4 passes.", f"judge = {toml_value(proposal.judge)}"]
    return "\n".join(lines) + "\n"
