"""The worker's side, run as a script by a bare interpreter: confines the process, then serves one program.

Three processes: the keeper, started by the engine, which ends everything when the engine closes the connection or dies;
process 1 of the new namespaces, if any; and the worker, which confines itself before it imports a line of a program. On
macOS the keeper starts the worker, this script again, under a profile.
The first frame reports the level of confinement. Standard library only, until the program is imported.
"""

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import types
from typing import Any

_LANDLOCK_WITH_TRUNCATION = 3
_GRACE_S = 2
"""CPU seconds between the signal that ends a worker and SIGKILL."""


def main() -> None:
    """Run as keeper, or as the worker that a keeper starts on macOS; the worker never returns from here."""
    number, root = int(sys.argv[1]), sys.argv[2]
    control = socket.socket(fileno=os.dup(number))  # the lowest free number, regardless of the engine's open files
    os.close(number)
    package = types.ModuleType("console")
    package.__path__ = [root]
    sys.modules["console"] = package  # its parent folder may contain the user's files and is never listed
    if sys.argv[3:] == ["confined"]:
        os._exit(_work_under_profile(control))
    setup = _read_setup(control)
    keep(control, setup, root)


def keep(control: socket.socket, setup: dict[str, Any], root: str) -> None:
    """Fork the confined part and wait until it or the engine ends."""
    from console.sandbox import keeper

    sys.path[:0] = setup["paths"]
    missing: dict[str, str] = {"namespaces": "not asked for"}
    if sys.platform == "linux" and setup["layers"]["namespaces"]:
        from console.sandbox.linux import namespaces

        missing = {"namespaces": why} if (why := namespaces.enter()) else {}
    if missing:
        keeper.adopt_orphans()
    child = 0
    if _is_for_seatbelt(setup):
        from console.sandbox.macos import process

        child, why = process.start(control, setup, root)
        missing |= {"seatbelt": why} if why else {}
    child = child or os.fork()
    if child == 0:
        if not missing:
            os._exit(_supervise(control, setup))
        os._exit(work(control, setup, missing | {"mounts": "without namespaces"}))
    control.close()
    keeper.watch(child)


def _is_for_seatbelt(setup: dict[str, Any]) -> bool:
    return sys.platform != "linux" or bool(setup["layers"]["seatbelt"])


def _work_under_profile(control: socket.socket) -> int:
    """Take over the setup from the keeper outside, and run as the worker."""
    from console.sandbox.macos import process

    handed = process.take_over()
    setup = _read_setup(handed)
    process.confirm(handed)
    sys.path[:0] = setup["paths"]
    return work(control, setup, {})


def _supervise(control: socket.socket, setup: dict[str, Any]) -> int:
    """Run as process 1: nothing inside can signal it, and everything ends with it."""
    from console.sandbox import keeper
    from console.sandbox.linux import kernel, namespaces

    missing = _hold_on()
    with contextlib.suppress(OSError):
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    why = "not asked for"
    if setup["layers"]["mounts"]:
        why = namespaces.arrange_mounts(setup["scratch"], setup["limits"]["file_bytes"])
    worker = os.fork()
    if worker == 0:
        os._exit(work(control, setup, missing | ({"mounts": why} if why else {})))
    control.close()
    while True:
        with contextlib.suppress(ChildProcessError, InterruptedError):
            ended, status = os.wait()
            if ended == worker:
                return keeper.exit_code(status)


def work(control: socket.socket, setup: dict[str, Any], missing: dict[str, str]) -> int:
    """Confine this process, load the program and serve it until the engine closes the connection.

    Args:
        control: the socket to the engine.
        setup: the engine's first frame.
        missing: layers not in force so far, each with the reason.
    """
    from console.sandbox.serve import Port, describe, serve

    try:
        _detach()
        level = confine(setup, missing | _hold_on())
    except Exception as error:
        Port(control, setup["limits"]["frame_bytes"]).send({"failed": describe(error)})
        return 1
    return serve(control, setup, level)


