"""The official summary tables as CSV, aggregated from all score files by the official formulas.

Missing categories count as 0, with weights from the data, and are shown as `N/A`. A folder named after a registry model
is shown with the facts of its row, including cost, any other by name only. A folder without readable score files is
skipped and reported, where the official command would fail.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from console.benchmarks.bfcl.files.columns import Columns
from console.benchmarks.bfcl.files.layout import PREFIX, Line, folders_in, is_plausible, read_first, write_text
from console.benchmarks.bfcl.models.profile import profile_of_folder
from console.benchmarks.bfcl.rules.aggregate import Accuracy, Standing, latency_figures
from console.benchmarks.bfcl.rules.categories import (
    FORMAT_SENSITIVITY,
    LIVE,
    MEMORY,
    MULTI_TURN,
    SCORING,
    WEB_SEARCH,
)
from console.benchmarks.bfcl.rules.variation import CONFIGS
from console.core.fault import UsageError

Price = tuple[float, float]
"""USD per million input and output tokens."""
NOT_KNOWN = "N/A"
_HOUR = 23.92
"""USD per hour of eight H100, the official estimate for locally served models."""
_AT_ONCE = 100
"""Concurrent requests on this hardware, by the same estimate."""


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """Facts about a model in the tables."""

    name: str
    link: str = ""
    organization: str = ""
    licence: str = ""
    price: Price | None = None
    hosted: bool = False
    """Estimate a missing price from hardware."""


def _entry_of(folder: str, price: Price | None) -> LeaderboardEntry:
    row = profile_of_folder(folder)
    if row is None:
        return LeaderboardEntry(folder.replace(",", " "), price=price)
    if row.input_price is None or row.output_price is None:
        return LeaderboardEntry(row.display_name, row.link, row.organization, row.licence, hosted=True)
    return LeaderboardEntry(
        row.display_name, row.link, row.organization, row.licence, (row.input_price, row.output_price)
    )


@dataclass(slots=True)
class Spending:
    """Tokens and latencies of a model's results in this evaluation."""

    input_tokens: list[float] = field(default_factory=list[float])
    output_tokens: list[float] = field(default_factory=list[float])
    latencies: list[float] = field(default_factory=list[float])

    def add(self, lines: Iterable[Line]) -> None:
        """Add result lines, ignoring zeros, non-numbers and implausible numbers."""
        for line in lines:
            self.input_tokens += _numbers(line.get("input_token_count"))
            self.output_tokens += _numbers(line.get("output_token_count"))
            self.latencies += _numbers(line.get("latency"))

    def cells(self, price: Price | None, *, hosted: bool = False) -> "list[float | str]":
        """Return cost, and mean, standard deviation and 95th percentile of latency, rounded to two places.

        Args:
            price: token price of the model.
            hosted: estimate a missing price from the time on rented hardware.
        """
        return [self._cost(price, hosted=hosted), *(latency_figures(self.latencies) or [NOT_KNOWN] * 3)]

    def _cost(self, price: Price | None, *, hosted: bool) -> float | str:
        if price is None:
            hours = sum(self.latencies) / 3600
            return round(hours * _HOUR / _AT_ONCE, 2) if hosted and self.latencies else NOT_KNOWN
        if not self.input_tokens or not self.output_tokens:
            return NOT_KNOWN
        return round(sum(self.input_tokens) * price[0] / 1e6 + sum(self.output_tokens) * price[1] / 1e6, 2)


def _numbers(value: Any) -> Sequence[float]:
    if type(value) is float or type(value) is int:
        return (value,) if value and is_plausible(value) else ()
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]  # pyright: ignore[reportUnknownVariableType]
    return ()


def _rows(about: LeaderboardEntry, at: Standing, spending: Sequence[Any], sensitivity: Line) -> dict[str, list[Any]]:
    """Return a model's row in each table, with an empty first cell for the rank."""

    def shown(*names: str) -> list[Any]:
        return [at.of(name).shown for name in names]

    non_live = [at.simple.shown, *shown("multiple", "parallel", "parallel_multiple")]
    simple = shown("simple_python", "simple_java", "simple_javascript")
    spread = [_number(sensitivity.get("accuracy_max_delta")), _number(sensitivity.get("accuracy_std"))]
    return {
        "non_live": [
            *("", about.name, at.non_live.value, at.non_live.shown, at.simple.shown),
            *(*simple, *non_live[1:], *shown("irrelevance")),
        ],
        "live": [
            *("", about.name, at.live.value, at.live.shown, *shown(*LIVE[:4])),
            *shown("live_irrelevance", "live_relevance"),
        ],
        "multi_turn": ["", about.name, at.multi_turn.value, *shown(*MULTI_TURN)],
        "agentic": [
            *("", about.name, at.agentic.value, at.web_search.shown, *shown(*WEB_SEARCH)),
            *(at.memory.shown, *shown(*MEMORY)),
        ],
        "format_sensitivity": ["", about.name, *spread, *(_config(sensitivity, config) for config in CONFIGS)],
        "overall": [
            *("", at.overall.value, about.name, about.link, *spending, at.non_live.shown, *non_live),
            *(at.live.value, *shown(*LIVE[:4]), at.multi_turn.value, *shown(*MULTI_TURN)),
            *(at.web_search.shown, *shown(*WEB_SEARCH), at.memory.shown, *shown(*MEMORY)),
            *(*shown("live_relevance"), at.irrelevance.shown, *spread, about.organization, about.licence),
        ],
    }


