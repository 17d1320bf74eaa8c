"""The format in which only runs of AidanBench can be exported. Light to load: it stands in the app's menu."""

from pathlib import Path
from typing import TYPE_CHECKING

from console.exchange.exports.export_names import ExportName

if TYPE_CHECKING:
    from console.store.runs import RunFolder


def _write(run: "RunFolder", root: Path, data: Path | None) -> list[Path]:
    from console.benchmarks.aidanbench.files.results import export_run

    return [export_run(run, root)]


EXPORTS = (
    ExportName("verifiers", "v", "verifiers folder", "AidanBench results for the verifiers tools", "outputs", _write),
)
