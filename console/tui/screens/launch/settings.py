"""The settings of the form that do not belong to a suite: their words, defaults and readers. Pure but for one look."""

from collections.abc import Sequence
from pathlib import Path

from console.core.fault import UsageError
from console.suites.suite import Mode
from console.tui.data.catalog_items import Models, RunLine
from console.tui.screens.launch.field import Field, failed_run, ids, money, run_name, time_limit, whole

AUTO = "as models.toml says"
NOW, QUEUED = "now", "queued"

_CASES = Field("cases", "cases", "all", "how many of each suite, or all", "--sample", whole(none=("all",)), digits=True)
_SEED = Field("seed", "seed", "0", "which cases are drawn; first: no draw, the first ones", "--seed",
              whole(0, none=("first",)), digits=True)  # fmt: skip
_REST = (
    Field("repeats", "repeats", "1", "times each case is played", "--rollouts", whole(), digits=True),
    Field("at_once", "at once", "", "conversations in flight; empty: as models.toml says", "--concurrency",
          whole(none=("auto",)), digits=True),
    Field("stop_when", "stop when", "5.00", "US dollars a run may spend, or never", "--max-cost", money, digits=True),
    Field("start", "start", NOW, "now: side by side; queued: one after another", "--queue", str, (NOW, QUEUED)),
)  # fmt: skip
_NAME = Field("name", "name", "", "empty: time, model and suite", "--name", run_name)
_LIMITS = (
    Field("max_time", "time limit", "never", "stops a run after 90 (seconds), 10m or 2h", "--max-time", time_limit,
          digits=True),
    Field("max_tokens", "token limit", "never", "stops a run after so many tokens", "--max-tokens",
          whole(none=("never",)), digits=True),
    Field("max_errors", "error limit", "never", "stops a run after so many broken cases", "--max-errors",
          whole(none=("never",)), digits=True),
)  # fmt: skip
_FIELD_OF = {
    "--ids": "ids",
    "--ids and --only-failed-of": "ids",
    "--only-failed-of": "failed_of",
    "--mode": "mode",
    "--judge": "role:judge",
    "--embedding": "role:embedding",
    "--name": "name",
}


def settings(
    models: Models, runs: Sequence[RunLine], suites: Sequence[str], roles: Sequence[str], modes: Sequence[Mode]
) -> list[Field]:
    """Return the fields for what is chosen, the most used ones first.

    Args:
        models: models that can play a role.
        runs: runs whose failed cases can be asked again.
        suites: the chosen suites.
        roles: roles that these need.
        modes: modes that these can be played in.
    """
    only_ids = Field("ids", "only ids", "", "ids between commas, or @ids.txt", "--ids", ids(_is_file))
    failed_of = Field("failed_of", "failed of", "", "only what this run failed: its name, or part of it",
                      "--only-failed-of", failed_run(runs, suites))  # fmt: skip
    return [
        _CASES,
        _SEED,
        only_ids,
        failed_of,
        *_REST,
        _mode(modes),
        *(_role(role, models) for role in roles),
        _NAME,
        *_LIMITS,
    ]


def _mode(modes: Sequence[Mode]) -> Field:
    by_name = {mode.name: mode for mode in modes}
    meaning = " or ".join(f"{mode.meaning} ({name})" for name, mode in by_name.items())
    return Field("mode", "mode", AUTO, meaning, "--mode", str, (AUTO, *by_name))


def _role(role: str, models: Models) -> Field:
    names = tuple(line.name for line in models.lines if line.ready)
    known = ("", f"sim/{role}", *names) if role in ("judge", "embedding") else ("", *names)
    return Field(
        f"role:{role}", role, "", "the model that plays this role; empty: as the suite says", f"--{role}", str, known
    )


def field_of(refusal: UsageError, fields: Sequence[Field]) -> str:
    """Return the id of the field that a refusal is about; empty when it is about no field."""
    named = [one for one in fields if one.id.startswith("option:")]
    if refusal.where == "--option":
        words = refusal.message.replace("'", " ").replace(",", " ").split()
        return next((one.id for one in named if one.id.rpartition(":")[2] in words), "")
    option = refusal.where.partition(".")[0]
    found = (one.id for one in named if one.id.rpartition(":")[2] == option)
    return _FIELD_OF.get(refusal.where) or next(found, "")


def _is_file(name: str) -> bool:
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False
