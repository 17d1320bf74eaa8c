"""Keeping a case of a run: proposing its row, and adding the row to one of the reader's own suites.

A kept row records its origin. A suite has the same case only once, regardless of the run.
"""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import msgspec

from console.config.paths import find_own_data
from console.core.case import Case
from console.core.chat import Message
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.core.outcome import Outcome
from console.core.run import Manifest
from console.exchange.run_reader import RunReader
from console.insight.conversation import Conversation
from console.insight.rollout import Rollout
from console.suites.benchmarks import benchmarks_with
from console.suites.catalog import Catalog
from console.suites.own_row import AddedRow, RecordedCase, RecordedRequest, Row, is_checked
from console.suites.run_suite import RunSuite
from console.suites.suite import SuiteEntry

USUAL_SUITE = "kept"
"""Default name of the suite of kept cases."""
_HIDDEN = ("simulated", "kept")
"""Fields that are not shown for editing."""
_GRADED = (Outcome.PASSED, Outcome.FAILED)


class ProposedRow(msgspec.Struct, frozen=True):
    """The row of a case before it is added."""

    row: Row
    why_unchecked: str = ""
    """Why a reader must write its checks; empty if it has some."""
    outcome: str = ""
    """Outcome that its recorded answers must have by its checks; empty if its checks were edited, or had none."""

    @property
    def text(self) -> str:
        """The row as JSON for editing, without derived fields."""
        shown = {name: value for name, value in self.row.items() if name not in _HIDDEN}
        shown |= {} if is_checked(self.row) else {"expect": []}
        return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode() + "\n"

    def edited(self, text: str) -> "ProposedRow":
        """Return the proposal with the row that a reader edited.

        Raises:
            UsageError: not a JSON object.
        """
        try:
            value = read_json(text)
        except ValueError as error:
            raise UsageError(f"the edited row is not JSON: {reason_of(error)}") from None
        if not isinstance(value, dict):
            raise UsageError("the edited row is not a JSON object")
        return self._with({"id": self.row["id"], **value})

    def expecting(self, text: str) -> "ProposedRow":
        """Return the proposal with other checks of the whole conversation.

        Raises:
            UsageError: not a JSON list.
        """
        try:
            checks = read_json(text)
        except ValueError as error:
            raise UsageError(f"the checks are not JSON: {reason_of(error)}") from None
        if not isinstance(checks, list):
            raise UsageError("the checks are not a JSON list", hint='Write [{"contains": "…"}], for example.')
        left = {name: value for name, value in self.row.items() if name not in (*_HIDDEN, "expect", "judge")}
        return self._with({**left, "expect": checks})

    def _with(self, row: Row) -> "ProposedRow":
        derived = {name: self.row[name] for name in _HIDDEN if name in self.row}
        return ProposedRow({**row, **derived})


def propose_row(reader: RunReader, rollout: Rollout, suite: RunSuite) -> ProposedRow:
    """Return the row of a finished rollout.

    Raises:
        UsageError: a row cannot express it; says why.
    """
    return propose_conversation(reader.manifest, reader.conversation(rollout.key), suite)


def propose_conversation(manifest: Manifest, conversation: Conversation, suite: RunSuite) -> ProposedRow:
    """Return the row of a finished conversation; see `propose_row`."""
    case, finished = conversation.case, conversation.finished
    if case is None or finished is None:
        raise _refusal(conversation.key.case, "it has not ended yet")
    if not case.graded:
        raise _refusal(case.id, "it is the setup of other cases and is not graded")
    if suite.suite is None:
        raise _refusal(case.id, suite.why)
    requests = [
        RecordedRequest(item.asked.turn, cast(list[Message], item.messages), item.tools, item.asked.reply)
        for item in conversation.exchanges
        if item.asked.role == "model"
    ]
    recorded = RecordedCase(case, manifest.setting, finished.output, finished.verdict, requests)
    try:
        proposed = suite.suite.own_row(recorded)
    except UsageError as error:
        raise _refusal(case.id, error.message) from None
    outcome = finished.verdict.outcome
    kept = {
        "run": manifest.id,
        "suite": manifest.suite,
        "case": case.id,
        "repeat": conversation.key.rollout + 1,
        "digest": _digest(manifest, case),
        "model": manifest.model.name,
        "simulated": manifest.model.simulated,
        "outcome": outcome.value,
        "reason": finished.verdict.reason or "",
        "at": datetime.now(UTC).date().isoformat(),
    }
    row = {"id": case.id, "category": case.category, **proposed.row, "kept": kept}
    return ProposedRow(row, proposed.why_unchecked, outcome.value if outcome in _GRADED else "")


def _refusal(case: str, why: str) -> UsageError:
    return UsageError(f"{case} cannot be kept: {why}")


def _digest(manifest: Manifest, case: Case) -> str:
    data = msgspec.json.encode([manifest.suite, case.id, case.data], order="deterministic")
    return hashlib.sha256(data).hexdigest()[:16]


def keep_row(data: Path | None, name: str, proposed: ProposedRow) -> AddedRow:
    """Add a row to one of the reader's own suites, which is created if missing.

    Args:
        data: folder given with --data.
        name: the suite.
        proposed: the row.

    Raises:
        UsageError: the row has no checks or is wrong, or the suite cannot take it.
    """
    if proposed.why_unchecked:
        raise UsageError(
            f"{proposed.why_unchecked}, so the row has no checks", hint="Add checks that a right answer passes."
        )
    add = next(iter(benchmarks_with("add_row"))).load("add_row")
    return add(find_own_data(data), name, proposed.row, as_outcome=proposed.outcome)


def suites_for_rows(catalog: Catalog, data: Path | None) -> list[SuiteEntry]:
    """Return the reader's own suites in which a case can be kept."""
    formats = {benchmark.name for benchmark in benchmarks_with("add_row")}
    root = find_own_data(data)
    return [entry for entry in catalog.entries() if entry.format in formats and entry.folder.parent == root]
