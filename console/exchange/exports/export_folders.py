"""The exports that are folders: each writes a run below a root and returns what it has written."""

from collections.abc import Callable, Mapping
from pathlib import Path

from console.core.fault import UsageError
from console.exchange.exports.export_names import EXPORT_NAMES
from console.store.runs import RunFolder

Progress = Callable[[int, int], None]
"""Called with how many cases are written, and of how many."""


def export_folder(
    name: str, run: RunFolder, root: Path | None = None, data: Path | None = None, progress: Progress | None = None
) -> list[Path]:
    """Write a run in a format that is a folder, and return the files and folders written.

    Args:
        name: of the format.
        run: what is written.
        root: where; None: where the format's tools look.
        data: folder of suites, if one was named.
        progress: called with how far it is; only a site, which takes long, says so.

    Raises:
        UsageError: the run is of another benchmark than the format, or something cannot be read or written.
    """
    place = root or Path(EXPORT_NAMES[name].folder)
    if name == "site":
        return _site(run, place, data, progress)
    return _WRITERS[name](run, place, data)


def _site(run: RunFolder, root: Path, data: Path | None, progress: Progress | None) -> list[Path]:
    from console.exchange.site.writer import export_site

    export_site([run], root, data, progress)
    return [root / "index.html"]


def _verifiers(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.benchmarks.aidanbench.files.verifiers_results import export_run

    return [export_run(run, root)]


def _cavebench(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.benchmarks.cavebench.files.results import export_run

    return export_run(run, root)


def _traces(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.verifiers_traces import export_run

    return [export_run(run, root, data)]


def _every_eval_ever(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.every_eval_ever import export_run

    return export_run(run, root, data)


def _hub(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.hub_results import Benchmark, export_run

    return [export_run(run, root, data, Benchmark("", "", ""))]


def _bfcl(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
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


_WRITERS: Mapping[str, Callable[[RunFolder, Path, Path | None], list[Path]]] = {
    "verifiers": _verifiers,
    "cavebench": _cavebench,
    "verifiers-traces": _traces,
    "every-eval-ever": _every_eval_ever,
    "hf-eval-results": _hub,
    "bfcl": _bfcl,
}
