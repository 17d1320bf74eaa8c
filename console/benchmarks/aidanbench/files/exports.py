"""The format in which only runs of AidanBench can be exported. Light to load: it stands in the app's menu."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("verifiers", "v", "verifiers folder", "AidanBench results for the verifiers tools"),
        "console.benchmarks.aidanbench.files.results:export_run",
        folder="outputs",
    ),
)
