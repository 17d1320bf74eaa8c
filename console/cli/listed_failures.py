"""Failures of a run selected by a filter, and the display of their labels."""

from collections.abc import Mapping

from console.cli.history import read_overview
from console.core.annotation import NO_ANNOTATION, Annotation, Label
from console.core.case import Slot
from console.insight.filter import Filter
from console.insight.rollout import Rollout
from console.store.runs import RunFolder
from console.store.search import conversations_with


def listed_failures(
    folder: RunFolder, chosen: Filter, annotations: Mapping[Slot, Annotation]
) -> tuple[list[Rollout], list[Rollout]]:
    """Return all rollouts, and those selected by a filter, which covers failures unless it names other outcomes.

    Args:
        folder: the run.
        chosen: the filter.
        annotations: annotations by rollout.
    """
    words_by_slot = conversations_with(folder.journal_path, chosen.words)
    rollouts = list(read_overview(folder).rollouts.values())
    kept = [
        rollout
        for rollout in rollouts
        if (rollout.is_failure or "is:" in chosen.text)
        and chosen.matches(rollout, annotations.get(rollout.slot, NO_ANNOTATION), words_by_slot.get(rollout.slot, ()))
    ]
    return rollouts, kept


def label_words(label: Label) -> str:
    """Return a label with its sentence and model."""
    return f"label {label.name} ({label.by}): {label.why}"
