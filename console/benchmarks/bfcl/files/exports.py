"""The format in which only runs of BFCL can be exported. Light to load: it stands in the app's menu."""

from pathlib import Path
from typing import TYPE_CHECKING

from console.core.fault import UsageError
from console.exchange.exports.export_names import ExportName

if TYPE_CHECKING:
    from console.store.runs import RunFolder


def _write(run: "RunFolder", root: Path, data: Path | None) -> list[Path]:
    from console.benchmarks.bfcl.files.layout import folder_name
    from console.benchmarks.bfcl.files.result_sink import ResultSink
    from console.benchmarks.bfcl.rules.categories import ALL
    from console.store.journal import JournalReader

    manifest = run.manifest()
    played = [name for name in run.summary().categories if name]
    if not played or any(name not in ALL and not name.endswith("_prereq") for name in played):
        raise UsageError("holds no BFCL conversation", where=run.name, hint="Choose another --format.")
    sink = ResultSink(root, folder_name(manifest.model.name), setting=manifest.setting, replace=True)
    for record in JournalReader(run.journal_path).iter_all():
        sink.add(record)
    return sink.close()


EXPORTS = (ExportName("bfcl", "b", "BFCL results", "official BFCL result files", "result", _write),)
