"""The exports that are folders: each writes a run below a root and returns what it has written."""

from collections.abc import Callable, Mapping
from pathlib import Path

from console.exchange.exports.export_names import all_exports
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
    form = all_exports()[name]
    place = root or Path(form.folder)
    if name == "site":
        return _site(run, place, data, progress)
    return (form.write or _WRITERS[name])(run, place, data)


def _site(run: RunFolder, root: Path, data: Path | None, progress: Progress | None) -> list[Path]:
    from console.exchange.site.writer import export_site

    export_site([run], root, data, progress)
    return [root / "index.html"]


def _traces(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.verifiers_traces import export_run

    return [export_run(run, root, data)]


def _every_eval_ever(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.every_eval_ever import export_run

    return export_run(run, root, data)


def _hub(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    from console.exchange.exports.hub_results import Benchmark, export_run

    return [export_run(run, root, data, Benchmark("", "", ""))]


_WRITERS: Mapping[str, Callable[[RunFolder, Path, Path | None], list[Path]]] = {
    "verifiers-traces": _traces,
    "every-eval-ever": _every_eval_ever,
    "hf-eval-results": _hub,
}
