"""The format of results that become runs of BFCL."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from console.config.paths import find_data_roots
from console.core.fault import UsageError
from console.exchange.imports.formats import ImportFormat, ImportSettings, report_of
from console.exchange.imports.importing import ImportReport
from console.suites.catalog import Catalog

_SUITE = "bfcl"
"""The data that was asked, unless another suite is named."""


def _load(path: Path, settings: ImportSettings) -> Iterator[ImportReport]:
    from console.benchmarks.bfcl.files.importing import import_results

    name = settings.options.get("suite", _SUITE)
    suite = Catalog(find_data_roots(settings.data)).open(name)
    if suite.entry.format != "bfcl":
        raise UsageError(f"{name} is not in the BFCL format", where="--suite")
    handler, mode = settings.options.get("read_as"), settings.options.get("mode")
    yield report_of(import_results(path, suite, settings.runs_root, handler=handler, mode=mode), path, "bfcl")


def _is_bfcl(path: Path, head: bytes) -> bool:
    return path.name.startswith("BFCL_v4_") or (
        path.is_dir() and next(path.rglob("BFCL_v4_*_result.json"), None) is not None
    )


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a person can say of answers whose form nothing else tells."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--handler",
        dest="read_as",
        metavar="NAME|FAMILY",
        help="read answers as those of a model of the official registry, or of a decode family",
    )
    group.add_argument("--mode", choices=("fc", "prompt"), help="read them as native calls or texts of a run of ours")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-s", "--suite", default=_SUITE, metavar="NAME", help="of BFCL results: which data")
    add_reading_arguments(parser)


IMPORTS = (ImportFormat("bfcl", "BFCL result files", _is_bfcl, _load, add_arguments=_add_arguments),)
