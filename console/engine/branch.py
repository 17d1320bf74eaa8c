"""Branches: replays of some cases of a run as a run of its own, with another model or an edited opening.

The new run names the old one as its parent, so trends and leaderboards exclude it; the old run is not changed.
"""

from pathlib import Path

from console.core.case import PromptEdit
from console.core.run import Manifest, Selection
from console.engine.plan import Plan


def branch_plan(
    run: str,
    manifest: Manifest,
    cases: tuple[str, ...],
    *,
    model: str = "",
    edit: PromptEdit | None = None,
    models_path: Path | None = None,
    data_path: Path | None = None,
    runs_path: Path | None = None,
) -> Plan:
    """Return the plan of a branch.

    Args:
        run: name of the old run.
        manifest: manifest of the old run; suite, options, mode and other roles are reused.
        cases: ids of the cases.
        model: name in models.toml; empty for the same model.
        edit: a new opening; None for that of the old run.
        models_path: models file; None for the default.
        data_path: data folder; None for the defaults.
        runs_path: folder for the new run; None for the default.
    """
    asked = cases[0] if len(cases) == 1 else f"{len(cases)} cases"
    return Plan(
        model=model or manifest.model.name,
        suite=manifest.suite,
        selection=Selection(ids=cases),
        options=manifest.setting.options,
        mode=manifest.setting.mode,
        roles={role: facts.name for role, facts in manifest.roles.items()},
        name=f"{'edited' if edit else 'again'} {asked} {model or manifest.model.name}",
        parent=run,
        edit=edit or manifest.setting.edit,
        models_path=models_path,
        data_path=data_path,
        runs_path=runs_path,
    )
