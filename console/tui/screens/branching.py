"""Asking cases of a run anew, as a run of its own that is compared with it."""

from console.core.case import PromptEdit
from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.services import Services


def start_branch(
    services: Services, run: RunFolder, cases: tuple[str, ...], *, model: str = "", edit: PromptEdit | None = None
) -> None:
    """Start a branch of a run in an engine of its own and compare the two; call it in a thread.

    Args:
        services: what the app does for screens.
        run: the old run.
        cases: ids of its cases.
        model: name in models.toml; empty: the same model.
        edit: another opening; None: the same.
    """
    from console.engine.branch import branch_plan
    from console.engine.launch import spawn

    def show(branch: RunFolder) -> None:
        services.navigator.add_launched([branch])
        services.navigator.open_compare(run, branch)

    paths = services.paths
    try:
        plan = branch_plan(run.name, run.manifest(), cases, model=model, edit=edit, models_path=paths.models,
                           data_path=paths.data, runs_path=run.path.parent)  # fmt: skip
        branch = spawn(plan)
    except UsageError as error:
        services.from_thread(services.refuse, error)
        return
    services.from_thread(show, branch)
