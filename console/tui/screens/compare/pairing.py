"""`PairScreen`: the two runs that Compare shows: reading and following them, other runs, asking again what was lost."""

import asyncio
import time

from textual import work
from textual.content import Content

from console.core.fault import UsageError
from console.core.run import Manifest
from console.exchange.run_reader import find_suite
from console.insight.comparison import PairOutcome
from console.store.runs import RunFolder
from console.suites.suite import Suite
from console.tui.dialogs.question import Answer, Question
from console.tui.render import row_cells
from console.tui.sanitize import literal, one_line
from console.tui.screens.base import BaseScreen
from console.tui.screens.compare.run_pair import PairOfRuns
from console.tui.services import Services

LOOK_EVERY_S = 1.0
"""Time between two looks at a run that grows; longer when comparing takes long."""


class PairScreen(BaseScreen):
    """A screen of two runs; see the module."""

    def __init__(self, services: Services, a: RunFolder, b: RunFolder) -> None:
        """Compare two runs; nothing is read before the screen is mounted."""
        super().__init__(services)
        self._folders = a, b
        self.pair: PairOfRuns | None = None
        self._following: asyncio.Task[None] | None = None
        self._took_s = 0.0

    # To be answered by the screen ------------------------------------------------------------------------------------

    def take(self, pair: PairOfRuns) -> None:
        """Show both runs as they are now."""

    def refuse(self, why: str) -> None:
        """Say why they cannot be shown."""

    # Reading ---------------------------------------------------------------------------------------------------------

    def find_suite(self, manifest: Manifest) -> Suite | str:
        """Open a run's suite, or say why not; called in a thread."""
        return find_suite(manifest, self.services.paths.data)

    @work(thread=True, exclusive=True, group="compare")
    def read(self) -> None:
        """Read both runs to their present ends."""
        begun = time.monotonic()
        try:
            pair = PairOfRuns(*self._folders, self.find_suite)
        except (UsageError, OSError) as error:
            self.services.from_thread(self.refuse, str(error))
            return
        self._took_s = time.monotonic() - begun
        if self.is_running:
            self.services.from_thread(self._take, pair)

    def _take(self, pair: PairOfRuns) -> None:
        self.pair = pair
        if pair.damages:
            self.services.notify(Content(f"{pair.damages} damaged journal lines were passed over."), severity="warning")
        self.take(pair)
        if self._following is None:
            self._following = asyncio.get_running_loop().create_task(self._follow(), name="compare")

    async def _follow(self) -> None:
        """Read again as long as one of the runs grows."""
        while self.is_mounted:
            await asyncio.sleep(max(LOOK_EVERY_S, 4 * self._took_s))
            if self.is_current and self.pair is not None and self.pair.has_grown:
                self.read()

    def on_unmount(self) -> None:
        """Follow no further."""
        if self._following is not None:
            self._following.cancel()

    # Acting ----------------------------------------------------------------------------------------------------------

    def action_reload(self) -> None:
        """Read both runs again."""
        self.read()

    def action_compare_swap(self) -> None:
        """Make A of B and B of A."""
        if self.pair is not None:
            self.pair.swap()
            self._folders = self.pair.folders
            self.take(self.pair)

    @work(exclusive=True, group="pick")
    async def action_compare_pick(self) -> None:
        """Pick another run for B."""
        chosen = await self._choose("Compare ", [self._folders[0]])
        if chosen is not None:
            self.services.navigator.open_compare(self._folders[0], chosen)

    @work(exclusive=True, group="pick")
    async def action_compare_add(self) -> None:
        """Lay a third run beside the two."""
        chosen = await self._choose("Lay beside A and B of ", list(self._folders))
        if chosen is not None:
            self.services.navigator.open_grid([*self._folders, chosen])

    async def _choose(self, words: str, shown: list[RunFolder]) -> RunFolder | None:
        from console.tui.dialogs.chooser import Chooser

        workspace, paths = self.services.workspace, [folder.path for folder in shown]
        lines = [line for line in workspace.runs or () if line.summary and line.folder.path not in paths]
        first = workspace.find(paths[0])
        if first is not None and first.summary is not None:
            suite = first.summary.suite
            lines.sort(key=lambda line: line.summary is None or line.summary.suite != suite)
        found = {str(line.folder.path): line for line in lines}
        now = time.time()
        title = Content.assemble(words, one_line(shown[0].name, 60, "bold"), " with …")
        listed = {path: row_cells.run_narrow(line, now) for path, line in found.items()}
        chosen = await self.services.ask(Chooser(title, row_cells.RUNS_NARROW, listed, "There is no other run of it."))
        return found[chosen].folder if chosen is not None else None

    @work(exclusive=True, group="again")
    async def action_lost_again(self) -> None:
        """Ask B's model again what was lost, as a run of its own; the cost comes first."""
        if self.pair is None:
            return
        lost = list(dict.fromkeys(pair.slot[0] for pair in self.pair.comparison.with_outcome(PairOutcome.LOST)))
        if not lost:
            self.services.notify(Content("Nothing was lost."))
            return
        text = Content.assemble(
            "Ask ", one_line(self.pair.comparison.b.model, 40, "bold"), f" the {len(lost)} lost again?",
            "\nThey become a run of their own, compared with B.",
        )  # fmt: skip
        if await self.services.ask(Question(text, [Answer("y", "ask again")])):
            self._spawn(tuple(lost))

    @work(thread=True, group="spawn")
    def _spawn(self, cases: tuple[str, ...]) -> None:
        from console.engine.branch import branch_plan
        from console.engine.launch import spawn

        places, run = self.services.paths, self._folders[1]
        try:
            plan = branch_plan(run.name, run.manifest(), cases, models_path=places.models, data_path=places.data,
                               runs_path=run.path.parent)  # fmt: skip
            branch = spawn(plan)
        except UsageError as error:
            self.services.from_thread(self.services.notify, literal(str(error), 600), severity="error")
            return
        self.services.from_thread(self._show_again, branch)

    def _show_again(self, branch: RunFolder) -> None:
        self.services.navigator.take_launched([branch])
        self.services.navigator.open_compare(self._folders[1], branch)
