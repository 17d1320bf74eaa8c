"""Score BFCL result files offline, with no network, no key and any model name, and write score files and tables."""

import argparse
import gc
from itertools import chain
from pathlib import Path
from typing import Any

from console.cli.bfcl_phase import PhaseArguments, add_phase_arguments, categories_of, open_bfcl, results_folder
from console.cli.exitcode import Exit
from console.cli.name_lists import split
from console.config.paths import find_models_file
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.exchange.bfcl_columns import load_columns
from console.exchange.bfcl_layout import Line, folder_name, project_root, read_lines, result_path
from console.exchange.bfcl_leaderboard import Price, Spending, write_tables
from console.exchange.bfcl_results import speaks_natively
from console.exchange.bfcl_scores import CategoryScore, models_in, score_category, unread_files, write_score
from console.suites.bfcl.suite import BfclSuite


class EvaluateArguments(PhaseArguments):
    """Options of `bfcl evaluate`."""

    score_dir: Path
    partial_eval: bool


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flags, and ours after them."""
    add_phase_arguments(
        parser,
        models="default: all with results",
        categories="all_scoring",
        mode="how the models were spoken to (default: found out)",
    )
    parser.add_argument("--score-dir", type=Path, default=Path("score"), metavar="DIR")
    parser.add_argument("--partial-eval", action="store_true", help="score what is there of a category")


def run(args: EvaluateArguments) -> int:
    """Score every result file there is of the chosen models and categories.

    Raises:
        UsageError: no data, no results, or an unknown category or model.
    """
    gc.disable()  # tens of thousands of results are held to the end, and nothing of them is a cycle
    try:
        return _evaluate(args)
    finally:
        gc.enable()


def _evaluate(args: EvaluateArguments) -> int:
    output, suite = args.output, open_bfcl(args)
    categories = categories_of(args, "all_scoring")
    result_root, score_root = results_folder(args), project_root() / args.score_dir
    scores: list[CategoryScore] = []
    refused: list[str] = []
    for model in _models(args, result_root):
        files = _files(result_root, model, categories, refused)
        mode = args.mode or ("fc" if speaks_natively(model, chain.from_iterable(files.values())) else "prompt")
        for category, lines in files.items():
            path = result_path(result_root, model, category)
            try:
                score = score_category(
                    suite, Setting(mode=mode), path, lines, model, category, partial=args.partial_eval
                )
                write_score(score_root, score)
            except UsageError as error:
                refused.append(str(error))
                continue
            scores.append(score)
            if not output.machine:
                output.text(_line(score))
    for text in (*refused, *unread_files(result_root)):
        output.warn(text)
    if not scores and not refused:
        chosen = ", ".join(split(args.test_category)) or "any category"
        raise UsageError(f"no result file of {chosen}", where=str(result_root), hint="Generate first, or --result-dir.")
    _write_summary(args, suite, scores, score_root)
    return Exit.USAGE if refused else Exit.OK


def _models(args: EvaluateArguments, result_root: Path) -> list[str]:
    models_there = models_in(result_root)
    chosen = [folder_name(name) for name in split(args.model)]
    for name in chosen:
        if name not in models_there:
            close = nearest(name, models_there)
            listed = (
                f"Results are there of: {', '.join(models_there)}."
                if models_there
                else "Generate first, or give --result-dir."
            )
            raise UsageError(
                f"no results of {name!r}", where=str(result_root), hint=f"Did you mean {close}?" if close else listed
            )
    return chosen or models_there


def _files(result_root: Path, model: str, categories: list[str], refused: list[str]) -> dict[str, list[Line]]:
    """Return the lines of a model's result files by category; damaged files are refused and left out."""
    files: dict[str, list[Line]] = {}
    for category in categories:
        path = result_path(result_root, model, category)
        try:
            if path.exists():
                files[category] = read_lines(path)
        except UsageError as error:
            refused.append(str(error))
    return files


def _write_summary(args: EvaluateArguments, suite: BfclSuite, scores: list[CategoryScore], score_root: Path) -> None:
    output = args.output
    spending: dict[str, Spending] = {}
    for score in scores:
        spending.setdefault(score.model, Spending()).add(score.lines)
    overall: dict[str, float] = {}
    if scores:
        columns = load_columns(suite.entry.folder / "bfcl_eval" / "constants" / "column_headers.py")
        entries = {category.name: category.cases for category in suite.categories()}
        standings, strange = write_tables(score_root, columns, entries, spending, _prices(args))
        for text in strange:
            output.warn(text)
        overall = {model: standing.overall.value for model, standing in standings.items()}
    if output.machine:
        output.data({"schema": 1, "scores": [_as_json(score) for score in scores], "overall": overall})
        return
    for model, value in overall.items():
        output.text(f"{model}: overall {value:.2%} (categories without results count as 0)", "strong")
    output.say(f"score files and tables are in {score_root}")


def _prices(args: EvaluateArguments) -> dict[str, Price]:
    """Prices of the models that models.toml knows; scoring does not need the file."""
    try:
        path = find_models_file(args.models)
        if path is None:
            return {}
        from console.config.models import load_models  # takes longer to import than a category to score

        book = load_models(path)
    except UsageError:
        return {}
    for mistake in book.mistakes:
        args.output.warn(f"{mistake.where}: {mistake.message}; the cost of that model is not known")
    return {
        folder_name(name): (model.price.input, model.price.output)
        for name, model in book.models.items()
        if model.price.input is not None and model.price.output is not None
    }


def _line(score: CategoryScore) -> str:
    part = f" of {score.of} entries" if score.total < score.of else ""
    errors = f", {score.inference_errors} of them failed inferences" if score.inference_errors else ""
    mark = " (simulated)" if score.simulated else ""
    counts = f"{score.correct} right of {score.total}{part}{errors}"
    return f"{score.model}{mark}  {score.category}: {score.accuracy:.2%}  ({counts})"


def _as_json(score: CategoryScore) -> dict[str, Any]:
    return {
        "model": score.model,
        "category": score.category,
        "accuracy": score.accuracy,
        "correct_count": score.correct,
        "total_count": score.total,
        "entries": score.of,
        "simulated": score.simulated,
        "inference_errors": score.inference_errors,
        "reasons": score.reasons,
    }
