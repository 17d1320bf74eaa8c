"""The entries of some categories in official order, read no further than they are asked for."""

from collections.abc import Iterator, Sequence

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry


def in_official_order(dataset: Dataset, categories: Sequence[str]) -> Iterator[Entry]:
    """Yield the entries of categories by kind, category and running index, prerequisites of memory before all others.

    Raises:
        UsageError: a file is not there or damaged.
    """
    parts = [(names.priority(part), part, name) for name in categories for part in names.parts_of(name)]
    for _, part, category in sorted(parts):
        entries = dataset.entries(category).values()
        of_part = [entry for entry in entries if names.is_prerequisite(entry.id) == names.is_prerequisite(part)]
        yield from sorted(of_part, key=lambda entry: names.running_index(entry.id))
