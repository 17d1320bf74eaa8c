"""Every format that a run can be exported in: what the command line and the app's menu are made of. Light to load."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from console.suites.benchmark import built_in
from console.suites.benchmarks import loaded_parts

if TYPE_CHECKING:
    from console.store.runs import RunFolder


class ExportName(NamedTuple):
    """One format."""

    name: str
    """As `export --format` takes it."""
    letter: str
    """Its key in the app's menu."""
    title: str
    """What the app calls it."""
    meaning: str
    folder: str = ""
    """Folder that it is written into unless another is named, as its tools look there; empty: it is a single file."""
    write: "Callable[[RunFolder, Path, Path | None], list[Path]] | None" = None
    """Writes a run below a root, given the folder of suites if one was named, and returns what it has written; None for
    the formats that the program writes of any run."""


_FILES = (
    ExportName("csv", "c", "CSV", "one row for each rollout, for spreadsheets"),
    ExportName("json", "j", "JSON", "everything but the conversations"),
    ExportName("markdown", "m", "Markdown", "tables for a pull request"),
    ExportName("junit", "u", "JUnit", "test results for CI"),
    ExportName("html", "h", "HTML page", "one page to send around"),
    ExportName("otlp", "o", "OpenTelemetry", "OpenTelemetry traces as OTLP JSON"),
    ExportName("eval", "i", "Inspect log", "an Inspect log"),
)
_FOLDERS = (
    ExportName("every-eval-ever", "e", "Every Eval Ever", "records of Every Eval Ever 0.3", "records"),
    ExportName("verifiers-traces", "t", "verifiers traces", "traces.jsonl of verifiers v1", "outputs"),
    ExportName("site", "s", "web pages", "a folder of web pages, of several runs with their comparison", "site"),
    ExportName(
        "hf-eval-results",
        "f",
        "Hugging Face result",
        "a result for a model repository of the Hugging Face Hub",
        ".eval_results",
    ),
)


@cache
def own_exports() -> dict[str, ExportName]:
    """Return the formats that come with the program, by name."""
    of_benchmarks = [form for benchmark in built_in() if benchmark.exports for form in benchmark.load("exports")]
    return {form.name: form for form in (*_FILES, *of_benchmarks, *_FOLDERS)}


def all_exports() -> dict[str, ExportName]:
    """Return the formats by name, also those of other packages, which are slow to look for."""
    offered: dict[str, ExportName] = {form.name: form for forms in loaded_parts("exports") for form in forms}
    return own_exports() | {name: form for name, form in offered.items() if name not in own_exports()}
