"""Adds a kept case as a row to one of the reader's own suites, leaving all other lines unchanged to the byte.

The row spells out everything that the suite's defaults would add, and is parsed with those defaults before anything is
written.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import cast

import msgspec

from console.benchmarks.dialogue.conversation.scripted_answers import right_answers
from console.benchmarks.dialogue.data.dataset import KNOWN, CaseBuilder, Dataset, Defaults
from console.benchmarks.dialogue.data.row_files import NAME, RawRow, cases_file, read_rows
from console.benchmarks.dialogue.rules.answer import Output, PlayedCall, PlayedTurn
from console.benchmarks.dialogue.rules.mistakes import Mistakes, did_you_mean
from console.benchmarks.dialogue.rules.score import score
from console.benchmarks.dialogue.rules.script import Script, script_of
from console.core.case import Case
from console.core.fault import UsageError, os_errors_as
from console.core.outcome import Outcome
from console.store.atomic import change_file, locked
from console.suites.catalog import read_entry
from console.suites.new_folder import name_problem, write_suite
from console.suites.own_row import AddedRow, Row

_SUITE = """\
# Cases kept from runs, one row of cases.jsonl each; docs/extending.md describes their fields.
# `kept` is the origin of a row, `simulated.recorded` the model's answers there, which simulated models repeat.
format = "dialogue"
title = "Cases kept from runs"
comparable = false
"""
_ROWS = f"{NAME}.jsonl"
_BLANK: Row = {"system": "", "tools": [], "tool_results": []}
"""Fields that keep the suite's defaults out of a row."""


def add_row(root: Path, name: str, row: Row, *, as_outcome: str = "") -> AddedRow:
    """Add a row to a suite, which is created if missing; return the existing row if the suite already has the case.

    Args:
        root: folder of the reader's suites.
        name: the suite.
        row: the row, with `kept`.
        as_outcome: outcome that its recorded answers must have by its checks; empty for any.

    Raises:
        UsageError: not a suite in JSON Lines, or the row is invalid or would become a different case there.
    """
    folder = root / name
    with os_errors_as("cannot be written", where=root):
        root.mkdir(parents=True, exist_ok=True)
        with locked(root / Path(name).name):
            if not os.path.lexists(folder):
                return _in_new_suite(root, name, row, as_outcome)
    if read_entry(folder).format != "dialogue":
        raise UsageError("is not a suite of rows, so no case can be kept in it", where=str(folder), hint=_OTHER)
    path = cases_file(folder)
    if path.suffix != ".jsonl":
        raise UsageError(f"has its rows in {path.name}; cases are kept in {_ROWS}", where=str(folder), hint=_OTHER)
    added = AddedRow(path, 1, "")

    def appended(before: bytes | None) -> bytes:
        nonlocal added
        added, line = _appended(folder, path, before or b"", row, as_outcome)
        return (before or b"") + line

    change_file(path, appended)
    return added


_OTHER = "Name another suite; a new name creates one."


def _in_new_suite(root: Path, name: str, row: Row, as_outcome: str) -> AddedRow:
    if problem := name_problem(root, name):
        raise UsageError(f"{name!r} cannot be the name of a new suite: {problem}", where=str(root))
    row, note, outcome = _finished(_with_own_id(row, []), Defaults({}, ""), _ROWS, as_outcome)
    files = write_suite(root, name, {"suite.toml": _SUITE, _ROWS: _line(row)})
    return AddedRow(files[1], 1, row["id"], outcome=outcome, note=note)


