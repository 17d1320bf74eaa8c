"""Import format for runs of cave-bench."""

from collections.abc import Iterator
from pathlib import Path

from console.exchange.imports.formats import ImportFormat, ImportSettings, report_of
from console.exchange.imports.importing import ImportReport


def _load(path: Path, settings: ImportSettings) -> Iterator[ImportReport]:
    from console.benchmarks.cavebench.files.importing import import_results

    yield report_of(import_results(path, settings.runs_root), path, "cave-bench")


def _is_cavebench(path: Path, head: bytes) -> bool:
    return path.suffix == ".json" and b'"conversations"' in head and b'"turns"' in head


IMPORTS = (ImportFormat("cavebench", "cave-bench result files", _is_cavebench, _load, is_tried_last=True),)
