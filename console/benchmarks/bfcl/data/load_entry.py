"""An entry as the official loader hands it to its checkers: the form in which score files show what was asked."""

from typing import Any

from console.benchmarks.bfcl.conversation.wording import Wording
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry


def load_entry(entry: Entry, dataset: Dataset, wording: Wording) -> dict[str, Any]:
    """Return the fields of an entry, as officially: conversations without function documents, variations with hints.

    Args:
        entry: of the dataset.
        dataset: where the withheld functions' documents are.
        wording: with the hints, and the sentence that asks for the form of agentic answers.
    """
    line = {**dataset.line(entry), "id": entry.id}
    if entry.config:
        hint = wording.hints["python"]
        line["function"] = [{**doc, "description": doc.get("description", "") + hint} for doc in entry.function]
    if names.is_single_turn(entry.category):
        return line
    line.pop("function", None)
    if names.is_multi_turn(entry.category):
        return line | _withheld(entry, dataset)
    first = [{"role": "system", "content": wording.agentic_answer}, *entry.question[0]]
    line["question"] = [first, *entry.question[1:]]
    if names.is_memory(entry.id):
        line |= {"depends_on": entry.depends_on, "involved_classes": entry.involved_classes}
    return line


def _withheld(entry: Entry, dataset: Dataset) -> dict[str, Any]:
    """Name withheld functions by their documents, where there are any."""
    if not entry.missed_function:
        return {}
    return {"missed_function": dataset.functions(entry)[1]}
