"""The editions in the pulled folder: databases, tasks, splits and texts."""

import gzip
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from console.benchmarks.tau2.rules.domain import REFUSED, WORLDS, Domain
from console.benchmarks.tau2.rules.task import Task
from console.core.fault import UsageError, reason_of
from console.core.ready_type import ready_type
from console.store.atomic import read_regular, read_regular_text

WHEEL, CHECKOUT = "inspect", "1.0.1"
"""Editions: tasks of the wheel (mixed, mostly 0.2.0), and those of a checkout."""
DOMAINS = ("airline", "retail", "telecom")
"""Supported domains, in official order."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition of the data."""

    name: str
    folder: Path

    def splits(self, domain: str) -> Mapping[str, list[str]]:
        """Return the ids of each split."""
        path = self.folder / "domains" / domain / "split_tasks.json"
        return _read(path, dict[str, list[str]]) if path.exists() else {}

    def text(self, name: str) -> str:
        """Return a text by its path without suffix, with upstream's final newline.

        Raises:
            UsageError: there is no such text.
        """
        for suffix in (".md", ".txt"):
            path = self.folder / f"{name}{suffix}"
            if path.exists():
                text = read_regular_text(path, "utf-8")
                return _as_upstream(name, text) if self.name == WHEEL else text
        raise UsageError(f"the text {name} is missing", where=str(self.folder), hint="Pull the data again.")


def _as_upstream(name: str, text: str) -> str:
    """Undo the wheel's changes to a text: a final newline added, and a space at the end of a line removed."""
    if name == "domains/mock/policy":
        text = text.replace("can create tasks\n", "can create tasks \n")
    is_same = name.startswith(("domains/retail", "domains/mock/policy_solo", "user_simulator"))
    return text if is_same else text.removesuffix("\n")


def editions(folder: Path) -> dict[str, Edition]:
    """Return the pulled editions, newest first."""
    names = (CHECKOUT, WHEEL)
    return {name: Edition(name, folder / name) for name in names if (folder / name / "domains").is_dir()}


def find_edition(folder: Path, name: str = "") -> Edition:
    """Return an edition; without a name, the newest.

    Raises:
        UsageError: it was not pulled.
    """
    pulled = editions(folder)
    if not pulled or (name and name not in pulled):
        source = "--from CHECKOUT" if name == CHECKOUT else ""
        missing_data = f"the edition {name}" if name else "the data"
        raise UsageError(
            f"{missing_data} of τ²-bench is missing", where=str(folder), hint=f"Run `eval-console pull tau2 {source}`."
        )
    return pulled[name] if name else next(iter(pulled.values()))


def played(domain: str) -> str:
    """Return the name of a domain after checking that it is supported.

    Raises:
        UsageError: it is not supported.
    """
    if domain == REFUSED:
        raise UsageError(f"the domain {REFUSED} is not supported: its 68 tools are not implemented", hint="See docs.")
    if domain not in WORLDS:
        raise UsageError(f"no domain {domain!r}", hint=f"Use one of: {', '.join(WORLDS)}.")
    return domain


@cache
def domain_of(edition: Edition, name: str) -> Domain:
    """Return a domain with its rows.

    Raises:
        UsageError: an unknown or refused domain, or corrupt data.
    """
    place, rows = edition.folder / "domains" / played(name), dict[str, Any]()
    for path in place.glob("*db.*"):  # `db` and, if the user has tools, `user_db`
        rows |= _read(path)
    try:
        return Domain(name, msgspec.convert(rows, ready_type(WORLDS[name].rows), strict=False))
    except msgspec.ValidationError as error:
        raise UsageError(f"cannot be read: {error}", where=str(place), hint="Pull the data again.") from error


@cache
def tasks_of(edition: Edition, domain: str) -> Mapping[str, Task]:
    """Return all tasks of a domain by id, in official order.

    Raises:
        UsageError: an unknown or refused domain, or corrupt data.
    """
    tasks = _read(edition.folder / "domains" / played(domain) / "tasks.json", list[Task])
    return {task.id: task for task in tasks}


def regraded(tasks: Mapping[str, Task], graders: Mapping[str, Task]) -> Mapping[str, Task]:
    """Return tasks with their criteria replaced by those of the same task in another edition."""
    return {
        name: replace(task, evaluation_criteria=graders.get(name, task).evaluation_criteria)
        for name, task in tasks.items()
    }


def _read(path: Path, kind: Any = dict[str, Any]) -> Any:
    """Read a TOML file, or a JSON file whose name may have `.gz` added."""
    path = path if path.exists() else path.with_name(f"{path.name}.gz")
    try:
        raw = gzip.decompress(read_regular(path)) if path.suffix == ".gz" else read_regular(path)
        if path.suffix == ".toml":
            return tomllib.loads(raw.decode())
        return msgspec.json.decode(raw, type=ready_type(kind), strict=False)
    except (OSError, EOFError, zlib.error, msgspec.DecodeError, ValueError) as error:
        raise UsageError(f"cannot be read: {reason_of(error)}", where=str(path), hint="Pull the data again.") from error
