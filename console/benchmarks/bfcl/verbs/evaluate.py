"""Score BFCL result files offline, with no network and no key, and write score files and tables.

A folder named after a model of the official registry is decoded by its row; others by the marks in files from our own
runs, by models.toml or by options; otherwise they are rejected.
"""

import argparse
import gc
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.benchmarks.bfcl.files.columns import load_columns
from console.benchmarks.bfcl.files.layout import Line, model_folder, project_root, read_lines, result_path
from console.benchmarks.bfcl.files.leaderboard_tables import Price, Spending, write_tables
from console.benchmarks.bfcl.files.reading import Reading
from console.benchmarks.bfcl.files.scores import (
    CategoryScore,
    in_directory_order,
    models_in,
    score_category,
    unread_files,
    write_score,
)
from console.benchmarks.bfcl.models.profile import profile_of_folder
from console.benchmarks.bfcl.rules.aggregate import Accuracy
from console.benchmarks.bfcl.suite import BfclSuite
from console.benchmarks.bfcl.verbs.phase import (
    PhaseArguments,
    add_phase_arguments,
    add_reading_arguments,
    categories_of,
    open_bfcl,
    results_folder,
)
from console.cli.exitcode import Exit
from console.cli.name_lists import split
from console.config.paths import find_models_file
from console.core.fault import UsageError
from console.core.suggestion import suggest
from console.exchange.json_kind import JsonKind

if TYPE_CHECKING:
    from console.config.model import ModelConfig

BFCL_EVALUATION = JsonKind(
    "bfcl_evaluation",
    "bfcl evaluate",
    "Scores of result files.",
    {"scores": "accuracy and counts of each model and category", "overall": "the overall score of each model"},
)


class EvaluateArguments(PhaseArguments):
    """Options of `bfcl evaluate`."""

    score_dir: Path
    partial_eval: bool
    read_as: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flags, then our own."""
    add_phase_arguments(parser, models="default: all with results", categories="all")
    add_reading_arguments(parser)
    parser.add_argument("--score-dir", type=Path, default=Path("score"), metavar="DIR")
    parser.add_argument("--partial-eval", action="store_true", help="also score categories with missing results")


class _Models:
    """Facts about models in the optional models.toml, by folder."""

    def __init__(self, args: EvaluateArguments) -> None:
        self._args = args

    def row_of(self, folder: str) -> str | None:
        """Return the registry name of a folder's model."""
        model = self._by_folder.get(folder)
        return model.bfcl_name if model else None

    def prices(self) -> dict[str, Price]:
        """Return the known prices by folder."""
        return {
            folder: (model.price.input, model.price.output)
            for folder, model in self._by_folder.items()
            if model.price.input is not None and model.price.output is not None
        }

    @cached_property
    def _by_folder(self) -> "dict[str, ModelConfig]":
        try:
            path = find_models_file(self._args.models)
            if path is None:
                return {}
            from console.config.models import load_models  # slow to import

            book = load_models(path)
        except UsageError:
            return {}
        for mistake in book.mistakes:
            self._args.output.warn(f"{mistake.where}: {mistake.message}; the cost of that model is unknown")
        root = results_folder(self._args)
        return {model_folder(root, name): model for name, model in book.models.items()}


def run(args: EvaluateArguments) -> int:
    """Score all result files of the selected models and categories.

    Raises:
        UsageError: no data, no results, or an unknown category or model.
    """
    gc.disable()  # tens of thousands of results without cycles stay in memory
    try:
        return _evaluate(args)
    finally:
        gc.enable()


