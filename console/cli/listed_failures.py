"""Failures of a run selected by a filter, and the display of their labels."""

from collections import Counter
from collections.abc import Mapping, Sequence

from console.cli.history import read_overview
from console.core.annotation import NO_ANNOTATION, Annotation, Label
from console.core.case import Slot
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.insight.filter import Filter, read_filter
from console.insight.number_format import failures_by, plural
from console.insight.rollout import Rollout
from console.store.notes import Notes
from console.store.runs import RunFolder
from console.store.search import conversations_with


def listed_failures(
    folder: RunFolder, chosen: Filter, annotations: Mapping[Slot, Annotation], *, passed_too: bool = False
) -> tuple[list[Rollout], list[Rollout]]:
    """Return all rollouts, and those selected by a filter, which covers failures unless it names other outcomes.

    Args:
        folder: the run.
        chosen: the filter.
        annotations: annotations by rollout.
        passed_too: apply the filter to all rollouts regardless of its terms.
    """
    words_by_slot = conversations_with(folder.journal_path, chosen.words)
    rollouts = list(read_overview(folder).rollouts.values())
    kept = [
        rollout
        for rollout in rollouts
        if (passed_too or rollout.is_failure or "is:" in chosen.text)
        and chosen.matches(rollout, annotations.get(rollout.slot, NO_ANNOTATION), words_by_slot.get(rollout.slot, ()))
    ]
    return rollouts, kept


def chosen_cases(folder: RunFolder, terms: str, *, passed_too: bool = False) -> list[str]:
    """Return the ids of the cases that a filter selects; there must be at least one."""
    annotations = Notes(folder.path).annotations()
    _, matching = listed_failures(folder, read_filter(terms), annotations, passed_too=passed_too)
    if not matching:
        raise UsageError(f"no case of {folder.name} matches {terms}", where="--filter")
    return list(dict.fromkeys(rollout.key.case for rollout in matching))


def none_words(folder: RunFolder, chosen: Filter, rollouts: Sequence[Rollout]) -> str:
    """Return a message that a run has no failures, or that none matches a filter."""
    is_of_all = "is:" in chosen.text
    counts = Counter(rollout.counted_as for rollout in rollouts if is_of_all or rollout.is_failure)
    count = counts.total()
    if not (chosen.text and count):
        return f"no failures in {folder.name}"
    if is_of_all or counts[Outcome.FAILED] == count:
        return f"none of {plural(count, 'rollout' if is_of_all else 'failure')} matches {chosen.text}"
    return f"none of {failures_by(counts)} matches {chosen.text}"


def label_words(label: Label) -> str:
    """Return a label with its sentence and model."""
    return f"label {label.name} ({label.by}): {label.why}"
