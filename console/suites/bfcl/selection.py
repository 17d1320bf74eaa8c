"""Which entries of a dataset a run takes, in official order, with the prerequisites they build on. Pure."""

import random
from collections.abc import Iterable, Sequence

from console.core.fault import UsageError
from console.core.run import Selection
from console.core.suggestion import nearest
from console.suites.bfcl import categories as names
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.entry import Entry


def select(dataset: Dataset, selection: Selection, mode: str) -> list[Entry]:
    """Return the selected entries.

    Without categories or ids all scoring categories are taken. Prerequisites of selected entries come along and do not
    count against a limit.

    Raises:
        UsageError: an unknown category or id, or damaged data.
    """
    if selection.ids and not selection.categories:
        chosen = [dataset.entry(entry_id) for entry_id in dict.fromkeys(selection.ids)]
    else:
        categories = wanted_categories(dataset, selection.categories, mode)
        chosen = [entry for category in categories for entry in dataset.entries(category).values()]
        if selection.ids:
            chosen = _only(chosen, selection.ids)
    chosen.sort(key=lambda entry: names.sort_key(entry.id))
    return _with_prerequisites(dataset, _limited(chosen, selection))


def wanted_categories(dataset: Dataset, given: Sequence[str], mode: str) -> list[str]:
    """Return the categories of the dataset that a selection names, collections such as `live` included.

    Raises:
        UsageError: a name that is unknown, or that the dataset has no file for.
    """
    if not given:
        return [name for name in dataset.categories if name != names.FORMAT_SENSITIVITY or mode != "fc"]
    out: dict[str, None] = {}
    for name in given:
        found = [category for category in names.resolve([name]) if category in dataset.categories]
        if not found:
            close = nearest(name, dataset.categories)
            hint = f"Did you mean {close}?" if close else f"It has: {', '.join(dataset.categories)}."
            raise UsageError(f"{dataset.folder.name} has no category {name!r}", hint=hint)
        out.update(dict.fromkeys(found))
    return list(out)


def _only(entries: Sequence[Entry], ids: Iterable[str]) -> list[Entry]:
    known = {entry.id: entry for entry in entries}
    for entry_id in ids:
        if entry_id not in known:
            close = nearest(entry_id, known)
            hint = f"Did you mean {close}?" if close else ""
            raise UsageError(f"no entry of the selected categories has the id {entry_id!r}", hint=hint)
    return [known[entry_id] for entry_id in dict.fromkeys(ids)]


def _limited(entries: list[Entry], selection: Selection) -> list[Entry]:
    countable = [entry for entry in entries if not names.is_prerequisite(entry.id)]
    limit = selection.limit
    if limit is None or limit >= len(countable):
        return entries
    if selection.seed is None:
        return countable[:limit]
    drawn = set(random.Random(selection.seed).sample(range(len(countable)), limit))  # noqa: S311 - not a secret
    return [entry for number, entry in enumerate(countable) if number in drawn]


def _with_prerequisites(dataset: Dataset, entries: list[Entry]) -> list[Entry]:
    taken = {entry.id: entry for entry in entries}
    needed = {need: dataset.entry(need) for entry in entries for need in entry.depends_on if need not in taken}
    if not needed:
        return entries
    return sorted((taken | needed).values(), key=lambda entry: names.sort_key(entry.id))
