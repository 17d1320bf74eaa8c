"""Export to a Markdown section for a pull request or a wiki. Untrusted text cannot break out of its cell."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from console.core.text import visible_line
from console.core.wait import slowed_by
from console.exchange.document import ANNOTATION_FIELDS, Item, RunDocument
from console.insight.failures import GroupBy, group
from console.insight.number_format import duration, failures_by, spent, with_setup
from console.insight.reasons import sentence
from console.insight.report import Section, reason_sections

MARKS = {"failed": "❌", "broken": "⚠️", "undecided": "❔"}
LONGEST = 200
"""Maximum number of characters in a message."""
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~])")


MOST_FAILURES = 40
"""Maximum number of failing cases listed, to keep pull request comments short; the rest are only counted."""


def markdown_section(document: RunDocument) -> str:
    """Return heading, counts, metrics, reasons, failing cases, and readers' tags and comments."""
    summary, annotations = document.summary, document.annotations()
    tally = summary.tally
    mark = f" ({summary.simulated_note})" if summary.simulated else ""
    counts = f"{tally.passed} passed, {tally.failed} failed, {tally.broken} broken, {tally.undecided} undecided"
    counts += f", {summary.left} left" * bool(summary.left) + f", {tally.not_run} not run" * bool(tally.not_run)
    planned = with_setup(str(summary.planned_cases), summary.setup)
    parts = [
        f"### {escaped(summary.model)}{mark} on {escaped(summary.suite_label)}",
        f"{summary.state}: {counts}, of {planned}; {duration(summary.seconds)}, "
        f"{spent(tally, summary.simulated_note, summary.batch_terms)}{slowed_by(tally.rate_limits)}",
    ]
    for section in [*document.sections(), *reason_sections(summary)]:
        parts += section_parts(section)
    parts += _failures(document.items)
    if annotations:
        disputed = sum("dispute" in notes for notes in annotations.values())
        if disputed:
            parts.append(f"{disputed} disputed: a reader considers the ground truth wrong; the score does not change.")
        rows = [
            (case, *(notes.get(kind, "") for kind in ANNOTATION_FIELDS)) for (case, _), notes in annotations.items()
        ]
        parts.append(table(("case", *ANNOTATION_FIELDS), rows))
    return "\n\n".join(parts) + "\n"


def _failures(items: Sequence[Item]) -> list[str]:
    """Return the failing cases, folded."""
    by_slot = {item.rollout.slot: item for item in items if item.rollout.is_failure}
    if not by_slot:
        return []
    groups = group([item.rollout for item in by_slot.values()], GroupBy.REASON)
    rows = [_failure(by_slot[rollout.slot]) for part in groups for rollout in part.rollouts]
    headings = ("", "case", "why", "message")
    width = len(headings) if any(row[-1] for row in rows[:MOST_FAILURES]) else len(headings) - 1
    shown = table(headings[:width], [row[:width] for row in rows[:MOST_FAILURES]])
    more = f"\n\n… and {len(rows) - MOST_FAILURES} more." if len(rows) > MOST_FAILURES else ""
    counts = failures_by(Counter(item.rollout.counted_as for item in by_slot.values()))
    return [f"<details><summary>{counts}</summary>\n\n{shown}{more}\n\n</details>"]


def _failure(item: Item) -> tuple[str, ...]:
    rollout = item.rollout
    words = item.comparison.sentence if item.comparison else ""
    message = f"would pass: {item.comparison.hint}" if item.comparison and item.comparison.hint else rollout.message
    why = words or sentence(rollout.reason, rollout.subject, rollout.outcome)
    return MARKS.get(item.outcome, "❔"), str(rollout.key), _short(why), "" if message in why else _short(message)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def section_parts(section: Section) -> list[str]:
    """Return a section's table with as many rows as on a screen and any notes, then its sentences."""
    if not section.rows:
        name = "" if section.is_fault else f"{section.title.lower()}: "
        return ["  \n".join(f"{name}{escaped(line)}" for line in section.lines)]
    shown = section.shown()
    notes = any(row.note for row in shown)
    headings = (*section.headings, *(("note",) if notes else ()))
    rows = [(*row.cells, *((row.note,) if notes else ())) for row in shown]
    return [table(headings, rows), *map(escaped, filter(None, (section.left_out(), *section.lines)))]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with escaped cells; headings must be trusted text."""
    lines = [headings, ["---"] * len(headings), *[[escaped(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def escaped(text: str) -> str:
    """Escape untrusted text to one line without Markdown syntax."""
    return _ACTIVE.sub(r"\\\1", visible_line(text))