def confine(setup: dict[str, Any], missing: dict[str, str]) -> dict[str, Any]:
    """Apply every available layer of confinement and report which are in force, and why the others are not."""
    contained, mounts = "namespaces" not in missing, "mounts" not in missing
    if why := _limit(setup["limits"], contained):
        missing["limits"] = why
    if _is_for_seatbelt(setup):
        from console.sandbox.macos import process

        return process.read_level(missing)
    from console.sandbox.linux import kernel, seccomp

    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    except OSError as error:  # Landlock and seccomp then fail, too, and report that
        missing["no new privileges"] = str(error.strerror)
    with contextlib.suppress(OSError, KeyError):
        kernel.drop_capabilities()
    version, why = _restrict_files(setup)
    if why:
        missing["landlock"] = why
    protection = seccomp.Protection(attributes=mounts, truncation=mounts or version >= _LANDLOCK_WITH_TRUNCATION)
    filtered = bool(setup["layers"]["seccomp"]) and seccomp.restrict(protection)
    if not filtered:
        missing["seccomp"] = "not on this machine" if setup["layers"]["seccomp"] else "not asked for"
    return {
        "files": version > 0,
        "network": contained or filtered,
        "processes": contained or (filtered and version > 0),
        "syscalls": filtered,
        "landlock": version,
        "namespaces": contained,
        "mounts": mounts,
        "missing": [f"{layer} ({why})" for layer, why in missing.items()],
    }


def _restrict_files(setup: dict[str, Any]) -> tuple[int, str]:
    """Return the version of Landlock in force and, if 0, the reason."""
    assert sys.platform == "linux"
    from console.sandbox.linux import landlock

    if setup["layers"]["landlock"] == 0:
        return 0, "not asked for"
    try:
        version = landlock.restrict(setup["listed"], setup["readable"], [setup["scratch"]], setup["layers"]["landlock"])
    except OSError as error:
        return 0, str(error.strerror)
    return version, "" if version else "not in this kernel"


def _limit(limits: dict[str, Any], contained: bool) -> str:
    """Cap what this process may use; return the reason if a cap is not in force, or nothing."""
    caps = {
        resource.RLIMIT_CPU: limits["cpu_s"],
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":
        caps[resource.RLIMIT_NPROC] = limits["threads"] + (0 if contained else _tasks())
        caps[resource.RLIMIT_MEMLOCK] = 0
        caps[resource.RLIMIT_MSGQUEUE] = 0
    why = ""
    for kind, value in caps.items():
        try:
            hard = resource.getrlimit(kind)[1]
            cap = value if hard == resource.RLIM_INFINITY else min(value, hard)
            # SIGXCPU first, so that the cause is visible; SIGKILL only if that is ignored.
            soft = max(1, cap - _GRACE_S) if kind == resource.RLIMIT_CPU else cap
            resource.setrlimit(kind, (soft, cap))
        except (OSError, ValueError) as error:
            why = str(getattr(error, "strerror", None) or error)
    return why


def _tasks() -> int:
    """Return the number of tasks on the system, as outside a namespace the cap counts all of the user's tasks."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 1000


def _detach() -> None:
    """Give up the keeper's session and standard streams."""
    with contextlib.suppress(OSError):
        os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    if null > 2:
        os.close(null)


def _hold_on() -> dict[str, str]:
    """Make this process end with its parent; return the reason if that is impossible."""
    if sys.platform == "linux":
        from console.sandbox.linux import kernel

        try:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        except OSError as error:
            return {"end with the engine": str(error.strerror)}
    return {}


def _read_setup(control: socket.socket) -> dict[str, Any]:
    """Read exactly the first frame, leaving the rest in the socket."""
    size = int.from_bytes(_exactly(control, 4), "big")
    return json.loads(_exactly(control, size))


def _exactly(control: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


if __name__ == "__main__":
    main()
