"""`GridController`: navigation, listing and answers of Grid, without Textual.

The suites' code reads cases in a thread (`answers`), since it may be slow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from console.core.fault import UsageError, reason_of
from console.core.outcome import Outcome
from console.exchange.suspects import (
    SuiteAnswers,
    errata_file,
    read_answers,
    scores_of_models,
    valid_errata,
)
from console.insight.case_in_run import CaseInRun
from console.insight.conversation import actual_text
from console.insight.grid import Grid, GridCase, GridRow, grid
from console.insight.number_format import plural
from console.insight.number_format import rate as rate_words
from console.insight.suspects import Suspect, suspects
from console.store.errata import Erratum, add_errata, read_errata
from console.store.runs import RunFolder
from console.tui.data.case_reads import CaseReads
from console.tui.data.filter_in_force import FilterInForce, has_words
from console.tui.data.opened_run import OpenedRun, open_run
from console.tui.render.rollout_rows import row_key

EVERY = "every"
"""Row key of all categories combined."""

MOST_OUTPUTS = 6
"""Maximum number of runs whose answers are shown in cells."""
OUTPUT_LIMIT = 400
"""Maximum number of characters in an answer in a cell."""


class ReadRuns(NamedTuple):
    """Several runs, read completely."""

    grid: Grid
    opened: tuple[OpenedRun, ...]


@dataclass(frozen=True, slots=True)
class SuspectKeys:
    """The cases of a suite with suspect keys, and readers' decisions on them. Strings are untrusted."""

    answers: SuiteAnswers
    listed: dict[str, Suspect]
    """The suspect cases, most suspect first."""
    errata: dict[str, Erratum]
    """Valid decisions by case."""
    scores: tuple[str, ...]
    """Three scores of each model as text; empty without errata."""

    def why(self, case: str) -> str:
        """Return the decision on a case, or why its key is suspect, in a few words."""
        if (erratum := self.errata.get(case)) is not None:
            return f"{erratum.decision} ({erratum.reader})"
        suspect = self.listed[case]
        against = f"{suspect.same} of {suspect.models} agree" if suspect.same else ""
        nobody, odd = "nobody passes" if suspect.nobody_passed else "", "odd" if suspect.odd < 0 else ""
        return ", ".join(filter(None, (against, nobody, odd, self.answers.mark(case))))

    def sentences(self, case: str) -> list[str]:
        """Return the grounds for suspecting the key of a case, and the decision on it."""
        key, prompt = (texts.get(case, "") for texts in (self.answers.keys, self.answers.prompts))
        sentences = [self.listed[case].words(key, prompt)] if case in self.listed else []
        sentences += [doubt for doubt in (self.answers.doubts.get(case, ""),) if doubt]
        if (erratum := self.errata.get(case)) is not None:
            right = f", right is {erratum.answer}" if erratum.answer else ""
            reason = f": {erratum.reason}" if erratum.reason else ""
            sentences.append(f"{erratum.decision}{right} ({erratum.reader}, {erratum.date}){reason}")
        return sentences


def read_suspects(runs: Sequence[RunFolder], data: Path | None) -> SuspectKeys:
    """Read the suspect keys of the suite of several runs. Call in a thread.

    Raises:
        UsageError: a run is gone, or the errata cannot be read.
    """
    answers = read_answers(runs, data)
    errata = read_errata(errata_file(data, runs[0].summary().suite))
    listed = {each.case: each for each in suspects(answers.by_case, answers.doubts)}
    words = {model: (s.official, s.without_contested, s.corrected) for model, s in
             scores_of_models(answers, errata).items()}  # fmt: skip
    scores = tuple(
        f"{model}: as graded {_rate(official)} · without contested {_rate(without)} · corrected {_rate(corrected)}"
        for model, (official, without, corrected) in words.items()
    )
    valid = valid_errata(answers, errata)
    return SuspectKeys(answers, listed, valid, scores if valid else ())


def keep_errata(runs: Sequence[RunFolder], data: Path | None, errata: Mapping[str, Erratum]) -> None:
    """Add decisions to the errata of the suite of these runs.

    Raises:
        UsageError: the errata cannot be read or written.
    """
    add_errata(errata_file(data, runs[0].summary().suite), errata)


def _rate(value: float | None) -> str:
    return "—" if value is None else rate_words(value)


