"""`ComparisonCopies`: writes a comparison to files of the current folder and parts of it to the clipboard."""

import json

from console.exchange.comparison_table import change_words, comparison_csv, comparison_markdown, comparison_object
from console.tui.screens.compare.controller import CompareController
from console.tui.services import Services


class ComparisonCopies:
    """Exports and copies what Compare shows."""

    def __init__(self, services: Services, controller: CompareController) -> None:
        """Copy what a controller holds."""
        self._services, self._controller = services, controller

    def action_export_markdown(self) -> None:
        """Write the comparison as Markdown."""
        if (comparison := self._controller.comparison) is not None:
            self._services.export_text(comparison_markdown(comparison), self._controller.export_path(".md"))

    def action_export_csv(self) -> None:
        """Write every pair as a CSV row."""
        if (comparison := self._controller.comparison) is not None:
            self._services.export_text(comparison_csv(comparison), self._controller.export_path(".csv"))

    def action_export_json(self) -> None:
        """Write the comparison as JSON."""
        if (comparison := self._controller.comparison) is not None:
            text = json.dumps(comparison_object(comparison), indent=1)
            self._services.export_text(text, self._controller.export_path(".json"))

    def action_copy_id(self) -> None:
        """Copy the case id."""
        if (pair := self._controller.current) is not None:
            self._services.copy(pair.slot[0], "the case id")

    def action_copy_table(self) -> None:
        """Copy the comparison as Markdown."""
        if (comparison := self._controller.comparison) is not None:
            self._services.copy(comparison_markdown(comparison), "the comparison as Markdown")

    def action_copy_message(self) -> None:
        """Copy how the case changed and why."""
        if (pair := self._controller.current) is not None:
            self._services.copy(": ".join((str(pair.a.key), *change_words(pair))), "the change")

    def action_copy_command(self) -> None:
        """Copy the shell command that compares the same runs."""
        self._services.copy(self._controller.command, "the command")
