"""The format in which only runs of BFCL can be exported. Light to load: it stands in the app's menu."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("bfcl", "b", "BFCL results", "official BFCL result files"),
        "console.benchmarks.bfcl.files.result_sink:export_run",
        folder="result",
    ),
)
