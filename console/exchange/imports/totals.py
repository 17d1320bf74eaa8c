"""Totals of an Inspect log, recomputed: the scores of each sample are reduced to one, then aggregated over samples.

Pure. A total of a function that is unknown here, such as a metric of the user's own, is not computed.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum, sqrt
from statistics import median, variance

from console.core.statistics.repeats import pass_all, pass_at
from console.exchange.imports.log import Table
from console.exchange.imports.recipe import Recipe
from console.exchange.imports.verdict import RIGHT


class ScoreValues:
    """The scores of all samples, as far as the recipes need them."""

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        """Start empty; only the scores that `recipes` need are kept."""
        self._wanted = {name for recipe in recipes for name in _names(recipe)}
        self._keys = {recipe.group_key for recipe in recipes if recipe.group_key}
        self._values: dict[str, dict[str, list[float]]] = {name: {} for name in self._wanted}
        self._groups: dict[str, dict[str, str]] = {key: {} for key in self._keys}

    def add(self, case_id: str, scores: dict[str, float], metadata: Table) -> None:
        """Add the scores of one attempt at a sample."""
        for name in self._wanted & scores.keys():
            self._values[name].setdefault(case_id, []).append(scores[name])
        for key in self._keys & metadata.keys():
            self._groups[key][case_id] = str(metadata[key])

    def total(self, recipe: Recipe) -> float | None:
        """Compute a total; None if it has no values, or cannot be computed."""
        metric = _METRICS.get(recipe.metric)
        by_case = next((case_values for name in _names(recipe) if (case_values := self._values.get(name))), None)
        if metric is None or by_case is None:
            return None
        reduced = [(case, value) for case, values in by_case.items() for value in _reduced(values, recipe.reducer)]
        if not recipe.group_key:
            return metric([value for _, value in reduced]) if reduced else None
        return self._of_group(recipe, metric, reduced)

    def _of_group(
        self, recipe: Recipe, metric: Callable[[Sequence[float]], float], reduced: list[tuple[str, float]]
    ) -> float | None:
        group_of = self._groups[recipe.group_key]
        groups: dict[str, list[float]] = {}
        for case, value in reduced:
            if case not in group_of:
                return None
            # replaced, not formatted: an untrusted format could ask for any width
            name = recipe.template.replace("{group_name}", group_of[case])
            groups.setdefault(name, []).append(value)
        if recipe.name in groups:
            return metric(groups[recipe.name])
        if recipe.name != recipe.all_label or not groups:
            return None
        if recipe.is_mean_of_groups:
            return _mean([metric(values) for values in groups.values()])
        return metric([value for _, value in reduced])


def _names(recipe: Recipe) -> tuple[str, str]:
    """Return the names that the score may have in verdicts, the more specific one first."""
    return f"{recipe.scorer}.{recipe.score}", recipe.score


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    return variance(values) if len(values) > 1 else 0.0


_METRICS: dict[str, Callable[[Sequence[float]], float]] = {
    "accuracy": _mean,
    "mean": _mean,
    "var": _variance,
    "std": lambda values: sqrt(_variance(values)),
    "stderr": lambda values: sqrt(_variance(values) / len(values)),
}
_REDUCERS: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": _mean,
    "median": median,
    "max": max,
    "mode": lambda values: Counter(values).most_common(1)[0][0],
}


def _reduced(values: Sequence[float], reducer: str) -> Sequence[float]:
    """Return the reduced scores of one sample; empty if the reducer is unknown or undefined for them."""
    if not reducer:
        return values
    if (reduce := _REDUCERS.get(reducer)) is not None:
        return [reduce(values)]
    kind, _, number = reducer.rpartition("_")
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        return []
    tries, right, k = len(values), sum(value >= RIGHT for value in values), int(number)
    if kind == "at_least":
        return [float(right >= k)]
    if kind not in ("pass_at", "pass_k") or not 1 <= k <= tries:
        return []
    return [(pass_at if kind == "pass_at" else pass_all)(k, right, tries)]
