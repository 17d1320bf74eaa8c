"""Import format of BFCL result files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.exchange.imports.formats import ImportFormat, ImportSettings, report_of
from console.exchange.imports.importing import ImportReport
from console.suites.catalog import Catalog


def _load(path: Path, settings: ImportSettings) -> Iterator[ImportReport]:
    from console.benchmarks.bfcl.files.importing import import_results

    name = settings.options.get("suite", "bfcl")
    suite = Catalog(find_data_roots(settings.data)).open(name)
    if suite.entry.format != "bfcl":
        raise UsageError(f"{name} is not in the BFCL format", where="--suite")
    handler, mode = settings.options.get("read_as"), settings.options.get("mode")
    yield report_of(import_results(path, suite, settings.runs_root, handler=handler, mode=mode), path, "bfcl")


def _is_bfcl(path: Path, head: bytes) -> bool:
    return path.name.startswith("BFCL_v4_") or (
        path.is_dir() and next(path.rglob("BFCL_v4_*_result.json"), None) is not None
    )


def _add_arguments(parser: Any) -> None:
    from console.benchmarks.bfcl.verbs.phase import add_import_arguments

    add_import_arguments(parser)


IMPORTS = (ImportFormat("bfcl", "BFCL result files", _is_bfcl, _load, add_arguments=_add_arguments),)
