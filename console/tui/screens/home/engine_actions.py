"""`EngineActions`: starts engines from Home, to play a run on that stopped, and to play the demo."""

from collections.abc import Callable

from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.data.catalog_items import RunLine
from console.tui.sanitize import literal
from console.tui.screens.home.controller import demo_runs
from console.tui.services import Services

_DEMO_CONCURRENCY = 6
_DEMO_SEED = 7


class EngineActions:
    """Starts engines and watches them."""

    def __init__(
        self,
        services: Services,
        line_to_resume: Callable[[], RunLine | None],
        *,
        demo_starting: Callable[[bool], None],
    ) -> None:
        """Start nothing yet.

        Args:
            services: what the app does for screens.
            line_to_resume: the run that is meant.
            demo_starting: called with True when the demo is being started, with False when that is over.
        """
        self._services = services
        self._line_to_resume = line_to_resume
        self._demo_starting = demo_starting
        self._is_demo_starting = False

    def action_run_resume(self) -> None:
        """Go on with the run under the cursor, or from another list with the newest that can be resumed."""
        self.resume(self._line_to_resume())

    def resume(self, line: RunLine | None) -> None:
        """Start an engine on a run that stopped, and watch it."""
        if line is None or not line.can_resume:
            self._services.notify(Content("There is nothing to resume here."))
        else:
            self._services.workspace.in_thread(lambda: self._reopen(line.folder))

    def _reopen(self, run: RunFolder) -> None:
        from console.engine.plan import reopen
        from console.engine.process import spawn_engine

        workspace, paths = self._services.workspace, self._services.paths
        try:
            reopen(run, paths.models, paths.data)
            spawn_engine(run, models_path=paths.models, data_path=paths.data)
        except UsageError as error:
            workspace.hand_over(self._refuse, error)
        else:
            workspace.hand_over(self._take_started, run, True)

    def start_demo(self) -> None:
        """Start the demo's runs; the first is watched while the others are still being started."""
        if not self._is_demo_starting:
            self._set_starting(True)
            self._services.workspace.in_thread(self._spawn_demo)

    def _spawn_demo(self) -> None:
        from console.core.run import Selection
        from console.engine.launch import spawn
        from console.engine.plan import Plan
        from console.tui.data.catalog_items import read_suites

        workspace, paths = self._services.workspace, self._services.paths
        runs = demo_runs(workspace.suites or read_suites(paths))
        if not runs:
            workspace.hand_over(self._services.notify, Content("No suite that is here has a demo."))
        for number, (suite, demo) in enumerate(runs):
            plan = Plan(
                demo.model,
                suite,
                Selection(demo.categories, limit=demo.cases, seed=_DEMO_SEED),
                name="demo",
                concurrency=_DEMO_CONCURRENCY,
                models_path=paths.models,
                data_path=paths.data,
                runs_path=paths.runs,
            )
            try:
                run = spawn(plan)
            except UsageError as error:
                workspace.hand_over(self._refuse, error)
            else:
                workspace.hand_over(self._take_started, run, number == 0)
        workspace.hand_over(self._set_starting, False)

    def _set_starting(self, is_starting: bool) -> None:
        self._is_demo_starting = is_starting
        self._demo_starting(is_starting)

    def _take_started(self, run: RunFolder, is_watched: bool) -> None:
        self._services.navigator.take_launched([run])
        if is_watched:
            self._services.navigator.open_live(run)

    def _refuse(self, error: UsageError) -> None:
        self._services.notify(literal(str(error), 600), severity="error")
