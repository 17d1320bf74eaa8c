"""`check bfcl`: one saved output in, our verdict out. Needs the dataset, no network and no key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from console.core.case import Setting
from console.core.fault import Fault, UsageError
from console.suites.bfcl import categories as names
from console.suites.bfcl.checker import UNCHECKABLE, Refusal
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.entry import Entry
from console.suites.bfcl.multi_turn import check_conversations
from console.suites.bfcl.simulator_host import close_hosts, host_of
from console.suites.bfcl.tools import UNDERSCORE_TO_DOT
from console.suites.bfcl.verdict import judge

Row = Mapping[str, Any]


class LineChecker:
    """Judges the lines of one file against one dataset folder; entries are read once."""

    def __init__(self, folder: Path) -> None:
        """Take a dataset folder.

        Raises:
            UsageError: it has no readable `suite.toml`.
        """
        self._dataset = Dataset(folder)

    def __enter__(self) -> Self:
        """Be a context manager, so that whatever judging opens is closed."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the simulators."""
        close_hosts()

    def check(self, row: Row) -> dict[str, Any]:
        """Judge one line.

        Args:
            row: `case`, `id`, `output`, and optionally `mode` (`fc`; absent means prompting) and `u2d` (dots of
                function names went out as underscores; by default true in `fc` mode). Other fields are ignored.

        Raises:
            UsageError: a field is missing or wrong, or the id is unknown.
        """
        return self.check_many([self.read(row)])[0]

    def read(self, row: Row) -> "Asked":
        """Return what a line asks; raises as `check`."""
        entry_id, mode, underscored = row.get("id"), row.get("mode", "prompt"), row.get("u2d")
        if not isinstance(entry_id, str) or "output" not in row:
            raise UsageError("a line needs `id` (a text) and `output`")
        if mode not in ("fc", "prompt") or not isinstance(underscored, bool | None):
            raise UsageError("`mode` must be fc or prompt, `u2d` true or false")
        return Asked(row, self._dataset.entry(entry_id), Setting(mode=mode, extras={UNDERSCORE_TO_DOT: underscored}))

    def check_many(self, lines: Sequence["Asked"]) -> list[dict[str, Any]]:
        """Judge lines that were read, in order; conversations go to their worker in batches."""
        talks: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            if names.is_multi_turn(line.entry.category):
                talks.setdefault(line.setting.mode, []).append(number)
        judged: dict[int, Refusal | None] = {}
        for mode, numbers in talks.items():
            judged |= zip(numbers, self._conversations([lines[number] for number in numbers], mode), strict=True)
        for number, line in enumerate(lines):
            if number not in judged:
                judged[number] = judge(line.entry, line.row["output"], line.setting)
        return [_answer(line, judged[number]) for number, line in enumerate(lines)]

    def _conversations(self, lines: Sequence["Asked"], mode: str) -> list[Refusal | None]:
        talks = [(line.entry, line.row["output"]) for line in lines]
        try:
            return [refusal for refusal, _ in check_conversations(talks, mode, host_of(self._dataset))]
        except Fault as fault:
            return [Refusal(UNCHECKABLE, fault.message)] * len(lines)


@dataclass(frozen=True, slots=True)
class Asked:
    """One line, understood."""

    row: Row
    entry: Entry
    setting: Setting


def _answer(line: Asked, refusal: Refusal | None) -> dict[str, Any]:
    out: dict[str, Any] = {"case": line.row["case"]} if "case" in line.row else {"id": line.entry.id}
    out |= {"valid": refusal is None, "error_type": refusal.error_type if refusal else None}
    return out | ({"error": [refusal.message]} if refusal else {})