def _evaluate(args: EvaluateArguments) -> int:
    output, suite = args.output, open_bfcl(args)
    categories = categories_of(args, "all")
    result_root, score_root = results_folder(args), project_root() / args.score_dir
    scores: list[CategoryScore] = []
    refused: list[str] = []
    models = _Models(args)
    chosen_models = _models(args, result_root)
    chosen = frozenset(chosen_models if args.model else ())
    reading = Reading(args.read_as, args.mode, chosen, models.row_of)
    for model in chosen_models:
        for category, lines in _files(result_root, model, categories, refused).items():
            path = result_path(result_root, model, category)
            try:
                setting = reading.setting(model, lines, path)
                score = score_category(suite, setting, path, lines, model, category, partial=args.partial_eval)
                write_score(score_root, score)
            except UsageError as error:
                refused.append(str(error))
                continue
            scores.append(score)
            if not output.machine:
                output.text(_line(score))
    for text in (*dict.fromkeys(refused), *unread_files(result_root)):
        output.warn(text)
    if not scores and not refused:
        chosen = ", ".join(split(args.test_category)) or "any category"
        raise UsageError(
            f"no result file of {chosen}", where=str(result_root), hint="Generate first, or give --result-dir."
        )
    _write_summary(args, suite, scores, score_root, models, in_directory_order(result_root))
    return Exit.USAGE if refused else Exit.OK


def _models(args: EvaluateArguments, result_root: Path) -> list[str]:
    models_there = models_in(result_root)
    chosen = [model_folder(result_root, name) for name in split(args.model)]
    for name in chosen:
        if name not in models_there:
            listed = (
                f"There are results of: {', '.join(models_there)}."
                if models_there
                else "Generate first, or give --result-dir."
            )
            raise UsageError(
                f"no results of {name!r}", where=str(result_root), hint=suggest(name, models_there, listed)
            )
    return chosen or models_there


def _files(result_root: Path, model: str, categories: list[str], refused: list[str]) -> dict[str, list[Line]]:
    """Return the lines of a model's result files by category; collect the errors of invalid files in `refused`."""
    files: dict[str, list[Line]] = {}
    for category in categories:
        path = result_path(result_root, model, category)
        try:
            if path.exists():
                files[category] = read_lines(path)
        except UsageError as error:
            refused.append(str(error))
    return files


def _write_summary(
    args: EvaluateArguments,
    suite: BfclSuite,
    scores: list[CategoryScore],
    score_root: Path,
    models: _Models,
    order: list[str],
) -> None:
    output = args.output
    spending = {folder: Spending() for folder in order if any(score.model == folder for score in scores)}
    for score in scores:
        spending[score.model].add(score.lines)
    overall: dict[str, Accuracy] = {}
    if scores:
        columns = load_columns(suite.entry.folder / "bfcl_eval" / "constants" / "column_headers.py")
        entries = {category.name: category.cases for category in suite.categories()}
        standings, strange = write_tables(score_root, columns, entries, spending, models.prices())
        for text in strange:
            output.warn(text)
        overall = {model: standing.overall for model, standing in standings.items()}
    if output.machine:
        values = {model: part.value for model, part in overall.items()}
        output.data(BFCL_EVALUATION, {"scores": [_as_json(score) for score in scores], "overall": values})
        return
    for model, part in overall.items():
        gap = "" if part.is_known else " (categories without results count as 0)"
        output.text(f"{model}: overall {part.value:.2%}{gap}", "strong")
    output.info(f"score files and tables are in {score_root}" if scores else "nothing was scored, nothing was written")


def _line(score: CategoryScore) -> str:
    part = f" of {score.of} entries" if score.total < score.of else ""
    errors = f", {score.inference_errors} of them failed inferences" if score.inference_errors else ""
    mark = " (simulated)" if score.simulated else ""
    profile = profile_of_folder(score.model)
    reading = "" if profile and profile.name == score.reading else f", read as {score.reading}"
    counts = f"{score.correct} right of {score.total}{part}{errors}"
    return f"{score.model}{mark}  {score.category}: {score.accuracy:.2%}  ({counts}{reading})"


def _as_json(score: CategoryScore) -> dict[str, Any]:
    return {
        "model": score.model,
        "category": score.category,
        "accuracy": score.accuracy,
        "correct_count": score.correct,
        "total_count": score.total,
        "entries": score.of,
        "handler": score.reading,
        "simulated": score.simulated,
        "inference_errors": score.inference_errors,
        "reasons": score.reasons,
    }
