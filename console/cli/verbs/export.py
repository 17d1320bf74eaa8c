"""Write a run in another format: a file, or a folder in the layout of other tools."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from console.cli.exitcode import Exit
from console.cli.output import Output
from console.cli.parser import Arguments
from console.core.fault import UsageError
from console.core.run import simulated_note_of
from console.exchange.exports.files import require_folder, write_file
from console.exchange.exports.formats import all_exports
from console.exchange.json_kind import JsonKind
from console.store.runs import RunFolder

EXPORT = JsonKind(
    "export",
    "export",
    "Files written by an export, or its text if no file was given.",
    {
        "run": "its name",
        "simulated": "true for a simulated model",
        "format": "its name",
        "files": "paths of the files",
        "text": "optional: the export itself, if no file was given",
    },
)

_HUB = "hf-eval-results"
_SHOWN_EVERY = 50
"""Number of pages between updates of the progress line."""


class ExportArguments(Arguments):
    which: list[str]
    form: str | None
    out: Path | None
    open: bool
    hub_dataset: str | None
    hub_task: str | None
    hub_source: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "which",
        metavar="RUN",
        nargs="*",
        default=["latest"],
        help="name, part of a name, or latest; several for a site",
    )
    exports = all_exports()
    forms = "; ".join(f"{form.name}: {form.meaning}" for form in exports.values())
    forms += " (default: csv; with --json: json)"
    parser.add_argument("--format", dest="form", choices=(*exports,), metavar="FORMAT", help=forms)
    parser.add_argument(
        "-o", "--out", type=Path, metavar="PATH", help="file or folder to write; text formats default to stdout (`-`)"
    )
    parser.add_argument("--open", action="store_true", help="open the result in its default program")
    hub = parser.add_argument_group(f"for {_HUB}")
    hub.add_argument("--hub-dataset", metavar="TEXT", help="the benchmark's name on the Hub: organization/name")
    hub.add_argument("--hub-task", metavar="TEXT", help="the task, as named in the dataset's eval.yaml")
    hub.add_argument("--hub-source", metavar="TEXT", help="URL of traces or a report")


def run(args: ExportArguments) -> int:
    """Write the export."""
    name = args.form or ("json" if args.json else "csv")
    folders = _folders(args, name)
    out = None if args.out == Path("-") else args.out
    if out is not None:
        require_folder(out)
    _refuse_hub_options(args, name)
    form = all_exports()[name]
    if name == "site":
        return _write_site(args, folders, out or Path(form.folder))
    folder = folders[0]
    if name == _HUB:
        return _report_written(args, folder, name, _export_hub(args, folder, out or Path(form.folder)))
    if not form.extension:
        return _report_written(args, folder, name, form.write_folder(folder, out, args.data))
    if out is None and args.open and form.is_text:
        raise UsageError("only a file can be opened", where="--open", hint="Name one with -o PATH.")
    if out is None and not form.is_text:
        out = Path(f"{folder.name}{form.extension}")
    document, why = form.read(folder, args.data)
    if why:
        args.output.warn(f"{why}\n  Exported without report and comparisons.")
    data = form.content(document)
    if out is None:
        return _write_text(args, folder, name, data.decode("utf-8"))
    if out.is_dir():
        out /= f"{folder.name}{form.extension}"
    write_file(out, data)
    return _report_written(args, folder, name, [out])


def _folders(args: ExportArguments, form: str) -> list[RunFolder]:
    folders = [args.find_run(name) for name in args.which]
    if len(folders) > 1 and form != "site":
        raise UsageError(f"{form} is for one run", where="--format", hint="Name one run, or use --format site.")
    if len({folder.path for folder in folders}) < len(folders):
        raise UsageError("a run is given twice", where=", ".join(args.which), hint="Give different runs.")
    return folders


def _write_site(args: ExportArguments, folders: list[RunFolder], out: Path) -> int:
    from console.exchange.site.writer import export_site

    whys = export_site(folders, out, args.data, partial(_show_progress, args.output) if args.output.rewrites else None)
    if args.output.rewrites:
        args.output.rewrite("")
    for why in whys:
        args.output.warn(f"{why}\n  Exported without report and comparisons.")
    note = simulated_note_of(folder.manifest().simulated_note for folder in folders)
    if args.json:
        args.output.data(EXPORT, {**_fields(folders[0], "site", [out]), "simulated": bool(note)})
    else:
        args.output.text(f"{out / 'index.html'}{f'  ({note})' if note else ''}")
    _open(args, out / "index.html")
    return Exit.OK


def _show_progress(output: Output, done: int, planned: int) -> None:
    if done % _SHOWN_EVERY == 0 or done == planned:
        output.rewrite(f"{done:,} of {planned:,} case pages")


def _refuse_hub_options(args: ExportArguments, name: str) -> None:
    """Reject options that the chosen format would silently ignore."""
    named = {"--hub-dataset": args.hub_dataset, "--hub-task": args.hub_task, "--hub-source": args.hub_source}
    for option, value in named.items():
        if value is not None and name != _HUB:
            raise UsageError(f"{option} is for --format {_HUB}")


def _export_hub(args: ExportArguments, folder: RunFolder, root: Path) -> list[Path]:
    from console.exchange.exports.hub_results import Benchmark, export_run

    benchmark = Benchmark(args.hub_dataset or "", args.hub_task or "", args.hub_source or "")
    return export_run(folder, root, args.data, benchmark)


def _write_text(args: ExportArguments, folder: RunFolder, form: str, text: str) -> int:
    if args.json and form != "json":
        args.output.data(EXPORT, _fields(folder, form, []) | {"text": text})
    else:
        args.output.file(text)
    return Exit.OK


def _report_written(args: ExportArguments, folder: RunFolder, form: str, paths: Sequence[Path]) -> int:
    if args.json:
        args.output.data(EXPORT, _fields(folder, form, paths))
    else:
        note = folder.manifest().simulated_note
        mark = f"  ({note})" if note else ""
        for path in paths:
            args.output.text(f"{path}{mark}")
    _open(args, paths[0])
    return Exit.OK


def _open(args: ExportArguments, path: Path) -> None:
    """Open the exported file if requested; failing to open it is only a warning, because the file is written."""
    if args.open:
        from console.tui.desktop import open_outside

        try:
            open_outside(path)
        except UsageError as error:
            args.output.warn(str(error))


def _fields(folder: RunFolder, form: str, paths: Sequence[Path]) -> dict[str, object]:
    simulated = folder.manifest().simulated
    return {"run": folder.name, "simulated": simulated, "format": form, "files": list(map(str, paths))}
