"""Export format of BFCL runs. Fast to import, as menus list it."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("bfcl", "b", "BFCL results", "official BFCL result files"),
        "console.benchmarks.bfcl.files.result_sink:export_run",
        folder="result",
    ),
)
