"""Registry of export formats, those of benchmarks included. Cheap to import."""

import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from console.core.fault import UsageError
from console.suites.benchmark import built_in
from console.suites.benchmarks import loaded_parts

if TYPE_CHECKING:
    from console.exchange.document import RunDocument
    from console.store.runs import RunFolder

_HERE = "console.exchange"


class ExportFormat(NamedTuple):
    """An export format: a file if it has an extension, otherwise a folder."""

    name: str
    """Value of `export --format`."""
    letter: str
    """Key in the app's menu."""
    title: str
    """Name in the app."""
    meaning: str
    writer: str
    """Writer function as `module:attribute`.

    A file's writer takes a `RunDocument` and returns text or bytes. A folder's writer takes the run, the folder to
    write into and the folder of suites, if one was named, and returns the written paths.
    """
    extension: str = ""
    folder: str = ""
    """Default folder, where the format's tools look."""
    with_conversations: bool = False
    """True if the file needs whole conversations."""
    with_failing: bool = False
    """True if the file needs the conversations of rollouts that did not pass or were annotated."""
    is_text: bool = True
    has_progress: bool = False
    """True if the folder's writer also takes a function to call with the number of pages written and planned."""

    def _load(self) -> Callable[..., Any]:
        module, _, attribute = self.writer.partition(":")
        if module.startswith("console."):
            return getattr(import_module(module), attribute)
        from console.suites.loading import load_place

        return load_place(self.name, self.writer)

    def read(self, run: "RunFolder", data: Path | None) -> "tuple[RunDocument, str]":
        """Read the parts of a run that the file needs; see `document_reader.read_document`."""
        from console.exchange.document_reader import read_document

        return read_document(run, data, with_conversations=self.with_conversations, with_failing=self.with_failing)

    def content(self, document: "RunDocument") -> bytes:
        """Return the file.

        Raises:
            UsageError: the format comes from another package that cannot be loaded, or cannot hold the run's records.
        """
        write = self._load()
        with self._unfit_records_refused(document.manifest.id):
            content: str | bytes = write(document)
        return content.encode() if isinstance(content, str) else content

    def write_folder(
        self,
        run: "RunFolder",
        root: Path | None = None,
        data: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Sequence[Path]:
        """Write a run to a folder, by default where the format's tools look, and return the written paths.

        Raises:
            UsageError: the run is of another benchmark, or something cannot be read or written.
        """
        write, more = self._load(), (progress,) if self.has_progress else ()
        with self._unfit_records_refused(run.name):
            return write(run, root or Path(self.folder), data, *more)

    @contextmanager
    def _unfit_records_refused(self, run: str) -> Generator[None]:
        """Name the run if a writer fails on its records, which may hold anything in crafted journals."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            message = f"a record of the run has another shape than the format {self.name} needs"
            hint = "Export it as json, which holds any."
            raise UsageError(f"{message} ({type(error).__name__} at {place})", where=run, hint=hint) from error


_FILES = (
    ExportFormat(
        *("csv", "c", "CSV", "one row for each rollout, for spreadsheets"),
        f"{_HERE}.exports.csv_table:csv_table",
        ".csv",
    ),
    ExportFormat(
        *("json", "j", "JSON", "everything except conversations"), f"{_HERE}.exports.json_table:json_text", ".json"
    ),
    ExportFormat(
        *("markdown", "m", "Markdown", "tables for a pull request"), f"{_HERE}.exports.markdown:markdown_section", ".md"
    ),
    ExportFormat(*("junit", "u", "JUnit", "test results for CI"), f"{_HERE}.exports.junit:junit_xml", ".xml"),
    ExportFormat(
        *("html", "h", "HTML page", "one page for sharing"),
        f"{_HERE}.exports.html_page:html_page",
        ".html",
        with_failing=True,
    ),
    ExportFormat(
        *("otlp", "o", "OpenTelemetry", "OpenTelemetry traces as OTLP JSON"),
        f"{_HERE}.exports.otlp_traces:otlp_lines",
        ".jsonl",
        with_conversations=True,
    ),
    ExportFormat(
        *("eval", "i", "Inspect log", "an Inspect log"),
        f"{_HERE}.exports.inspect_log:eval_log",
        ".eval",
        with_conversations=True,
        is_text=False,
    ),
)
_FOLDERS = (
    ExportFormat(
        *("every-eval-ever", "e", "Every Eval Ever", "records of Every Eval Ever 0.3"),
        f"{_HERE}.exports.every_eval_ever:export_run",
        folder="records",
    ),
    ExportFormat(
        *("verifiers-traces", "t", "verifiers traces", "traces.jsonl of verifiers v1"),
        f"{_HERE}.exports.verifiers_traces:export_run",
        folder="outputs",
    ),
    ExportFormat(
        *("site", "s", "web pages", "a folder of web pages, also for several runs with their comparison"),
        f"{_HERE}.site.writer:export_run",
        folder="site",
        has_progress=True,
    ),
    ExportFormat(
        *("hf-eval-results", "f", "Hugging Face result", "a result for a model repository of the Hugging Face Hub"),
        f"{_HERE}.exports.hub_results:export_run",
        folder=".eval_results",
    ),
)


@cache
def own_exports() -> dict[str, ExportFormat]:
    """Return the built-in formats by name."""
    of_benchmarks = [form for benchmark in built_in() if benchmark.exports for form in benchmark.load("exports")]
    return {form.name: form for form in (*_FILES, *of_benchmarks, *_FOLDERS)}


def all_exports() -> dict[str, ExportFormat]:
    """Return the formats by name, including those of other packages, which are slow to find."""
    offered: dict[str, ExportFormat] = {form.name: form for forms in loaded_parts("exports") for form in forms}
    return own_exports() | {name: form for name, form in offered.items() if name not in own_exports()}
