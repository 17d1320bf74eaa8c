"""Every format that a run can be exported in: what the command line and the app's menu are made of. Light to load."""

from typing import NamedTuple


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


EXPORT_NAMES = {
    form.name: form
    for form in (
        ExportName("csv", "c", "CSV", "one row for each rollout, for spreadsheets"),
        ExportName("json", "j", "JSON", "everything but the conversations"),
        ExportName("markdown", "m", "Markdown", "tables for a pull request"),
        ExportName("junit", "u", "JUnit", "test results for CI"),
        ExportName("html", "h", "HTML page", "one page to send around"),
        ExportName("otlp", "o", "OpenTelemetry", "OpenTelemetry traces as OTLP JSON"),
        ExportName("eval", "i", "Inspect log", "an Inspect log"),
        ExportName("verifiers", "v", "verifiers folder", "AidanBench results for the verifiers tools", "outputs"),
        ExportName("bfcl", "b", "BFCL results", "official BFCL result files", "result"),
        ExportName("cavebench", "k", "cave-bench results", "result files of cave-bench", "results"),
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
}
