"""Starting an experiment on a run: a new run in an engine process of its own, shown next to the old one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.services import Services

if TYPE_CHECKING:  # imported late: engine code is needed only here
    from console.engine.plan import Plan


def start_branch(services: Services, run: RunFolder, *, cases: tuple[str, ...]) -> None:
    """Play cases of a run again in a new run, and open the comparison. Call in a thread."""

    def plan() -> "Plan":
        from console.engine.experiment import experiment_plan

        return experiment_plan(run, cases, paths=services.paths)

    start_plan(services, plan, lambda branch: services.navigator.open_compare(run, branch))


def start_plan(services: Services, plan: "Callable[[], Plan]", show: Callable[[RunFolder], None]) -> None:
    """Start a run in an engine process and show it; an error in the plan is shown. Call in a thread."""
    from console.engine.launch import spawn

    start_shown(services, lambda: spawn([plan()])[0], show)


def start_shown(services: Services, spawn: Callable[[], RunFolder], show: Callable[[RunFolder], None]) -> None:
    """Spawn a run and show it, or show the error. Call in a thread."""

    def opened(started: RunFolder) -> None:
        services.navigator.add_launched([started])
        show(started)

    try:
        started = spawn()
    except UsageError as error:
        services.from_thread(services.refuse, error)
        return
    services.from_thread(opened, started)
