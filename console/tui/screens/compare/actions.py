"""What the keys of Compare do: choose what is listed, export and copy, and lead to other runs."""

import json
import time
from collections.abc import Callable, Coroutine, Sequence

from textual.content import Content

from console.core.fault import UsageError
from console.exchange.comparison_table import change_words, comparison_csv, comparison_fields, comparison_markdown
from console.exchange.json_object import json_object
from console.store.runs import RunFolder
from console.tui.data.catalog_items import RunLine
from console.tui.dialogs.small_dialogs import Answer, Chooser, Question
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.screens.compare.controller import CompareController
from console.tui.services import Services
from console.tui.shell_commands import command, run_words


class ChangeFilters:
    """Lists other pairs."""

    def __init__(self, controller: CompareController, *, listed: Callable[[], None], forget_words: Callable[[], None]):
        """Filter by a controller.

        Args:
            controller: what is listed.
            listed: told that other pairs are listed.
            forget_words: empties the find bar, after which the list is told.
        """
        self._controller = controller
        self._listed, self._forget_words = listed, forget_words

    def _list(self, scope: str) -> None:
        self._controller.list_scope(scope)
        self._listed()

    def action_filter_changed(self) -> None:
        self._list("changed")

    def action_filter_lost(self) -> None:
        self._list("lost")

    def action_filter_gained(self) -> None:
        self._list("gained")

    def action_filter_neither(self) -> None:
        self._list("both fail")

    def action_filter_left(self) -> None:
        self._list("left out")

    def action_filter_all(self) -> None:
        self._list("all")

    def action_filter_clear(self) -> None:
        self._controller.list_scope("changed")
        self._forget_words()


class ComparisonCopies:
    """Exports and copies what Compare shows."""

    def __init__(self, services: Services, controller: CompareController) -> None:
        self._services, self._controller = services, controller

    def action_export_markdown(self) -> None:
        if (comparison := self._controller.comparison) is not None:
            self._services.export_text(comparison_markdown(comparison), self._controller.export_path(".md"))

    def action_export_csv(self) -> None:
        if (comparison := self._controller.comparison) is not None:
            self._services.export_text(comparison_csv(comparison), self._controller.export_path(".csv"))

    def action_export_json(self) -> None:
        if (comparison := self._controller.comparison) is not None:
            text = json.dumps(json_object("comparison", comparison_fields(comparison)), indent=1)
            self._services.export_text(text, self._controller.export_path(".json"))

    def action_copy_id(self) -> None:
        if (pair := self._controller.current) is not None:
            self._services.copy(pair.slot[0], "the case id")

    def action_copy_table(self) -> None:
        if (comparison := self._controller.comparison) is not None:
            self._services.copy(comparison_markdown(comparison), "the comparison as Markdown")

    def action_copy_message(self) -> None:
        if (pair := self._controller.current) is not None:
            self._services.copy(": ".join((str(pair.a.key), *change_words(pair))), "the change")

    def action_copy_command(self) -> None:
        """Copy the shell command that compares the same runs."""
        words = command("compare", *run_words(self._controller.folders), places=self._services.paths)
        self._services.copy(words, "the shell command")


class OtherRuns:
    """Leads from the two runs that are compared to others."""

    def __init__(
        self,
        services: Services,
        controller: CompareController,
        *,
        in_worker: Callable[[Coroutine[None, None, None]], object],
        in_thread: Callable[[Callable[[], None]], object],
    ) -> None:
        """Begin at the runs of a controller.

        Args:
            services: what the app does for screens.
            controller: the two runs.
            in_worker: runs what waits for an answer of the reader.
            in_thread: runs in a thread what takes long; quitting waits for it.
        """
        self._services, self._controller = services, controller
        self._in_worker, self._in_thread = in_worker, in_thread

    def action_compare_pick(self) -> None:
        """Choose another run for B."""
        self._in_worker(self._choose_b())

    def action_compare_add(self) -> None:
        """Show a third run with the two."""
        self._in_worker(self._choose_third())

    def action_lost_again(self) -> None:
        """Ask B's model again what was lost, as a run of its own; the cost comes first."""
        if self._controller.pair is not None:
            self._in_worker(self._ask_lost_again())

    async def _choose_b(self) -> None:
        a = self._controller.folders[0]
        if (
            chosen := await self._choose(Content.assemble("Compare ", one_line(a.name, 60, "bold"), " with …"), [a])
        ) is not None:
            self._services.navigator.open_compare(a, chosen)

    async def _choose_third(self) -> None:
        folders = self._controller.folders
        if (chosen := await self._choose(Content("Add a run to A and B"), folders)) is not None:
            self._services.navigator.open_grid([*folders, chosen])

    async def _choose(self, title: Content, shown: Sequence[RunFolder]) -> RunFolder | None:
        candidates = {str(line.folder.path): line for line in self._candidates(shown)}
        now = time.time()
        cells = {path: row_cells.run_narrow(line, None, now) for path, line in candidates.items()}
        chosen = await self._services.ask(Chooser(title, row_cells.RUNS_NARROW, cells, "There is no other run of it."))
        return candidates[chosen].folder if chosen is not None else None

    def _candidates(self, shown: Sequence[RunFolder]) -> list[RunLine]:
        """Return the runs that are not shown yet, those of the same suite first."""
        workspace, paths = self._services.workspace, [folder.path for folder in shown]
        lines = [line for line in workspace.runs or () if line.summary and line.folder.path not in paths]
        first = workspace.find(paths[0])
        if first is not None and first.summary is not None:
            suite = first.summary.suite
            lines.sort(key=lambda line: line.summary is None or line.summary.suite != suite)
        return lines

    async def _ask_lost_again(self) -> None:
        lost, comparison = self._controller.lost_cases, self._controller.comparison
        if comparison is None or not lost:
            self._services.notify(Content("Nothing was lost."))
            return
        text = Content.assemble(
            "Ask ", one_line(comparison.b.model, 40, "bold"), f" the {len(lost)} lost again?",
            "\nThey become a run of their own, compared with B.",
        )  # fmt: skip
        if await self._services.ask(Question(text, [Answer("y", "ask again")])):
            b = self._controller.folders[1]
            self._in_thread(lambda: self._ask_again(b, lost))

    def _ask_again(self, b: RunFolder, cases: tuple[str, ...]) -> None:
        """Start a run of these cases in an engine of its own."""
        from console.engine.branch import branch_plan
        from console.engine.launch import spawn

        services = self._services
        try:
            plan = branch_plan(b.name, b.manifest(), cases, models_path=services.paths.models,
                               data_path=services.paths.data, runs_path=b.path.parent)  # fmt: skip
            branch = spawn(plan)
        except UsageError as error:
            services.from_thread(services.notify, literal(str(error), 600), severity="error")
            return
        services.from_thread(self._show_branch, b, branch)

    def _show_branch(self, b: RunFolder, branch: RunFolder) -> None:
        self._services.navigator.take_launched([branch])
        self._services.navigator.open_compare(b, branch)
