"""Offline scoring of official result files to official score files, without model calls.

For failed inferences, which we count as broken, the file has the official verdict (correct for irrelevance), and the
score includes their number.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console.benchmarks.bfcl.files.layout import Line, folder_name, place_of, result_path, score_path, write_lines
from console.benchmarks.bfcl.files.results import is_error
from console.benchmarks.bfcl.files.score_lines import Recorder
from console.benchmarks.bfcl.models.decoding import family_of, reading_of
from console.benchmarks.bfcl.rules.aggregate import spread
from console.benchmarks.bfcl.rules.categories import ALL, FORMAT_SENSITIVITY, is_prerequisite, sort_key
from console.benchmarks.bfcl.scoring import Mark, mark_outputs
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Setting
from console.core.fault import Fault, UsageError
from console.core.suggestion import suggest


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """Score of one result file."""

    model: str
    category: str
    correct: int
    total: int
    of: int
    """Entries of the category; more than `total` for partial results."""
    inference_errors: int
    failures: list[Line]
    """Lines of the score file, in the order of the results."""
    reasons: dict[str, int] = field(default_factory=dict[str, int])
    lines: list[Line] = field(default_factory=list[Line])
    """The scored result lines, for cost and latency."""
    reading: str = ""
    """Registry name or decode family of the answers."""
    variations: Line = field(default_factory=Line)
    """Format sensitivity: spread over prompt variations, and accuracy of each."""

    @property
    def simulated(self) -> bool:
        """True if a simulated model produced the answers."""
        return any(line.get("simulated") is True for line in self.lines)

    @property
    def accuracy(self) -> float:
        """Fraction of correct answers; 0 if there are none."""
        return self.correct / self.total if self.total else 0.0


def score_category(
    suite: BfclSuite, setting: Setting, path: Path, lines: Sequence[Line], model: str, category: str, *, partial: bool
) -> CategoryScore:
    """Score a model's result file of one category.

    Args:
        suite: the BFCL suite with the matching data.
        setting: the setting that decodes the answers.
        path: the result file, for messages.
        lines: its lines.
        model: any name for the model.
        category: category of the file.
        partial: accept fewer results than entries.

    Raises:
        UsageError: ids that do not fit the data, or data without this category or simulators.
    """
    ids = [name for name in suite.dataset.entries(category) if not is_prerequisite(name)]
    check_ids(lines, ids, path, partial=partial)
    if not lines:
        raise UsageError("has no results", where=str(path), hint="Generate first, or remove the file.")
    lines = sorted(lines, key=lambda line: sort_key(line["id"]))
    try:
        marks = list(mark_outputs(suite.dataset, category, [(line["id"], line["result"]) for line in lines], setting))
    except Fault as fault:
        raise UsageError(fault.message, where=str(path), hint=fault.hint) from None
    recorder = Recorder(folder_name(model), family_of(setting), suite.dataset, suite.wording)
    refused = [(line, mark, mark.refusal) for line, mark in zip(lines, marks, strict=True) if mark.refusal]
    return CategoryScore(
        model=model,
        category=category,
        correct=len(lines) - len(refused),
        total=len(lines),
        of=len(ids),
        inference_errors=sum(map(is_error, lines)),
        failures=[recorder.line(mark, refusal, line.get("inference_log", "")) for line, mark, refusal in refused],
        reasons=dict(Counter(refusal.error_type for _, _, refusal in refused).most_common()),
        lines=lines,
        reading=reading_of(setting),
        variations=_variations(marks) if category == FORMAT_SENSITIVITY else {},
    )


def _variations(marks: list[Mark]) -> Line:
    """Return the extra header fields of format sensitivity: spread, and accuracy of each variation."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for mark in marks:
        right[mark.entry.config] += mark.refusal is None
        total[mark.entry.config] += 1
    counts = {config: {"correct_count": right[config], "total_count": count} for config, count in total.items()}
    shares = {config: right[config] / count for config, count in total.items()}
    return spread(shares) | {config: {"accuracy": shares[config]} | count for config, count in counts.items()}


def write_score(score_root: Path, score: CategoryScore) -> Path:
    """Write the score file of a category: a header line, then one line per failed entry.

    Raises:
        UsageError: unwritable file.
    """
    header = {"accuracy": score.accuracy, "correct_count": score.correct, "total_count": score.total}
    path = score_path(score_root, score.model, score.category)
    write_lines(path, [header | score.variations, *score.failures], ascii_only=False)
    return path


def check_ids(lines: Sequence[Line], ids: Collection[str], path: Path, *, partial: bool) -> None:
    """Check that results fit the data.

    Args:
        lines: lines of the file, in order.
        ids: ids of the data.
        path: the file, for messages.
        partial: accept entries without results.

    Raises:
        UsageError: missing fields, unknown or duplicate ids, or missing results.
    """
    first: dict[str, int] = {}
    known_ids = frozenset(ids)
    for number, line in enumerate(lines):
        name = line.get("id")
        if not isinstance(name, str) or "result" not in line:
            hint = 'Each line is an object with both: {"id": "simple_python_0", "result": "[f(x=1)]"}.'
            raise UsageError("has no id or no result", where=place_of(path, number), hint=hint)
        if name not in known_ids:
            hint = f"{suggest(name, ids)} The results may be from a different data version.".lstrip()
            raise UsageError(f"the data has no entry {name!r}", where=place_of(path, number), hint=hint)
        if first.setdefault(name, number) != number:
            raise UsageError(
                f"the id {name!r} occurs twice{_further(lines)}",
                where=f"{place_of(path, number)} and line {place_of(path, first[name]).rpartition(':')[2]}",
                hint="Keep one line per id.",
            )
    if len(lines) < len(ids) and not partial:
        raise UsageError(
            f"has {len(lines)} of {len(ids)} entries",
            where=str(path),
            hint="Generate the rest, or score partial results with --partial-eval.",
        )


def _further(lines: Sequence[Line]) -> str:
    """Describe the number of other duplicate ids."""
    doubled = sum(count > 1 for count in Counter(str(line.get("id")) for line in lines).values())
    return f", and {doubled - 1} more" if doubled > 1 else ""


def models_in(root: Path) -> list[str]:
    """Return the models with a folder of result files."""
    models: list[str] = []
    for folder in _folders(root):
        if next(folder.rglob("BFCL_v4_*_result.json"), None) is not None:
            models.append(folder.name)
    return models


def unread_files(root: Path) -> list[str]:
    """Report folders without result files, and result files at unknown paths."""
    notes: list[str] = []
    models = set(models_in(root))
    for folder in _folders(root):
        if folder.name not in models and not folder.name.startswith("."):
            notes.append(f"{folder}: has no result file of v4")
            continue
        expected_paths = {result_path(root, folder.name, category) for category in ALL}
        for path in sorted(folder.rglob("BFCL_v*_result.json")):
            if path not in expected_paths and "_prereq_" not in path.name:
                notes.append(f"{path}: ignored, as no category of v4 has results there")
    return notes


def in_directory_order(root: Path) -> list[str]:
    """Return folder names in directory order, which is the official order of ties."""
    return [path.name for path in root.iterdir() if path.is_dir()] if root.is_dir() else []


def _folders(root: Path) -> Iterable[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else ()
