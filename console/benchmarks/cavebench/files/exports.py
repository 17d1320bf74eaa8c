"""Export format for runs of cave-bench only; imports little, since menus list it."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("cavebench", "k", "cave-bench results", "result files of cave-bench"),
        "console.benchmarks.cavebench.files.results:export_run",
        folder="results",
    ),
)
