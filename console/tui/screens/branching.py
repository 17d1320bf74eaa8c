"""Starting a branch: a new run of some cases of a run, compared with it."""

from console.core.case import PromptEdit
from console.core.fault import UsageError
from console.store.runs import RunFolder
from console.tui.services import Services


def start_branch(
    services: Services, run: RunFolder, cases: tuple[str, ...], *, model: str = "", edit: PromptEdit | None = None
) -> None:
    """Start a branch in an engine process and open the comparison. Call in a thread.

    Args:
        services: the app's services.
        run: the original run.
        cases: case ids.
        model: name in models.toml; empty for the same model.
        edit: prompt edit; None for the same prompt.
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
        branch = spawn([plan])[0]
    except UsageError as error:
        services.from_thread(services.refuse, error)
        return
    services.from_thread(show, branch)
