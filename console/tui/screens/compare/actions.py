"""Actions of Compare: filter the list, export and copy, and open other runs."""

import json
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partialmethod

from textual.content import Content

from console.exchange.exports.comparison import COMPARISON, comparison_csv, comparison_fields, comparison_markdown
from console.insight.comparison import RunComparison
from console.insight.comparison_report import change_words
from console.store.runs import RunFolder
from console.tui.data.runs import RunLine
from console.tui.dialogs.filter_dialog import Chooser
from console.tui.dialogs.small_dialogs import Answer, Question
from console.tui.render import row_cells
from console.tui.sanitize import one_line
from console.tui.screens.branching import start_branch
from console.tui.screens.compare.controller import PROMPT, CompareController
from console.tui.services import Services
from console.tui.shell_commands import command, run_words

_CHOOSER_ROOM = 70
"""Width in cells of the rows of a `Chooser`."""


@dataclass
class ChangeFilters:
    """Selects the pairs that are listed."""

    controller: CompareController
    listed: Callable[[], None]
    """Called after the list has changed."""
    clear_find: Callable[[], None]
    """Clears the find bar, which updates the list."""

    def _list(self, scope: str) -> None:
        self.controller.list_scope(scope)
        self.listed()

    action_filter_changed = partialmethod(_list, "changed")
    action_filter_lost = partialmethod(_list, "lost")
    action_filter_gained = partialmethod(_list, "gained")
    action_filter_neither = partialmethod(_list, "both fail")
    action_filter_prompt = partialmethod(_list, PROMPT)
    action_filter_left = partialmethod(_list, "left out")
    action_filter_all = partialmethod(_list, "all")

    def action_filter_clear(self) -> None:
        self.controller.list_scope("changed")
        self.clear_find()


def _comparison_json(comparison: RunComparison) -> str:
    return json.dumps(COMPARISON.as_object(comparison_fields(comparison)), indent=1)


@dataclass
class ComparisonCopies:
    """Exports and copies the comparison."""

    services: Services
    controller: CompareController

    def _export(self, text_of: Callable[[RunComparison], str], extension: str) -> None:
        if (comparison := self.controller.comparison) is not None:
            self.services.export_text(text_of(comparison), self.controller.export_path(extension))

    action_export_markdown = partialmethod(_export, comparison_markdown, ".md")
    action_export_csv = partialmethod(_export, comparison_csv, ".csv")
    action_export_json = partialmethod(_export, _comparison_json, ".json")

    def action_copy_id(self) -> None:
        if (pair := self.controller.current) is not None:
            self.services.copy(pair.slot[0], "the case id")

    def action_copy_table(self) -> None:
        if (comparison := self.controller.comparison) is not None:
            self.services.copy(comparison_markdown(comparison), "the comparison as Markdown")

    def action_copy_message(self) -> None:
        if (pair := self.controller.current) is not None:
            self.services.copy(": ".join((str(pair.a.key), *change_words(pair))), "the change")

    def action_copy_command(self) -> None:
        words = command("compare", *run_words(self.controller.folders), places=self.services.paths)
        self.services.copy(words, "the shell command")


@dataclass
class OtherRuns:
    """Opens or starts runs to compare with the current two."""

    services: Services
    controller: CompareController
    in_worker: Callable[[Coroutine[None, None, None]], object]
    """Runs a dialog."""
    in_thread: Callable[[Callable[[], None]], object]
    """Runs a slow call in a thread; quitting waits for it."""

    def action_compare_pick(self) -> None:
        self.in_worker(self._choose_b())

    def action_compare_add(self) -> None:
        self.in_worker(self._choose_third())

    def action_lost_again(self) -> None:
        """Ask for confirmation, then rerun the lost cases with B's model as a new run."""
        if self.controller.pair is not None:
            self.in_worker(self._rerun_lost())

    async def _choose_b(self) -> None:
        a = self.controller.folders[0]
        if (
            chosen := await self._choose(Content.assemble("Compare ", one_line(a.name, 60, "bold"), " with …"), [a])
        ) is not None:
            self.services.navigator.open_compare(a, chosen)

    async def _choose_third(self) -> None:
        folders = self.controller.folders
        if (chosen := await self._choose(Content("Add a run to A and B"), folders)) is not None:
            self.services.navigator.open_grid([*folders, chosen])

    async def _choose(self, title: Content, shown: Sequence[RunFolder]) -> RunFolder | None:
        candidates = {str(line.folder.path): line for line in self._candidates(shown)}
        now = time.time()
        layout = row_cells.runs_narrow(list(candidates.values()), _CHOOSER_ROOM, now)
        cells = {path: row_cells.run_narrow(line, row_cells.Kin(), now, layout) for path, line in candidates.items()}
        chosen = await self.services.ask(Chooser(title, layout.columns, cells, "There is no other run."))
        return candidates[chosen].folder if chosen is not None else None

    def _candidates(self, shown: Sequence[RunFolder]) -> list[RunLine]:
        """Return the runs not shown yet, those of the same suite first."""
        workspace, paths = self.services.workspace, [folder.path for folder in shown]
        lines = [line for line in workspace.runs or () if line.summary and line.folder.path not in paths]
        first = workspace.find(paths[0])
        if first is not None and first.summary is not None:
            suite = first.summary.suite
            lines.sort(key=lambda line: line.summary is None or line.summary.suite != suite)
        return lines

    async def _rerun_lost(self) -> None:
        lost, comparison = self.controller.lost_cases, self.controller.comparison
        if comparison is None or not lost:
            self.services.notify(Content("No case was lost."))
            return
        text = Content.assemble(
            f"Rerun the {len(lost)} lost with ", one_line(comparison.b.model, 40, "bold"), "?",
            "\nThis starts a new run, compared with B.",
        )  # fmt: skip
        if await self.services.ask(Question(text, [Answer("y", "rerun")])):
            b = self.controller.folders[1]
            self.in_thread(lambda: start_branch(self.services, b, cases=lost))
