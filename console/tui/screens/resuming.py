"""Resuming a run that ended early, from any screen that shows one."""

from functools import partial

from textual.content import Content

from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.data.runs import RunLine
from console.tui.services import Services


def resume_run(services: Services, line: RunLine | None) -> None:
    """Start an engine for a run and watch it in Live, or notify why that is impossible.

    A run ended early by an interim look plays its remaining cases.
    """
    if line is None or not (line.can_resume or line.is_decided or line.is_recorded):
        services.notify(Content("There is nothing to resume here."))
    else:
        reopen_run = partial(_reopen, services, line.folder, to_the_end=line.is_decided)
        services.workspace.in_thread(reopen_run)  # or refuses with the reason


def _reopen(services: Services, run: RunFolder, *, to_the_end: bool) -> None:
    from console.engine.plan import reopen
    from console.engine.process import spawn_engine
    from console.engine.race import continue_race

    workspace, paths = services.workspace, services.paths
    try:
        reopen(run, paths)
        if not to_the_end and continue_race(run, paths):
            workspace.hand_over(_watch, services, run)
            return
        spawn_engine(run, paths=paths, to_the_end=to_the_end)
    except UsageError as error:
        workspace.hand_over(services.refuse, error)
    else:
        workspace.hand_over(_watch, services, run)


def _watch(services: Services, run: RunFolder) -> None:
    services.navigator.add_launched([run])
    services.navigator.open_live(run)
