"""Recipes for the totals that a log reports."""

import msgspec


class Recipe(msgspec.Struct, frozen=True):
    """Formula of a total over the scores of the samples."""

    score: str
    """Name of the score in verdicts."""
    scorer: str = ""
    """Scorer of the score; prefixed to its name if another scorer has one with the same name."""
    reducer: str = "mean"
    """Reducer of a sample's scores to a single one, such as `at_least_2`; empty if each score counts separately."""
    metric: str = ""
    """Function over the reduced scores; empty if it is unknown."""
    group_key: str = ""
    """Key of the samples' metadata by which they are grouped; empty if not grouped."""
    name: str = ""
    """Name of this total if samples are grouped: that of one group's total, or of the total over all groups."""
    template: str = "{group_name}"
    """Name of a group's total."""
    all_label: str = "all"
    """Name of the total over all groups."""
    is_mean_of_groups: bool = False
    """True if the total over all groups is the mean of the group totals, not the mean over all samples."""
