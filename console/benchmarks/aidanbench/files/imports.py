"""Import format for runs of AidanBench."""

from collections.abc import Iterator
from pathlib import Path

from console.exchange.imports.formats import ImportFormat, ImportSettings, report_of
from console.exchange.imports.importing import ImportReport


def _load(path: Path, settings: ImportSettings) -> Iterator[ImportReport]:
    from console.benchmarks.aidanbench.files.importing import import_results

    yield report_of(import_results(path, settings.runs_root), path, "verifiers")


def _is_verifiers(path: Path, head: bytes) -> bool:
    from console.benchmarks.aidanbench.files.results import is_aidanbench

    return path.name == "results.jsonl" and is_aidanbench(path)


IMPORTS = (ImportFormat("verifiers-aidanbench", "AidanBench results of the verifiers tools", _is_verifiers, _load),)
