"""The formats that a run can be exported in as a single file, by their names in `export_names`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.document import RunDocument
from console.exchange.exports.csv_table import csv_table
from console.exchange.exports.html_page import html_page
from console.exchange.exports.inspect_log import eval_log
from console.exchange.exports.json_table import json_text
from console.exchange.exports.junit import junit_xml
from console.exchange.exports.markdown import markdown_section
from console.exchange.exports.otlp_traces import otlp_lines
from console.exchange.run_reader import read_document
from console.store.atomic import write_atomically
from console.store.runs import RunFolder


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One format that is a single file."""

    name: str
    extension: str
    write: Callable[[RunDocument], bytes]
    with_conversations: bool = False
    """Whether it holds whole conversations."""
    with_failing: bool = False
    """Whether it holds the conversations that did not pass, or that a reader marked."""
    is_text: bool = True


def _csv(document: RunDocument) -> bytes:
    rollouts = [item.rollout for item in document.items]
    words = {item.rollout.slot: item.outcome for item in document.items}
    return csv_table(rollouts, simulated=document.simulated, annotations=document.annotations(), words=words).encode()


def _markdown(document: RunDocument) -> bytes:
    return markdown_section(document).encode()


def _html(document: RunDocument) -> bytes:
    return html_page(document).encode()


def _junit(document: RunDocument) -> bytes:
    graded = [item.rollout for item in document.items if not item.is_setup]
    return junit_xml(document.summary, graded, document.annotations()).encode()


EXPORT_FORMATS = {
    form.name: form
    for form in (
        ExportFormat("csv", ".csv", _csv),
        ExportFormat("json", ".json", lambda document: json_text(document).encode()),
        ExportFormat("markdown", ".md", _markdown),
        ExportFormat("junit", ".xml", _junit),
        ExportFormat("html", ".html", _html, with_failing=True),
        ExportFormat("otlp", ".jsonl", otlp_lines, with_conversations=True),
        ExportFormat("eval", ".eval", eval_log, with_conversations=True, is_text=False),
    )
}


def export_format(name: str) -> ExportFormat:
    """Return the form of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in EXPORT_FORMATS:
        raise UsageError(f"no form is called {name!r}", where="--format", hint=f"One of: {', '.join(EXPORT_FORMATS)}.")
    return EXPORT_FORMATS[name]


def export_file(folder: RunFolder, form: ExportFormat, path: Path, data_path: Path | None) -> str:
    """Write a run to a file and return why its suite cannot be opened, if it cannot.

    Raises:
        UsageError: the run cannot be read or the file not be written.
    """
    require_folder(path)
    document, why = read_document(
        folder, data_path, with_conversations=form.with_conversations, with_failing=form.with_failing
    )
    write_file(path, form.write(document))
    return why


def write_file(path: Path, data: bytes) -> None:
    """Replace a file, its folder made when needed; places that a person names go through `require_folder` before.

    Raises:
        UsageError: it cannot be written; says why.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(path), hint="Choose another file with -o."
        ) from None


def require_folder(path: Path) -> None:
    """Refuse a place in a folder that does not exist: a mistyped path would scatter files.

    Raises:
        UsageError: the folder is missing.
    """
    if not path.absolute().parent.is_dir():
        raise UsageError(
            "is in a folder that does not exist", where=str(path), hint="Make the folder, or name another place."
        )