def _appended(folder: Path, path: Path, data: bytes, row: Row, as_outcome: str) -> tuple[AddedRow, bytes]:
    """Return where the row is, and what must be appended to the file for that."""
    dataset = Dataset(folder)
    dataset.cases()  # an error in another row is reported before this one is added
    rows = list(read_rows(path, data, Mistakes()))
    for raw in rows:
        if cast(Row, raw.fields.get("kept") or {}).get("digest") == row["kept"]["digest"]:
            line = int(raw.place.rpartition(":")[2])
            return AddedRow(path, line, str(raw.fields.get("id") or f"row-{raw.number}"), is_new=False), b""
    named = {str(raw.fields.get("id") or f"row-{raw.number}") for raw in rows}
    blank = {key: value for key, value in _BLANK.items() if key in dataset.defaults.fields}
    row, note, outcome = _finished(_with_own_id({**blank, **row}, named), dataset.defaults, str(path), as_outcome)
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    number = (data + gap).count(b"\n") + 1
    return AddedRow(path, number, row["id"], outcome=outcome, note=note), gap + _line(row)


def _with_own_id(row: Row, named: Collection[str]) -> Row:
    """Return the row with an id that no other row has."""
    id, number = row["id"], 2
    while id in named:
        id, number = f"{row['id']}-{number}", number + 1
    return {"id": id, **{key: value for key, value in row.items() if key != "id"}}


def _finished(row: Row, defaults: Defaults, place: str, as_outcome: str) -> tuple[Row, str, str]:
    """Return the row with right answers for simulated models, a note on missing parts, and the answers' outcome.

    Raises:
        UsageError: see `add_row`.
    """
    case = _case(row, defaults, place)
    alone = _case(row, Defaults({}, ""), place)
    if case.data != alone.data:
        changed = ", ".join(name for name in {**case.data, **alone.data} if case.data.get(name) != alone.data.get(name))
        raise UsageError(f"the defaults of suite.toml would change the case: {changed}", where=place, hint=_OTHER)
    outcome = _outcome(_recorded(script_of(case)), case)
    if as_outcome and outcome in ("passed", "failed") and outcome != as_outcome:
        contradiction = f"its answers {as_outcome} there, but {outcome} by the checks of a row"
        raise UsageError(f"the case cannot be kept as it was graded: {contradiction}")
    for right in _right_answers(row):
        simulated = {key: value for key, value in {**row.get("simulated", {}), "right": right}.items() if value}
        filled = {**row, "simulated": simulated}
        if _outcome(right_answers(script_of(_case(filled, defaults, place))), case) != Outcome.FAILED.value:
            return filled, "", outcome
    return row, "simulated models have no right answer: add `simulated.right` to the row", outcome


def _right_answers(row: Row) -> list[list[str]]:
    """Return candidates for the right answers of simulated models: the given, the derived and the recorded ones."""
    own = row.get("simulated", {})
    recorded = [turn[-1].get("text", "") if turn else "" for turn in own.get("recorded", [])]
    others: list[list[str]] = [own.get("right", []), []]
    return [recorded, *others] if row["kept"]["outcome"] == Outcome.PASSED.value else [*others, recorded]


def _case(row: Row, defaults: Defaults, place: str) -> Case:
    mistakes = Mistakes()
    for name in row.keys() - set(KNOWN):
        mistakes.add(place, name, "is not a field of a row", did_you_mean(name, KNOWN))
    cases = CaseBuilder(defaults, [RawRow(place, 1, row)], mistakes).build(None)
    mistakes.raise_if_any(place)
    return cases[0]


def _recorded(script: Script) -> Output | None:
    answers = script.simulated.recorded if script.simulated else []
    turns = [
        PlayedTurn(
            replies[-1].text if replies else "",
            calls=[
                PlayedCall(name, msgspec.json.encode(arguments).decode())
                for reply in replies
                for call in reply.calls
                for name, arguments in call.items()
            ],
        )
        for replies in answers
    ]
    return Output(turns) if turns else None


def _outcome(output: Output | None, case: Case) -> str:
    if output is None:
        return ""
    return score(script_of(case), msgspec.to_builtins(output)).outcome.value


def _line(row: Row) -> bytes:
    return msgspec.json.encode(row) + b"\n"
