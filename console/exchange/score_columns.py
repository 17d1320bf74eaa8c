"""Scores of a run next to the original one: by corrected keys, and corrected by people's labels; never combined."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console.core.case import Slot
from console.core.outcome import Outcome
from console.core.statistics.intervals import bounds
from console.exchange.run_reader import RunReader
from console.exchange.suspects import errata_file, given_answer
from console.insight.number_format import plural, rate, with_interval
from console.insight.reader_labels import ReaderScore, judged_answers, reader_score
from console.insight.report import Row, Section
from console.insight.rollout import Rollout
from console.insight.suspects import GivenAnswer, ThreeScores, three_scores
from console.store.errata import AMBIGUOUS, RIGHT, WRONG, Erratum, read_errata
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.suites.run_suite import open_run_suite

_HEADINGS = ("scores", "as graded", "without contested", "corrected keys", "corrected by people")
_NONE = "—"


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The scores of one run."""

    keys: ThreeScores | None
    """None if no key of a played case has been decided."""
    people: ReaderScore | None
    """None if there are no labels of readers."""

    @property
    def as_graded(self) -> float | None:
        """The score by the keys and the judge of the run."""
        if self.keys is not None:
            return self.keys.official
        return self.people.judge_alone if self.people is not None and not self.people.is_of_rounds else None

    @property
    def words(self) -> str:
        """The scores next to the one as graded, such as `corrected keys 0.8   corrected by people 0.7 [0.6 0.8]`."""
        named = zip(_HEADINGS[2:], _cells(self)[1:], strict=True)
        return "   ".join(f"{name} {cell}" for name, cell in named if cell != _NONE)

    @property
    def fields(self) -> dict[str, Any]:
        """The scores as JSON values, each under its own name."""
        corrected = self.people.corrected if self.people is not None else None
        return {
            "as_graded": self.as_graded,
            "without_contested": self.keys.without_contested if self.keys is not None else None,
            "corrected_keys": self.keys.corrected if self.keys is not None else None,
            "corrected_by_people": None if corrected is None else {"value": corrected.value, **bounds(corrected)},
        }


def score_columns(folder: RunFolder, data: Path | None) -> ScoreColumns | None:
    """Return the scores of a run; None, without reading its journal, if nobody decided on a key or labeled an answer.

    Raises:
        UsageError: the errata cannot be read.
    """
    errata = read_errata(errata_file(data, folder.manifest().suite))
    annotations = Notes(folder.path).annotations()
    if not errata and not any(annotation.people or annotation.rounds for annotation in annotations.values()):
        return None
    return columns_of(RunReader(folder), data)


def columns_of(reader: RunReader, data: Path | None) -> ScoreColumns | None:
    """Return the scores of a run that has been read; None if nobody decided on a key or labeled an answer.

    Raises:
        UsageError: the errata cannot be read.
    """
    errata, annotations = read_errata(errata_file(data, reader.manifest.suite)), reader.annotations()
    side = reader.side
    contested = contested_keys(errata, side.case_digests)
    people = reader_score(judged_answers(side.rollouts.values(), reader.manifest), annotations)
    if not contested and people is None:
        return None
    return ScoreColumns(_with_keys(reader, contested, data) if contested else None, people)


def contested_cases(folder: RunFolder, data: Path | None) -> Collection[str]:
    """Return the cases whose key is wrong or ambiguous by the errata; the journal is read only if there are any.

    Raises:
        UsageError: the errata cannot be read.
    """
    errata = read_errata(errata_file(data, folder.manifest().suite))
    return contested_keys(errata, RunReader(folder).side.case_digests) if errata else ()


def contested_keys(errata: Mapping[str, Erratum], case_digests: Mapping[str, str]) -> dict[str, Erratum]:
    """Return the errata that call a key wrong or ambiguous, excluding stale ones."""
    return {
        case: each for case, each in errata.items() if each.decision != RIGHT and case_digests.get(case) == each.digest
    }


def _with_keys(reader: RunReader, contested: dict[str, Erratum], data: Path | None) -> ThreeScores:
    """Return the scores with readers' key decisions, by rollout; only contested answers are read."""
    suite = open_run_suite(reader.manifest, data)
    answers: dict[str, GivenAnswer] = {}
    wrong: dict[str, str] = {}
    ambiguous: set[str] = set()
    for slot, played in reader.side.rollouts.items():
        if not played.graded or played.outcome not in (Outcome.PASSED, Outcome.FAILED):
            continue
        erratum, name = contested.get(slot[0]), _name(slot)
        if erratum is None:
            answers[name] = _unread(played)
            continue
        answers[name] = given_answer(suite, reader.conversation(played.key), played)
        if erratum.decision == WRONG:
            wrong[name] = erratum.answer
        elif erratum.decision == AMBIGUOUS:
            ambiguous.add(name)
    return three_scores(answers, wrong, frozenset(ambiguous))


def _unread(played: Rollout) -> GivenAnswer:
    return GivenAnswer(played.outcome is Outcome.PASSED, "")


def _name(slot: Slot) -> str:
    return f"{slot[0]} {slot[1]}"


def columns_section(columns: Iterable[tuple[str, ScoreColumns | None]]) -> Section | None:
    """Return a table of the scores of runs, by name, or None if no run has more than the score as graded.

    A column in which no run has a score is left out.
    """
    rows = [(name, *_cells(each)) for name, each in columns if each is not None]
    kept = [column for column in range(len(_HEADINGS)) if any(row[column] != _NONE for row in rows)]
    cells = (Row(tuple(row[column] for column in kept)) for row in rows)
    headings = tuple(_HEADINGS[column] for column in kept)
    return Section("Scores", headings, tuple(cells), frozenset(range(1, len(kept)))) if rows else None


def columns_fields(a: ScoreColumns | None, b: ScoreColumns | None) -> dict[str, Any]:
    """Return the scores of two compared runs as JSON values; empty if neither has more than the score as graded."""
    sides = {"a": a, "b": b}
    if not any(sides.values()):
        return {}
    return {"corrected": {side: each.fields if each is not None else None for side, each in sides.items()}}


def _cells(columns: ScoreColumns) -> tuple[str, str, str, str]:
    keys, people = columns.keys, columns.people
    corrected = people.corrected if people is not None else None
    by_people = _NONE if corrected is None else with_interval(corrected.value, corrected.low, corrected.high)
    if people is not None and people.is_of_rounds and corrected is not None:
        by_people = f"{by_people} of {plural(people.judged, 'round')}, judge {rate(people.judge_alone)}"
    of_keys = (keys.without_contested, keys.corrected) if keys is not None else (None, None)
    without, fixed = (_NONE if value is None else rate(value) for value in of_keys)
    return _NONE if columns.as_graded is None else rate(columns.as_graded), without, fixed, by_people
