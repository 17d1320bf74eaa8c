"""`check bfcl`: verdicts on saved outputs. Needs the dataset, but no network or key."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decoding import UNDERSCORE_TO_DOT, family_of, profile_setting
from console.benchmarks.bfcl.models.profile import find_profile
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.verdict import judge
from console.benchmarks.bfcl.simulators.host import close_hosts, host_of
from console.benchmarks.bfcl.simulators.judging import check_conversations
from console.core.case import Setting
from console.core.fault import Fault, UsageError
from console.suites.call_matching.checker import UNCHECKABLE, Refusal
from console.suites.suite import Row


class BfclLineChecker:
    """Judges the lines of one file against the entries of one dataset folder."""

    def __init__(self, folder: Path) -> None:
        """Open a dataset folder.

        Raises:
            UsageError: no readable `suite.toml`.
        """
        self._dataset = Dataset(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the simulators."""
        close_hosts()

    def check(self, rows: Sequence[Row]) -> list[Row | UsageError]:
        """Judge rows in order; the worker judges conversations in batches.

        A row has `id`, `output` and optionally `case`. The rules depend on `model`, a name in the official registry, or
        else on `mode` (`fc` or the default `prompt`) and `u2d` (function names were sent with underscores for dots;
        default: true in `fc` mode). Other fields are ignored.
        """
        answers: dict[int, Row | UsageError] = {}
        lines: dict[int, SavedOutput] = {}
        for number, row in enumerate(rows):
            try:
                lines[number] = self._read(row)
            except UsageError as error:
                answers[number] = error
        conversations: dict[str, list[int]] = {}
        for number, line in lines.items():
            if names.is_multi_turn(line.entry.category):
                conversations.setdefault(family_of(line.setting), []).append(number)
        refusals: dict[int, Refusal | None] = {}
        for family, numbers in conversations.items():
            refusals |= zip(numbers, self._conversations([lines[number] for number in numbers], family), strict=True)
        for number, line in lines.items():
            refusal = refusals[number] if number in refusals else judge(line.entry, line.row["output"], line.setting)
            answers[number] = _answer(line, refusal)
        return [answers[number] for number in range(len(rows))]

    def _read(self, row: Row) -> "SavedOutput":
        entry_id = row.get("id")
        if not isinstance(entry_id, str) or "output" not in row:
            raise UsageError("a line needs `id` (a string) and `output`")
        return SavedOutput(row, self._dataset.entry(entry_id), _setting(row))

    def _conversations(self, lines: Sequence["SavedOutput"], family: str) -> list[Refusal | None]:
        outputs = [(line.entry, line.row["output"]) for line in lines]
        try:
            return [refusal for refusal, _ in check_conversations(outputs, family, host_of(self._dataset))]
        except Fault as fault:
            return [Refusal(UNCHECKABLE, fault.message)] * len(lines)


@dataclass(frozen=True, slots=True)
class SavedOutput:
    """One parsed row."""

    row: Row
    entry: Entry
    setting: Setting


def _setting(row: Row) -> Setting:
    model, mode, underscored = row.get("model"), row.get("mode", "prompt"), row.get("u2d")
    if mode not in ("fc", "prompt") or not isinstance(underscored, bool | None):
        raise UsageError("`mode` must be fc or prompt, `u2d` true or false")
    if model is None:
        return Setting(mode=mode, extras={UNDERSCORE_TO_DOT: underscored})
    if not isinstance(model, str):
        raise UsageError("`model` must be a string")
    return profile_setting(find_profile(model))


def _answer(line: SavedOutput, refusal: Refusal | None) -> dict[str, Any]:
    out: dict[str, Any] = {"case": line.row["case"]} if "case" in line.row else {"id": line.entry.id}
    out |= {"valid": refusal is None, "error_type": refusal.error_type if refusal else None}
    return out | ({"error": [refusal.message]} if refusal else {})
