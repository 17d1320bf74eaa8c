"""The format in which only runs of cave-bench can be exported. Light to load: it stands in the app's menu."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("cavebench", "k", "cave-bench results", "result files of cave-bench"),
        "console.benchmarks.cavebench.files.results:export_run",
        folder="results",
    ),
)
