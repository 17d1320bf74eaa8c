"""Registry of import formats, in the order in which they are tried; files are recognized by content.

Results of supported benchmarks become runs of their suites, judged again where the files allow it; logs of other
tools become runs that show only what was recorded.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from console.core.fault import UsageError, os_errors_as
from console.core.json_text import TooDeepError
from console.exchange.imports import (
    chat_log,
    every_eval_ever,
    inspect_log,
    lm_eval_log,
    promptfoo_log,
    tau_log,
    verifiers_log,
)
from console.exchange.imports.importing import ImportReport, Progress, import_log, outcome_counts
from console.exchange.imports.log import LogFormat
from console.store.atomic import open_regular
from console.store.runs import RunFolder
from console.suites.benchmarks import loaded_parts

_LOOKED_AT = 1 << 16
"""Bytes examined to recognize a file."""
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """Destination of runs, and settings for results that do not contain their own."""

    runs_root: Path
    data: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of options added by formats, by name; unset ones may be missing."""
    progress: Callable[[Path], Progress] = field(default=lambda path: lambda done, planned: None)


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """An import format."""

    name: str
    meaning: str
    recognizes: Callable[[Path, bytes], bool]
    """Test a file, or a folder (then without bytes)."""
    load: Callable[[Path, ImportSettings], Iterator[ImportReport]]
    """Import the runs one by one."""
    is_tried_last: bool = False
    """True if files in other formats may be mistaken for this one."""
    add_arguments: Callable[[argparse.ArgumentParser], object] | None = None
    """Adds options to `import`; `ImportSettings.options` has their values."""


@dataclass(frozen=True, slots=True)
class ImportItem:
    """A file or folder, and its format."""

    path: Path
    form: ImportFormat


def report_of(folder: RunFolder, path: Path, tool: str) -> ImportReport:
    """Return the report on results that were imported as a run of the benchmark's own suite."""
    summary = folder.summary()
    return ImportReport(
        file=path.name,
        run=folder.name,
        tool=tool,
        version="",
        suite=summary.suite,
        model=summary.model,
        simulated=summary.simulated,
        samples=summary.tally.finished,
        outcomes=outcome_counts(summary),
        missing=0,
        unplaced={},
        problems=[],
        totals=[],
    )


def _log_format(form: LogFormat) -> ImportFormat:
    def load(path: Path, settings: ImportSettings) -> Iterator[ImportReport]:
        try:
            for number, log in enumerate(form.open(path)):
                yield import_log(log, path, settings.runs_root, number, settings.progress(path), form.keep)[1]
        except TooDeepError as error:
            raise UsageError(f"cannot be read: {error}", where=str(path)) from None

    return ImportFormat(form.name, form.meaning, form.recognizes, load)


LOG_FORMATS = (
    inspect_log.EVAL,
    inspect_log.JSON,
    verifiers_log.TRACES,
    verifiers_log.RESULTS,
    lm_eval_log.FORMAT,
    promptfoo_log.FORMAT,
    tau_log.OLD,
    tau_log.NEW,
    every_eval_ever.FORMAT,
    chat_log.FORMAT,
)
"""Logs of other tools."""


@cache
def import_formats() -> dict[str, ImportFormat]:
    """Return the formats by name, including those of other packages, in the order in which they are tried."""
    of_benchmarks: list[ImportFormat] = [form for forms in loaded_parts("imports") for form in forms]
    forms = [*of_benchmarks, *map(_log_format, LOG_FORMATS)]
    return {form.name: form for form in sorted(forms, key=lambda form: form.is_tried_last)}


def find_items(path: Path, form: str | None = None) -> list[ImportItem]:
    """Return the importable files at a path: the file itself, or those in a folder, without following links.

    Args:
        path: a file or a folder.
        form: the only format to look for; a path where it is not recognized is read as that format.

    Raises:
        UsageError: nothing is there, or nothing is recognized.
    """
    if not path.exists():
        raise UsageError("does not exist", where=str(path))
    forms = list(import_formats().values()) if form is None else [import_formats()[form]]
    if (item := _recognized(path, forms)) is not None:
        return [item]
    items = [item for file in _files(path) if (item := _recognized(file, forms)) is not None] if path.is_dir() else []
    if not items and form is not None:
        return [ImportItem(path, forms[0])]
    if not items:
        names = ", ".join(import_formats())
        raise UsageError("contains no recognized results", where=str(path), hint=f"Name the format: --format {names}.")
    return items


def _recognized(path: Path, forms: Sequence[ImportFormat]) -> ImportItem | None:
    head = b""
    if not path.is_dir():
        with os_errors_as("cannot be read", where=path), open_regular(path) as file:
            head = file.read(_LOOKED_AT)
    return next((ImportItem(path, form) for form in forms if form.recognizes(path, head)), None)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder by name, up to a limit."""
    import os

    number = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.is_symlink() or not path.is_file():
                continue
            number += 1
            if number > _MOST_FILES:
                raise UsageError(
                    f"contains more than {_MOST_FILES} files", where=str(folder), hint="Choose a smaller folder."
                )
            yield path
