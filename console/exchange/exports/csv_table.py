"""CSV with one row per rollout, for spreadsheets. Cells that look like a formula are prefixed with `'`."""

import csv
import io

from console.core.text import visible_line
from console.exchange.document import ANNOTATION_FIELDS, Item, RunDocument

HEADINGS = (
    *("case", "rollout", "attempt", "category", "outcome", "reason", "subject", "message", "seconds"),
    *("input_tokens", "output_tokens", "cost_usd", "calls", "failed_tries", "simulated", *ANNOTATION_FIELDS),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""Prefixes that spreadsheets treat as the start of a formula, or ignore before one."""


def csv_table(document: RunDocument) -> str:
    """Return the CSV file, header first, with line feeds as line ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    for item in document.items:
        values = (*_values(item, document.simulated), *map(item.annotation, ANNOTATION_FIELDS))
        writer.writerow([cell(value) for value in values])
    return out.getvalue()


def _values(item: Item, simulated: bool) -> tuple[object, ...]:
    rollout = item.rollout
    return (
        *(rollout.key.case, rollout.key.rollout, rollout.key.attempt, rollout.category, item.outcome),
        *(rollout.reason, rollout.subject, rollout.message, round(rollout.seconds, 3)),
        *(rollout.input_tokens, rollout.output_tokens, rollout.cost_usd, rollout.calls, rollout.tries, simulated),
    )


def cell(value: object) -> object:
    """Return a cell value: text on one line without control characters and never a formula; numbers unchanged."""
    if not isinstance(value, str):
        return value
    text = visible_line(value)
    return f"'{text}" if value.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text
