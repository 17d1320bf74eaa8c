"""Starts the worker's interpreter with its readable paths and an environment without the user's variables."""

import asyncio
import contextlib
import os
import socket
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_BUNDLED = "bundled"
"""Folder of the bundled suites in an installed package."""
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "MPLBACKEND": "Agg",
}
_ON_LINUX = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache",
    "/etc/localtime", "/dev/urandom", "/dev/zero", "/sys/devices/system/cpu", "/proc/cpuinfo", "/proc/meminfo",
)  # fmt: skip
_ON_MACOS = (
    "/opt/homebrew/Cellar", "/opt/homebrew/opt", "/opt/homebrew/lib", "/usr/local/Cellar", "/usr/local/opt",
    "/usr/local/lib", "/opt/local/lib",
)  # fmt: skip
"""Libraries of the package managers of macOS, loaded by their interpreters; the profile adds the system's."""
_SYSTEM = _ON_MACOS if sys.platform == "darwin" else _ON_LINUX
SEATBELT = "/usr/bin/sandbox-exec"
"""The program of macOS that starts another under a profile."""


def find_seatbelt() -> str:
    """Return the program that confines on macOS, or an empty string."""
    return SEATBELT if sys.platform == "darwin" and os.access(SEATBELT, os.X_OK) else ""


async def spawn(control: socket.socket, scratch: str) -> asyncio.subprocess.Process:
    """Start the keeper, which ends when its standard input closes."""
    script = _PACKAGE / "sandbox" / "inside.py"
    number = control.fileno()
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-s", "-S", "-B", "-P", str(script), str(number), str(_PACKAGE)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        pass_fds=(number,),
        env=_environment() | {"HOME": scratch, "TMPDIR": scratch, "IPYTHONDIR": f"{scratch}/.ipython"},
        cwd=scratch,
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    library = os.environ.get("LD_LIBRARY_PATH")
    return _ENVIRONMENT | ({"LD_LIBRARY_PATH": library} if library else {})


def import_paths() -> list[str]:
    """Return the folders of installed packages, without relative ones and the current folder."""
    paths = [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]
    paths += [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return list(dict.fromkeys(path for path in paths if os.path.isabs(path)))


def readable_paths(paths: list[str]) -> list[str]:
    """Return the paths that every worker may read: interpreter, installed packages, this package, system libraries."""
    home = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), f"{sys.base_prefix}/lib"]
    library = [] if sys.base_prefix in ("/", "/usr") else [home[2]]
    return [*home[:2], *library, *paths, str(_PACKAGE), *_SYSTEM]


def open_paths(readable: Sequence[str | Path], hidden: Sequence[str | Path]) -> tuple[list[str], list[str]]:
    """Return the folders a worker may list and the paths it may read.

    A folder that contains something hidden is opened piece by piece. The bundled suites are always hidden: a worker
    reads the suite it plays from the folder it is given.
    """
    closed = {os.path.realpath(path) for path in hidden}
    bundled = os.path.realpath(_PACKAGE / _BUNDLED)
    listed: list[str] = []
    opened: list[str] = []
    for path in dict.fromkeys(os.path.realpath(path) for path in readable):
        beneath = path == bundled or path.startswith(f"{bundled}/")
        _open_without(path, closed if beneath else closed | {bundled}, listed, opened)
    return listed, opened


def _open_without(path: str, closed: set[str], listed: list[str], opened: list[str]) -> None:
    if any(path == item or path.startswith(f"{item}/") for item in closed):
        return
    if not any(item.startswith(f"{path}/") for item in closed):
        opened.append(path)
        return
    listed.append(path)
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_symlink():
                _open_without(entry.path, closed, listed, opened)
