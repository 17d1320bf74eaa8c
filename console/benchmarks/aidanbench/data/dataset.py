"""Questions from the suite's folder, or from the user's options. Nothing is skipped or repaired silently.

A suite's folder contains `questions.jsonl`: one object per line with `question` and optionally `id`, `category` and
`cluster` (shared by questions that are not independent).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from console.benchmarks.aidanbench.data.hub import read_dataset
from console.benchmarks.aidanbench.options import AidanOptions
from console.config.paths import expanded
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.store.atomic import read_regular_text

FILE = "questions.jsonl"
CATEGORY = "questions"
"""Category of questions without one."""


class Question(msgspec.Struct, frozen=True):
    """One question of a set."""

    id: str
    question: str
    category: str = CATEGORY
    cluster: str = ""
    """Cluster of related questions in the category, such as a theme."""


class QuestionSet(msgspec.Struct, frozen=True):
    """A list of questions with the facts that a run records about it."""

    name: str
    questions: tuple[Question, ...]

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of the questions in order."""
        return question_digest([question.question for question in self.questions])


def question_digest(texts: list[str]) -> str:
    """Return the first 16 hex digits of the SHA-256 of questions in order."""
    return hashlib.sha256(json.dumps(texts, ensure_ascii=True).encode()).hexdigest()[:16]


def load_questions(folder: Path, name: str, options: AidanOptions) -> QuestionSet:
    """Return the questions of a run.

    Args:
        folder: the suite's dataset folder.
        name: the suite's name, given to the set unless the questions are the user's own.
        options: the options `questions`, `questions_path`, `dataset` and `num_questions`.

    Raises:
        UsageError: a file is missing, damaged or empty; names the file and line.
    """
    values = options.values
    if values["questions"] is not None:
        question_set = _question_set("custom", list(_texts(values["questions"], "questions")))
    elif values["questions_path"] is not None:
        path = expanded(values["questions_path"])
        question_set = _question_set(path.name, read_list(path))
    elif values["dataset"] is not None:
        question_set = _question_set(values["dataset"], read_dataset(values["dataset"], values["dataset_split"]))
    else:
        question_set = read_folder(folder, name)
    return QuestionSet(question_set.name, question_set.questions[: values["num_questions"]])


def read_folder(folder: Path, name: str) -> QuestionSet:
    """Read the questions of a suite's folder.

    Raises:
        UsageError: missing or damaged; names the line.
    """
    path = folder / FILE
    questions = [_question(row, number, f"{path}:{number}") for number, row in enumerate(_rows(_read(path), path), 1)]
    if not questions:
        raise UsageError("contains no questions", where=str(path))
    seen: dict[str, int] = {}
    for number, question in enumerate(questions, 1):
        if question.id in seen:
            raise UsageError(f"id {question.id!r} occurs twice (first in line {seen[question.id]})", where=str(path))
        seen[question.id] = number
    return QuestionSet(name, tuple(questions))


def read_list(path: Path) -> list[str]:
    """Read a user's list: a JSON list of strings, or one question per line.

    Raises:
        UsageError: missing, empty, or JSON that is not a list.
    """
    text = _read(path)
    try:
        value = read_json(text)
    except ValueError:
        if text.lstrip().startswith(("[", "{")):
            raise UsageError("begins like JSON but is not valid", where=str(path)) from None
        value = [line for line in text.splitlines() if line.strip()]
    return list(_texts(value, str(path)))


def _texts(value: object, where: str) -> Iterator[str]:
    """Yield the strings of a list; numbers are converted, as in the reference."""
    if not isinstance(value, list) or not value:
        raise UsageError("must be a list of at least one question", where=where)
    for number, item in enumerate(cast(list[object], value), 1):
        if isinstance(item, bool) or not isinstance(item, str | int | float) or not str(item).strip():
            raise UsageError(f"item {number} is not a string: {item!r}", where=where)
        yield str(item).strip()


def _question_set(name: str, texts: list[str]) -> QuestionSet:
    width = max(2, len(str(len(texts))))
    return QuestionSet(name, tuple(Question(f"q{number:0{width}}", text) for number, text in enumerate(texts, 1)))


def _question(row: Mapping[str, Any], number: int, where: str) -> Question:
    return Question(
        id=_text(row, "id", f"q{number:02}", where),
        question=_text(row, "question", "", where),
        category=_text(row, "category", CATEGORY, where),
        cluster=_text(row, "cluster", "", where) if "cluster" in row else "",
    )


def _text(row: Mapping[str, Any], key: str, default: str, where: str) -> str:
    value = row.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"`{key}` must be a non-empty string", where=where)
    return value.strip()


def _rows(text: str, path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = read_json(line)
        except ValueError as error:
            raise UsageError(f"is not JSON: {reason_of(error)}", where=f"{path}:{number}") from error
        if not isinstance(row, dict):
            raise UsageError("must be an object with `question`", where=f"{path}:{number}")
        yield cast(Mapping[str, Any], row)


def _read(path: Path) -> str:
    try:
        return read_regular_text(path)
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", where=str(path), hint="Give the path of a file."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 text: {error.reason} at byte {error.start}", where=str(path)) from error
