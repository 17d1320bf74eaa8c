"""Write a run in another form: a file (csv, json, markdown, junit, html, otlp, eval) or another benchmark's folders."""

import argparse
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.paths import find_runs_root
from console.core.fault import UsageError
from console.exchange.export_formats import EXPORT_FORMATS, export_format, require_folder, write_file
from console.exchange.run_reader import read_document
from console.store.run_list import find_run
from console.store.runs import RunFolder

_HUB = "hf-eval-results"
LAYOUTS = {
    "verifiers": "AidanBench results for the verifiers tools",
    "bfcl": "official BFCL result files",
    "cavebench": "result files of cave-bench",
    "every-eval-ever": "records of Every Eval Ever 0.3",
    "verifiers-traces": "traces.jsonl of verifiers v1",
    "site": "a folder of web pages, of several runs with their comparison",
    _HUB: "a result for a model repository of the Hugging Face Hub",
}


class ExportArguments(Arguments):
    """Options of `export`."""

    which: list[str]
    form: str | None
    out: Path | None
    hub_dataset: str | None
    hub_task: str | None
    hub_source: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument(
        "which", metavar="RUN", nargs="*", default=["latest"], help="name, unique part, or latest; several for a site"
    )
    forms = "; ".join(f"{name}: {meaning}" for name, meaning in (*_meanings(), *LAYOUTS.items()))
    forms += " (default: csv; with --json: json)"
    parser.add_argument("--format", dest="form", choices=(*EXPORT_FORMATS, *LAYOUTS), help=forms)
    parser.add_argument(
        "-o", "--out", type=Path, metavar="PATH", help="file or folder to write; `-` or nothing: text goes to stdout"
    )
    hub = parser.add_argument_group(f"for {_HUB}")
    hub.add_argument("--hub-dataset", metavar="TEXT", help="the benchmark as the Hub names it: organization/name")
    hub.add_argument("--hub-task", metavar="TEXT", help="its task, as the dataset's eval.yaml names it")
    hub.add_argument("--hub-source", metavar="TEXT", help="address of traces or a report")


def _meanings() -> list[tuple[str, str]]:
    return [(form.name, form.meaning) for form in EXPORT_FORMATS.values()]


def run(args: ExportArguments) -> int:
    """Write it.

    Raises:
        UsageError: no such run, a run of another benchmark than the layout's, or a place that cannot be written.
    """
    name = args.form or ("json" if args.json else "csv")
    folders = _folders(args, name)
    out = None if args.out == Path("-") else args.out
    if out is not None:
        require_folder(out)
    _refuse_hub_options(args, name)
    if name == "site":
        return _write_site(args, folders, out or Path(_DEFAULTS[name]))
    folder = folders[0]
    if name == _HUB:
        return _report_written(args, folder, name, [_export_hub(args, folder, out or Path(_DEFAULTS[name]))])
    if name in LAYOUTS:
        paths = _export_layout(name, folder, out or Path(_DEFAULTS[name]), args.data)
        return _report_written(args, folder, name, paths)
    form = export_format(name)
    if out is None and not form.is_text:
        out = Path(f"{folder.name}{form.extension}")
    document, why = read_document(
        folder, args.data, with_conversations=form.with_conversations, with_failing=form.with_failing
    )
    if why:
        args.output.warn(f"{why}\n  Exported without report and comparisons.")
    data = form.write(document)
    if out is None:
        return _write_text(args, folder, name, data.decode("utf-8"))
    if out.is_dir():
        out /= f"{folder.name}{form.extension}"
    write_file(out, data)
    return _report_written(args, folder, name, [out])


def _folders(args: ExportArguments, form: str) -> list[RunFolder]:
    folders = [find_run(find_runs_root(args.runs), name) for name in args.which]
    if len(folders) > 1 and form != "site":
        raise UsageError(f"{form} is for one run", where="--format", hint="Name one run, or use --format site.")
    if len({folder.path for folder in folders}) < len(folders):
        raise UsageError("a run is named twice", where=", ".join(args.which), hint="Name different runs.")
    return folders