def _config(sensitivity: Line, config: str) -> Any:
    header = sensitivity.get(config)
    return _number(cast(Line, header).get("accuracy")) if isinstance(header, dict) else NOT_KNOWN


def _number(value: Any) -> float | str:
    """Return a plausible number of a score file, or `N/A`."""
    return value if isinstance(value, int | float) and is_plausible(value) else NOT_KNOWN


_PLAIN = {"overall": {4, 5, 6, 7, 32, 33}, "format_sensitivity": {2, 3}}
"""Columns that are not percentages."""


def write_tables(
    score_root: Path,
    columns: Columns,
    entries: Mapping[str, int],
    spending: Mapping[str, Spending],
    prices: Mapping[str, Price],
) -> tuple[dict[str, Standing], list[str]]:
    """Write all tables from all score files in a folder.

    Args:
        score_root: the score folder.
        columns: the headings.
        entries: number of entries by category of the data.
        spending: tokens and latencies of the models in this evaluation, by folder name; it also decides ties, before
            other models.
        prices: prices of models not in the registry, by folder name.

    Returns:
        The standings by model, and the errors of skipped files.

    Raises:
        UsageError: a table cannot be written.
    """
    headers, unread_files = read_headers(score_root)
    standings: dict[str, Standing] = {}
    tables: dict[str, list[list[Any]]] = {name: [] for name in columns.headings}
    for model in (*(name for name in spending if name in headers), *(name for name in headers if name not in spending)):
        by_category, about = headers[model], _entry_of(model, prices.get(model))
        standings[model] = Standing(_reader(by_category, entries))
        cells = spending.get(model, Spending()).cells(about.price, hosted=about.hosted)
        rows = _rows(about, standings[model], cells, by_category.get(FORMAT_SENSITIVITY, {}))
        for name, row in rows.items():
            tables[name].append(row)
    for name, rows in tables.items():
        write_text(score_root / f"data_{name}.csv", _table(columns.headings[name], rows, name))
    return standings, unread_files


def _reader(by_category: Mapping[str, Line], entries: Mapping[str, int]) -> Callable[[str], Accuracy]:
    def of(category: str) -> Accuracy:
        header = by_category.get(category)
        if header is None:
            return Accuracy(0.0, entries.get(category, 0), is_known=False)
        return Accuracy(float(header["accuracy"]), int(header["total_count"]))

    return of


def _table(heading: list[str], rows: list[list[Any]], name: str) -> str:
    sort_by = 1 if name == "overall" else 2
    rows.sort(key=lambda row: row[sort_by] if isinstance(row[sort_by], float | int) else -1, reverse=True)
    plain = _PLAIN.get(name, set[int]())
    out = [",".join(heading)]
    for rank, row in enumerate(rows, 1):
        cells = [_cell(value, plain=column in plain) for column, value in enumerate(row)]
        out.append(",".join([str(rank), *cells[1:]]))
    return "\n".join(out)


def _cell(value: Any, *, plain: bool) -> str:
    if isinstance(value, str):
        return value
    return str(value) if plain else f"{value * 100:.2f}%"


def read_headers(score_root: Path) -> tuple[dict[str, dict[str, Line]], list[str]]:
    """Return the header line of every score file by model folder and category, and errors of unreadable ones."""
    by_model: dict[str, dict[str, Line]] = {}
    unread_files: list[str] = []
    for folder in folders_in(score_root):
        headers: dict[str, Line] = {}
        for path in sorted(folder.rglob(f"{PREFIX}_*_score.json")):
            category = path.name.removeprefix(f"{PREFIX}_").removesuffix("_score.json")
            try:
                headers[category] = _header(path, category)
            except UsageError as error:
                unread_files.append(str(error))
        if headers:
            by_model[folder.name] = headers
        elif not folder.name.startswith("."):
            unread_files.append(f"{folder}: has no score file")
    return by_model, unread_files


def _header(path: Path, category: str) -> Line:
    if category not in (*SCORING, FORMAT_SENSITIVITY):
        raise UsageError(f"{category!r} is not a BFCL category", where=str(path))
    header = read_first(path)
    numbers = (header.get("accuracy"), header.get("total_count"))
    if not all(isinstance(number, int | float) and is_plausible(number) for number in numbers):
        raise UsageError("does not begin with accuracy and total_count", where=str(path))
    return header
