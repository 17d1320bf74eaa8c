"""Asking cases of a run anew, as a run of its own: the same model or another, the same opening or an edited one.

The new run names the old one as its parent, so that neither trends nor leaderboards count it; the old run is untouched.
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
        manifest: its manifest; suite, options, mode and other roles are taken over.
        cases: ids of the cases.
        model: name in models.toml; empty: the same model.
        edit: another opening; None: the suite's, or the old run's own edited one.
        models_path: the models file; None: the usual one.
        data_path: the data folder; None: the usual ones.
        runs_path: where the new run goes; None: the usual place.
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