def _write_site(args: ExportArguments, folders: list[RunFolder], out: Path) -> int:
    from console.exchange.site.writer import export_site

    for why in export_site(folders, out, args.data):
        args.output.warn(f"{why}\n  Exported without report and comparisons.")
    simulated = any(folder.manifest().simulated for folder in folders)
    if args.json:
        args.output.data("export", {**_fields(folders[0], "site", [out]), "simulated": simulated})
    else:
        args.output.text(f"{out / 'index.html'}{'  (simulated)' if simulated else ''}")
    return Exit.OK


_DEFAULTS = {
    "verifiers": "outputs",
    "verifiers-traces": "outputs",
    "bfcl": "result",
    "cavebench": "results",
    "every-eval-ever": "records",
    "site": "site",
    _HUB: ".eval_results",
}
"""Folders these tools look in."""


def _export_layout(layout: str, folder: RunFolder, root: Path, data: Path | None) -> list[Path]:
    if layout == "verifiers":
        from console.exchange.verifiers import export_run as as_verifiers

        return [as_verifiers(folder, root)]
    if layout == "cavebench":
        from console.exchange.cavebench_results import export_run as as_cavebench

        return as_cavebench(folder, root)
    if layout == "verifiers-traces":
        from console.exchange.verifiers_traces import export_run as as_traces

        return [as_traces(folder, root, data)]
    if layout == "every-eval-ever":
        from console.exchange.every_eval_ever import export_run as as_records

        return as_records(folder, root, data)
    return _as_bfcl(folder, root)


def _refuse_hub_options(args: ExportArguments, name: str) -> None:
    """Refuse options of one format with another, which would leave them out without a word."""
    named = {"--hub-dataset": args.hub_dataset, "--hub-task": args.hub_task, "--hub-source": args.hub_source}
    for option, value in named.items():
        if value is not None and name != _HUB:
            raise UsageError(f"{option} is for --format {_HUB}")


def _export_hub(args: ExportArguments, folder: RunFolder, root: Path) -> Path:
    from console.exchange.hub_results import Benchmark, export_run

    benchmark = Benchmark(args.hub_dataset or "", args.hub_task or "", args.hub_source or "")
    return export_run(folder, root, args.data, benchmark)


def _as_bfcl(folder: RunFolder, root: Path) -> list[Path]:
    from console.exchange.bfcl_layout import folder_name
    from console.exchange.bfcl_sink import ResultSink
    from console.store.journal import JournalReader
    from console.suites.bfcl.categories import ALL

    manifest = folder.manifest()
    played = [name for name in folder.summary().categories if name]
    if not played or any(name not in ALL and not name.endswith("_prereq") for name in played):
        raise UsageError("holds no BFCL conversation", where=folder.name, hint="Choose another --format.")
    sink = ResultSink(root, folder_name(manifest.model.name), setting=manifest.setting, replace=True)
    reader = JournalReader(folder.journal_path)
    for record in reader.iter_all():
        sink.add(record)
    return sink.close()


def _write_text(args: ExportArguments, folder: RunFolder, form: str, text: str) -> int:
    if args.json and form != "json":
        args.output.data("export", _fields(folder, form, []) | {"text": text})
    else:
        args.output.file(text)
    return Exit.OK


def _report_written(args: ExportArguments, folder: RunFolder, form: str, paths: list[Path]) -> int:
    if args.json:
        args.output.data("export", _fields(folder, form, paths))
        return Exit.OK
    mark = "  (simulated)" if folder.manifest().simulated else ""
    for path in paths:
        args.output.text(f"{path}{mark}")
    return Exit.OK


def _fields(folder: RunFolder, form: str, paths: list[Path]) -> dict[str, object]:
    simulated = folder.manifest().simulated
    return {"run": folder.name, "simulated": simulated, "format": form, "files": list(map(str, paths))}
