"""The list of cases, requested from the harness once and saved in the suite's folder."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from console.benchmarks.harness.definition import PROGRAM, Definition
from console.core.case import Case
from console.core.fault import UsageError, os_errors_as, reason_of
from console.core.json_text import as_object, read_json
from console.core.ready_type import ready_type
from console.store.atomic import read_regular, write_atomically

KEPT = "cases.list"
ROWS = "cases.jsonl"
"""File with the cases of a program, written by the user."""
LISTING_S = 900.0
"""Time limit, in seconds, for a harness to list its cases, which may require fetching data."""
_TITLE = 200


class Listing(msgspec.Struct, frozen=True):
    """The cases of a task, as its harness listed them."""

    digest: str
    """Digest of the definition (see `Definition.digest`)."""
    name: str
    versions: dict[str, str]
    """Versions of the packages that made the list."""
    cases: list[dict[str, Any]]
    repeats: int = 1
    """Number of rollouts per case that the task itself uses for its score."""

    @property
    def repeats_words(self) -> list[str]:
        """A sentence on repeating the cases like the task does; empty if the task does not."""
        command = f"The task plays each case {self.repeats} times; -r {self.repeats} does the same."
        return [command] if self.repeats > 1 else []

    def as_cases(self) -> list[Case]:
        return [_case(fields, self.name.split("/")[-1]) for fields in self.cases]


def _case(fields: dict[str, Any], category: str) -> Case:
    title = " ".join(str(fields.get("input", "")).split())[:_TITLE]
    return Case(fields["id"], fields.get("category") or category, fields, title)


def find_listing(folder: Path, definition: Definition) -> Listing:
    """Return the cached list of cases, or ask the harness if this definition has none yet.

    Raises:
        UsageError: the harness cannot list its cases, or the list cannot be saved.
    """
    if definition.format == PROGRAM:
        return _read_rows(folder / ROWS, definition)
    try:
        kept = msgspec.json.decode((folder / KEPT).read_bytes(), type=ready_type(Listing))
    except (OSError, ValueError):
        kept = None
    return kept if kept is not None and kept.digest == definition.digest else list_cases(folder, definition)


def list_cases(folder: Path, definition: Definition) -> Listing:
    """Ask the harness for its cases and save the list.

    Raises:
        UsageError: the harness cannot list its cases, or the list cannot be saved.
    """
    answer = _ask(folder, definition, "list", LISTING_S)
    listing = Listing(definition.digest, answer["name"], answer["versions"], answer["cases"], answer.get("repeats", 1))
    ids = [fields["id"] for fields in listing.cases]
    if twice := {name for name in ids if ids.count(name) > 1} if len(set(ids)) < len(ids) else None:
        raise UsageError(f"the task has several cases with the id {sorted(twice)[0]!r}", where=str(folder))
    with os_errors_as("cannot be written", where=folder / KEPT):
        write_atomically(folder / KEPT, msgspec.json.encode(listing))
    return listing


def _read_rows(path: Path, definition: Definition) -> Listing:
    """Read the cases of a program."""
    hint = 'One JSON object a line, such as {"id": "first", "input": "What is 2+2?", "target": "4"}.'
    with os_errors_as("cannot be read", where=path, hint=hint):
        data = read_regular(path)
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            row = as_object(read_json(line)) if line.strip() else None
        except ValueError as error:
            raise UsageError(f"is not JSON: {error}", where=f"{path}:{number}", hint=hint) from error
        if row is None:
            continue
        name = row.get("id")
        if not isinstance(name, str) or not name or name in rows:
            problem = f"repeats the id {name!r}" if name in rows else "has no string as `id`"
            raise UsageError(problem, where=f"{path}:{number}", hint=hint)
        rows[name] = row
    return Listing(definition.digest, "cases", {"cases": sha256(data).hexdigest()[:16]}, list(rows.values()))


def check_versions(folder: Path, definition: Definition, listing: Listing) -> None:
    """Check that the packages that listed the cases have the versions of those that will play them.

    Raises:
        UsageError: a version has changed; names it.
    """
    if definition.format == PROGRAM:
        return
    now = _ask(folder, definition, "versions", 60.0)["versions"]
    for package, version in listing.versions.items():
        if now.get(package) != version:
            raise UsageError(
                f"the cases were listed with {package} {version}, but the environment has {now.get(package, 'none')}",
                where=str(folder / KEPT),
                hint="Delete this file to list the cases again.",
            )


def _ask(folder: Path, definition: Definition, do: str, limit: float) -> dict[str, Any]:
    """Start a driver for one answer."""
    command = definition.driver_command()
    try:
        ended = subprocess.run(  # noqa: S603 - what the user named
            command,
            input=json.dumps(definition.opening(do)) + "\n",
            capture_output=True,
            cwd=folder,
            env=dict(definition.variables()),
            timeout=limit,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"its harness does not list its cases: {reason_of(error)}", where=str(folder)) from error
    answer = _last_line(ended.stdout)
    if answer.get("say") in ("cases", "versions"):
        return answer
    words = answer.get("message") or last_words(ended.stderr) or f"it ended with code {ended.returncode}"
    raise UsageError(
        f"{definition.format} cannot play {definition.subject!r}: {words}",
        where=str(folder / "suite.toml"),
        hint=f"The driver was {command[0]}; set `python` to that of the environment with the harness and its data.",
    )


def _last_line(text: str) -> dict[str, Any]:
    for line in reversed(text.splitlines()):
        try:
            return read_json(line)
        except ValueError:
            continue
    return {}


def last_words(text: str) -> str:
    """Return the last line of a program's output."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:500]
