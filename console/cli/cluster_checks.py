"""Checks of `doctor --on`: whether a cluster answers, and whether its workers match this machine."""

import asyncio
import os
from pathlib import Path

from console import __version__
from console.cli.doctor_checks import BAD, GOOD, WARNING, Finding
from console.core.fault import UsageError
from console.engine.compute_target import ComputeTarget
from console.engine.plan import program_versions

_AREA = "cluster"


def check_cluster(target: ComputeTarget, models: Path | None) -> list[Finding]:
    """Connect, start a worker on each node that has room, and compare its environment with this machine's."""
    from console.config.models import key_state, load_models
    from console.config.paths import find_models_file
    from console.config.secrets import key_variable

    try:
        from console.engine.workers.ray_cluster import RayCluster

        cluster = RayCluster(target.on, target.workers)
    except UsageError as error:
        return [Finding(_AREA, target.on, BAD, error.message, error.hint)]
    try:
        book = load_models(find_models_file(models))
        keys = sorted(
            {
                name
                for model in book.models.values()
                if key_state(model).ready and (name := key_variable(model)) and name in os.environ
            }
        )
        place = f"{cluster.size} CPUs, {cluster.nodes} node{'s' * (cluster.nodes != 1)}"
        facts = asyncio.run(cluster.survey(keys))
        return [Finding(_AREA, target.on, GOOD, place), *(_compare(name, versions, keys) for name, versions in facts)]
    finally:
        cluster.close()


def _compare(name: str, versions: dict[str, str], keys: list[str]) -> Finding:
    if "trouble" in versions:
        return Finding(_AREA, name, BAD, versions["trouble"], "Install eval-console there as here.")
    ours = program_versions()
    other = [f"{what} {versions.get(what, 'none')}, not {version}" for what, version in ours.items()
             if versions.get(what) != version]  # fmt: skip
    if other:
        return Finding(
            _AREA, name, BAD, f"has {', '.join(other)}", f"Install the same there: eval-console {__version__}."
        )
    absent = [key for key in keys if f"key {key}" not in versions]
    if absent:
        hint = "Set them on that node before Ray is started there; keys never go through Ray."
        return Finding(_AREA, name, WARNING, f"has no {', '.join(absent)}", hint)
    return Finding(_AREA, name, GOOD, f"eval-console {__version__}, {versions.get('sandbox', '')}")
