"""Offline scoring of official result files, and the official score files.

Verdicts come from the BFCL suite; nothing is asked and no key is looked for. Where our outcome differs from the
official verdict on purpose (a failed inference counts as right for irrelevance there), the file carries the official
one and the score says how many failed inferences it holds.
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
from console.core.suggestion import nearest


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """What one result file came to."""

    model: str
    category: str
    correct: int
    total: int
    of: int
    """Entries of the category; more than `total` when the results are partial."""
    inference_errors: int
    failures: list[Line]
    """Lines of the score file, in the order of the results."""
    reasons: dict[str, int] = field(default_factory=dict[str, int])
    lines: list[Line] = field(default_factory=list[Line])
    """The result lines that were scored, for cost and latency."""
    reading: str = ""
    """The registry name or decode family by which the answers were read."""
    variations: Line = field(default_factory=Line)
    """Format sensitivity: the spread over prompt variations, and each one's accuracy."""

    @property
    def simulated(self) -> bool:
        """Whether the answers came from a built-in simulated model."""
        return any(line.get("simulated") is True for line in self.lines)

    @property
    def accuracy(self) -> float:
        """Share of right answers; 0 of nothing is 0."""
        return self.correct / self.total if self.total else 0.0


def score_category(
    suite: BfclSuite, setting: Setting, path: Path, lines: Sequence[Line], model: str, category: str, *, partial: bool
) -> CategoryScore:
    """Score a model's result file of one category.

    Args:
        suite: the BFCL suite over the data that was asked.
        setting: how the model was prompted.
        path: the result file, for messages.
        lines: its lines.
        model: the model's name, any name.
        category: which one it is.
        partial: whether fewer results than entries are accepted.

    Raises:
        UsageError: the ids do not fit the data, or the data has no such category or no simulators; says which.
    """
    ids = [name for name in suite.dataset.entries(category) if not is_prerequisite(name)]
    check_ids(lines, ids, path, partial=partial)
    if not lines:
        raise UsageError("holds no result", where=str(path), hint="Generate first, or remove the file.")
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
    """Return what the header of format sensitivity says besides: the spread, and the accuracy of each variation."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for mark in marks:
        right[mark.entry.config] += mark.refusal is None
        total[mark.entry.config] += 1
    counts = {config: {"correct_count": right[config], "total_count": count} for config, count in total.items()}
    shares = {config: right[config] / count for config, count in total.items()}
    return spread(shares) | {config: {"accuracy": shares[config]} | count for config, count in counts.items()}


def write_score(score_root: Path, score: CategoryScore) -> Path:
    """Write the score file of a category: a header line, then one line for each failed entry.

    Raises:
        UsageError: it cannot be written.
    """
    header = {"accuracy": score.accuracy, "correct_count": score.correct, "total_count": score.total}
    path = score_path(score_root, score.model, score.category)
    write_lines(path, [header | score.variations, *score.failures], ascii_only=False)
    return path


def check_ids(lines: Sequence[Line], ids: Collection[str], path: Path, *, partial: bool) -> None:
    """Refuse results that do not fit the data.

    Args:
        lines: of the file, in its order.
        ids: those of the data.
        path: the file, for messages.
        partial: whether entries may have no result.

    Raises:
        UsageError: a line lacks its id or result, an id is unknown or stands there twice, or, unless partial results
            are accepted, entries have none.
    """
    first: dict[str, int] = {}
    known_ids = frozenset(ids)
    for number, line in enumerate(lines):
        name = line.get("id")
        if not isinstance(name, str) or "result" not in line:
            hint = 'Each line is an object with both: {"id": "simple_python_0", "result": "[f(x=1)]"}.'
            raise UsageError("has no id or no result", where=place_of(path, number), hint=hint)
        if name not in known_ids:
            close = nearest(name, ids)
            raise UsageError(
                f"the data has no entry {name!r}",
                where=place_of(path, number),
                hint=(f"Did you mean {close}? " if close else "") + "The results may be of another data version.",
            )
        if first.setdefault(name, number) != number:
            raise UsageError(
                f"the id {name!r} stands there twice{_further(lines)}",
                where=f"{place_of(path, number)} and line {place_of(path, first[name]).rpartition(':')[2]}",
                hint="Keep one line of each: which of them counts cannot be known.",
            )
    if len(lines) < len(ids) and not partial:
        raise UsageError(
            f"holds {len(lines)} of {len(ids)} entries",
            where=str(path),
            hint="Generate the rest, or score what is there with --partial-eval.",
        )


def _further(lines: Sequence[Line]) -> str:
    """Say how many ids are doubled besides the one that is named."""
    doubled = sum(count > 1 for count in Counter(str(line.get("id")) for line in lines).values())
    return f", and {doubled - 1} more" if doubled > 1 else ""


def models_in(root: Path) -> list[str]:
    """Return the models that have a folder with result files; other folders are skipped."""
    models: list[str] = []
    for folder in _folders(root):
        if next(folder.rglob("BFCL_v4_*_result.json"), None) is not None:
            models.append(folder.name)
    return models


def unread_files(root: Path) -> list[str]:
    """Name what lies among results and is not read: folders without any, and result files in no place of v4."""
    notes: list[str] = []
    models = set(models_in(root))
    for folder in _folders(root):
        if folder.name not in models and not folder.name.startswith("."):
            notes.append(f"{folder}: holds no result file of v4")
            continue
        expected_paths = {result_path(root, folder.name, category) for category in ALL}
        for path in sorted(folder.rglob("BFCL_v*_result.json")):
            if path not in expected_paths and "_prereq_" not in path.name:
                notes.append(f"{path}: is not read: no category of v4 has its results there")
    return notes


def in_directory_order(root: Path) -> list[str]:
    """Return the names of folders as the file system lists them: officially the order of models that are even."""
    return [path.name for path in root.iterdir() if path.is_dir()] if root.is_dir() else []


def _folders(root: Path) -> Iterable[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else ()