class GridController:
    """Several runs, their results by category, and the listed cases."""

    def __init__(
        self,
        runs: Sequence[RunFolder],
        *,
        in_loop: Callable[[Callable[[], None]], object],
        case_arrived: Callable[[], None],
        outputs_arrived: Callable[[str], None] = lambda key: None,
    ) -> None:
        """Initialize without reading; only cases that differ are listed at first.

        Args:
            runs: the runs.
            in_loop: schedules a call in the event loop; thread-safe.
            case_arrived: called in that loop when a case that was not ready for drawing is available.
            outputs_arrived: called in that loop with the row key of a case whose `outputs` have been read.
        """
        self.runs = list(runs)
        self.grid: Grid | None = None
        """All runs, once read."""
        self.place = 0
        """Zero-based index of the run under the cursor."""
        self.category: str | None = None
        """The category under the cursor; None for all."""
        self.rows: dict[str, GridCase] = {}
        """Listed cases by row key, in order; unfolded ones are followed by their repeats."""
        self.current_key = ""
        """Row key of the current case."""
        self.suspects: SuspectKeys | None = None
        """The suspect cases, if listed instead of the cases of a category; None otherwise."""
        self._opened: tuple[OpenedRun, ...] = ()
        self._unfolded: set[str] = set()
        """Row keys of the cases whose repeats are listed."""
        self._only_different = True
        self._words = ""
        self._case_arrived, self._outputs_arrived, self._in_loop = case_arrived, outputs_arrived, in_loop
        self._outputs: dict[str, tuple[str, ...] | None] = {}
        """Start of each run's answer by row key; None while it is being read."""
        self._cases = CaseReads[str, tuple[CaseInRun | None, ...]](in_loop, self._arrive)

    def read(self, data: Path | None) -> ReadRuns:
        """Read all runs. Call in a thread and pass the result to `use_runs`.

        Raises:
            UsageError: a folder is not a run.
            OSError: a journal cannot be read.
        """
        opened = tuple(open_run(run, data) for run in self.runs)
        return ReadRuns(grid([run.reader.side for run in opened]), opened)

    def use_runs(self, runs: ReadRuns) -> None:
        self.grid, self._opened = runs
        self._cases.forget()
        self._outputs.clear()
        self._list()

    def close(self) -> None:
        self._cases.close()

    # Categories ------------------------------------------------------------------------------------------------------

    @property
    def category_keys(self) -> list[str]:
        """Row keys of the category table, all categories combined first; a single category has no row of its own."""
        names = self.grid.categories if self.grid is not None else ()
        return [EVERY, *(f"category {name}" for name in names)] if len(names) > 1 else [EVERY] * bool(names)

    def category_of(self, key: str) -> str | None:
        """Return the category of a row key; None for all."""
        return None if key == EVERY else key.partition(" ")[2]

    def go_to_category(self, key: str) -> None:
        self.category = self.category_of(key)
        self._list()

    def step_run(self, by: int) -> bool:
        """Move to the next or previous run; return False if there is none."""
        place = self.place + by
        if not 0 <= place < len(self.runs):
            return False
        self.place = place
        self._list()
        return True

    # Listing ----------------------------------------------------------------------------------------------------------

    def find(self, words: str) -> None:
        """List only cases with these words."""
        self._words = words
        self._list()

    def toggle_same(self) -> None:
        """Toggle between cases that differ and all cases."""
        self._only_different = not self._only_different
        self._list()

    def list_different(self) -> None:
        self._only_different = True
        self._list()

    def _list(self) -> None:
        """List the cases of the category, starting with those that the current run failed and another passed."""
        if self.suspects is not None:
            listed = self._suspect_cases(self.suspects)
        else:
            listed = [case for case in self._in_scope if any(self._has_words(row) for row in case.repeats)]
            listed.sort(key=self._order)
        self.rows = {}
        for case in listed:
            key = _case_key(case)
            self.rows[key] = case
            if key in self._unfolded:
                self.rows |= {row_key(each.telling.slot): each for each in case.each_repeat}

    def toggle_repeats(self) -> bool:
        """List the repeats of the current case, or hide them; return False if it was played only once."""
        case = self.rows.get(self.current_key)
        if case is None or not (case.is_repeat or case.each_repeat):
            return False
        self.current_key = f"case/{case.telling.slot[0]}"
        self._unfolded ^= {self.current_key}
        self._list()
        return True

    @property
    def cases(self) -> list[GridCase]:
        return [case for case in self.rows.values() if not case.is_repeat]

    def _suspect_cases(self, keys: SuspectKeys) -> list[GridCase]:
        """Return the suspect cases, the undecided first, then the decided."""
        cases = {case.repeats[0].slot[0]: case for case in (self.grid.cases if self.grid is not None else ())}
        names = [name for name in keys.listed if name not in keys.errata]
        listed = [cases[name] for name in (*names, *keys.errata) if name in cases]
        return [case for case in listed if any(self._has_words(row) for row in case.repeats)]

    def list_suspects(self, keys: SuspectKeys | None) -> None:
        """List suspect keys; None lists the cases of the category again."""
        self.suspects = keys
        self._list()

    def _has_words(self, row: GridRow) -> bool:
        return has_words(self._words, row.slot[0], row.category, row.title, *row.reasons)

    def _order(self, row: GridCase) -> tuple[bool, bool]:
        """Return a sort key: rows that differ first, among them those where the current run is below the best."""
        most = max(row.points(place) for place in range(len(self.runs)))
        return not row.differs, row.points(self.place) == most

    @property
    def _in_scope(self) -> list[GridCase]:
        rows = self.grid.of(self.category) if self.grid is not None else []
        return [row for row in rows if row.differs or not self._only_different]

    @property
    def filter_in_force(self) -> FilterInForce | None:
        return FilterInForce(self._words, len(self.cases), len(self._in_scope)) if self._words else None

    @property
    def status(self) -> str:
        """Number of cases that differ, as text."""
        rows = self.grid.cases if self.grid is not None else ()
        return f"{sum(row.differs for row in rows)} of {len(rows)} differ"

    @property
    def list_words(self) -> str:
        """Number and scope of the listed cases, as text."""
        if (keys := self.suspects) is not None:
            return f"{plural(len(self.cases) - len(keys.errata), 'suspect key')}, {len(keys.errata)} decided"
        return f"{len(self.cases)} {'differ' if self._only_different else 'in all'}"

    @property
    def empty_words(self) -> str:
        if self.suspects is not None:
            return "No key is suspect."
        return "Nothing matches. F clears the filter." if self._words.split() else "No case differs. f lists all."

    def pair_for(self, row: GridRow) -> tuple[RunFolder, RunFolder] | None:
        """Return two runs to compare a case by, a passing one first, preferring the run under the cursor.

        None if fewer than two runs have the case.
        """
        outcomes = list(zip(self.runs, row.outcomes, strict=True))
        current = outcomes[self.place : self.place + 1]
        passed = [run for run, outcome in current + outcomes if outcome is Outcome.PASSED]
        others = [run for run, outcome in current + outcomes if outcome not in (None, Outcome.PASSED)]
        if passed and others:
            return passed[0], others[0]
        played = list(dict.fromkeys([*passed, *others], None))
        return (played[0], played[1]) if len(played) > 1 else None

    # The answers -----------------------------------------------------------------------------------------------------

    @property
    def current(self) -> GridCase | None:
        return self.rows.get(self.current_key)

    @property
    def why_no_suite(self) -> str:
        """Error from opening a suite, without which expected results are unavailable; empty if there is none."""
        return next((run.suite.why for run in self._opened if run.suite.why), "")

    def answers(self) -> tuple[CaseInRun | None, ...] | None:
        """Return the current case in each run, None in a run without it; None while reading.

        `case_arrived` is called when reading is done.

        Raises:
            UsageError: a run folder no longer exists.
        """
        current, opened = self.current, self._opened
        assert current is not None

        def read() -> tuple[CaseInRun | None, ...]:
            slots = [current.shown_in(place).slot for place in range(len(opened))]
            rollouts = [run.reader.side.rollouts.get(slot) for run, slot in zip(opened, slots, strict=True)]
            pairs = zip(opened, rollouts, strict=True)
            return tuple(run.read_case(rollout) if rollout is not None else None for run, rollout in pairs)

        return self._cases.get(self.current_key, read)

    def prompt(self, row: GridRow) -> str:
        """Return the title of a case, which is the start of its prompt. Untrusted text."""
        rollouts = (run.reader.side.rollouts.get(row.slot) for run in self._opened)
        return next((rollout.title for rollout in rollouts if rollout is not None and rollout.title), "")

    def outputs(self, key: str) -> tuple[str, ...] | None:
        """Return the start of each run's answer to a case; None until `outputs_arrived` is called with its key."""
        if key not in self._outputs:
            self._outputs[key] = None
            case, opened = self.rows[key], self._opened

            def read() -> None:
                texts = tuple(_output(run, case.shown_in(place)) for place, run in enumerate(opened))
                self._in_loop(lambda: self._use_outputs(key, texts, opened))

            self._cases.thread.start(read)
        return self._outputs[key]

    def _use_outputs(self, key: str, texts: tuple[str, ...], opened: tuple[OpenedRun, ...]) -> None:
        if opened is self._opened:
            self._outputs[key] = texts
            self._outputs_arrived(key)

    def _arrive(self, key: str) -> None:
        if key == self.current_key:
            self._case_arrived()


def _case_key(case: GridCase) -> str:
    return f"case/{case.repeats[0].slot[0]}" if case.each_repeat else row_key(case.telling.slot)


def _output(run: OpenedRun, row: GridRow) -> str:
    """Return the start of the answer to a case in one run, or why there is none. Untrusted text."""
    rollout = run.reader.side.rollouts.get(row.slot)
    if rollout is None:
        return ""
    try:
        return actual_text(run.reader.conversation(rollout.key))[:OUTPUT_LIMIT] or rollout.message
    except (UsageError, OSError) as error:
        return reason_of(error)[:OUTPUT_LIMIT]
