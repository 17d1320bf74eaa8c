"""Definition of a suite that another harness plays, and the commands that start its driver."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from console.core.fault import UsageError
from console.core.ready_type import ready_type
from console.core.suggestion import suggest
from console.suites.catalog import read_suite_toml
from console.suites.suite import SuiteEntry

_DRIVERS = Path(__file__).parent / "driver"
_PACKAGE = Path(__file__).parents[2]
_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SHELL", "TZ",
              "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "HF_HOME", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE",
              "INSPECT_CACHE_DIR", "DOCKER_HOST", "SSL_CERT_FILE", "LD_LIBRARY_PATH")  # fmt: skip
"""Environment variables for every harness, in addition to those in suite.toml: no keys, no proxies."""
ROLES = ("model", "judge", "user", "embedding")
"""Our roles that can fill a role of a task."""


class Harness(NamedTuple):
    """One kind of harness."""

    key: str
    """The field of suite.toml that names the task, environment or command."""
    driver: str


PROGRAM = "program"
HARNESSES = {
    "inspect": Harness("task", "inspect_driver.py"),
    "verifiers": Harness("environment", "verifiers_driver.py"),
    PROGRAM: Harness("command", "program_driver.py"),
}


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program may use for a case."""

    minutes: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    """Time outside of calls, which may have to wait."""
    output_mib: Annotated[int, msgspec.Meta(gt=0, le=1024)] = 64
    """Output and errors together."""
    processes: Annotated[int, msgspec.Meta(gt=0)] = 512
    """Number of processes at the same time."""


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of suite.toml."""

    format: str
    title: str = ""
    task: str = ""
    command: tuple[str, ...] = ()
    """A program and its arguments, started in the suite's folder for each case."""
    environment: str = ""
    python: str = ""
    """The Python of the environment with the harness; empty for the first `python3` on PATH."""
    args: dict[str, Any] = {}
    """Parameters of the task."""
    env: tuple[str, ...] = ()
    """Names of additional environment variables for the harness."""
    roles: dict[str, str] = {}
    """Our role for each role of the task that is not played by the model under test."""
    score: str = ""
    """The score that decides whether a rollout passes, `scorer` or `scorer/part`; empty for the first score."""
    threshold: float = 1.0
    """Lowest passing value of that score."""
    limits: Limits = Limits()
    """Limits of a program; other harnesses have their own."""
    comparable: bool = False
    origin: str = ""
    source: dict[str, Any] = {}
    demo: list[Any] = []

    @property
    def subject(self) -> Any:
        """The task, environment or command to play."""
        return getattr(self, HARNESSES[self.format].key)

    @property
    def digest(self) -> str:
        """Digest of the fields that determine the list of cases."""
        identity = json.dumps([self.format, self.subject, self.args], sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    @property
    def needed_roles(self) -> tuple[str, ...]:
        """Our roles other than the model."""
        return tuple(role for role in ROLES[1:] if role in self.roles.values())

    def driver_command(self) -> list[str]:
        """Return the command of the driver.

        Raises:
            UsageError: there is no such Python.
        """
        python = sys.executable  # the driver of programs needs only the standard library
        if self.format != PROGRAM:
            python = shutil.which(os.path.expanduser(self.python or "python3"))
        if python is None:
            hint = (
                'Name the Python in whose environment the harness is installed: python = "~/inspect/.venv/bin/python".'
            )
            raise UsageError(
                f"there is no Python at {self.python or 'python3'}", where="`python` of suite.toml", hint=hint
            )
        script = str(_DRIVERS / HARNESSES[self.format].driver)
        return [python, "-s", "-S", script, str(_PACKAGE)] if self.format == PROGRAM else [python, script]

    def variables(self) -> Mapping[str, str]:
        """Return the environment variables of the driver."""
        named = {name: os.environ[name] for name in (*_PASSED_ON, *self.env) if name in os.environ}
        return named | {"NO_PROXY": "127.0.0.1", "PYTHONUNBUFFERED": "1"}

    def opening(self, do: str) -> dict[str, Any]:
        """Return the first line for the driver."""
        task = {HARNESSES[self.format].key: self.subject, "args": self.args, "roles": self.roles}
        return {"do": do, **task, "limits": msgspec.to_builtins(self.limits)}


def read_definition(entry: SuiteEntry) -> Definition:
    """Read the suite.toml of a suite.

    Raises:
        UsageError: an unknown, missing or wrong field.
    """
    place = str(entry.folder / "suite.toml")
    table = read_suite_toml(entry.folder)
    names = Definition.__struct_fields__
    for name in table:
        if name not in names:
            hint = suggest(name, names, f"Its fields: {', '.join(names)}.")
            raise UsageError(f"has an unknown field `{name}`", where=place, hint=hint)
    try:
        read = msgspec.convert(table, ready_type(Definition))
    except msgspec.ValidationError as error:
        raise UsageError(f"is invalid: {error}", where=place) from error
    if not read.subject:
        key = HARNESSES[read.format].key
        raise UsageError(f"has no `{key}`", where=place, hint=f'Add it, such as {key} = "NAME".')
    if "limits" in table and read.format != PROGRAM:
        hint = f"Set them in the task: {read.format} has its own."
        raise UsageError("has limits, which only a program can have", where=f"{place}: [limits]", hint=hint)
    for theirs, ours in read.roles.items():
        if ours not in ROLES:
            hint = f"One of: {', '.join(ROLES)}."
            raise UsageError(f"assigns the task's role {theirs} to {ours!r}", where=f"{place}: [roles]", hint=hint)
    return read
