"""Export format for runs of AidanBench only; imports little, since menus list it."""

from console.exchange.exports.formats import ExportFormat

EXPORTS = (
    ExportFormat(
        *("verifiers", "v", "verifiers folder", "AidanBench results for the verifiers tools"),
        "console.benchmarks.aidanbench.files.results:export_run",
        folder="outputs",
    ),
)
