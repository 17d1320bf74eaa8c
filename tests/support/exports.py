"""Exports that are single files, written without the command line."""

from pathlib import Path

from console.exchange.exports.files import require_folder, write_file
from console.exchange.exports.formats import ExportFormat, own_exports
from console.store.runs import RunFolder

EXPORT_FILES = {name: form for name, form in own_exports().items() if form.extension}


def export_file(run: RunFolder, form: ExportFormat, path: Path, data: Path | None) -> str:
    """Write a run to a file and return why its suite cannot be opened, if it cannot."""
    require_folder(path)
    document, why = form.read(run, data)
    write_file(path, form.content(document))
    return why
