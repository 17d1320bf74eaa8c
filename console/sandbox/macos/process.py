"""Starts the worker under a Seatbelt profile and checks from inside what the profile denies.

The keeper stays outside, because the profile forbids starting processes. It passes the setup through a socket that is
the worker's standard input and error until the interpreter runs; if it never does, the reason arrives there.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

from console.sandbox.macos.profile import Reach, build_profile

_READY = b"\0"
_START_S = 20.0
"""Seconds before giving up on a worker that neither starts nor ends."""
_MOST_LINKS = 40
_DISCARD = 9
"""A port of this machine on which nothing listens."""
_OUTSIDE = "/private/etc/hosts"
"""A file that anyone on macOS can read, except a worker."""


def start(control: socket.socket, setup: dict[str, Any], root: str) -> tuple[int, str]:
    """Start a confined worker; return its process id, or 0 and the reason for the failure.

    Args:
        control: the socket to the engine, for the worker.
        setup: the engine's first frame.
        root: folder of this package.
    """
    launcher = setup["layers"]["seatbelt"]
    if not launcher:
        return 0, "there is no /usr/bin/sandbox-exec"
    try:
        profile = build_profile(_reach(setup, root))
    except ValueError as error:
        return 0, str(error)
    script = os.path.join(root, "sandbox", "inside.py")
    words = (sys.executable, "-s", "-S", "-B", "-P", script, str(control.fileno()), root, "confined")
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _become(theirs, control, (launcher, "-p", profile, *words))
    theirs.close()
    with ours:
        why = _hand_over(ours, setup)
    if not why:
        return child, ""
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 0, f"{why} (code {code})"


def _become(theirs: socket.socket, control: socket.socket, words: tuple[str, ...]) -> None:
    """Replace this process with the launcher."""
    try:
        os.dup2(theirs.fileno(), 0)
        os.dup2(theirs.fileno(), 2)
        os.set_inheritable(control.fileno(), True)
        os.execv(words[0], words)  # noqa: S606  no shell is wanted
    except OSError as error:
        with contextlib.suppress(OSError):
            theirs.send(str(error.strerror).encode())
    finally:
        os._exit(1)


def _hand_over(ours: socket.socket, setup: dict[str, Any]) -> str:
    """Send the setup and wait until the interpreter runs; return the reason if it does not."""
    body = json.dumps(setup).encode()
    ours.settimeout(_START_S)
    answer = b""
    try:
        ours.sendall(len(body).to_bytes(4, "big") + body)
        while _READY not in answer:
            part = ours.recv(4096)
            if not part:
                break
            answer = (answer + part)[-4096:]
    except TimeoutError:
        return f"no answer in {_START_S:g} s"
    except OSError:
        with contextlib.suppress(OSError):
            answer += ours.recv(4096)
    if _READY in answer:
        return ""
    lines = answer.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:150] if lines else "Python did not start"


def take_over() -> socket.socket:
    """Return the socket that carries the setup: standard input, as `start` left it."""
    return socket.socket(fileno=0)


def confirm(handed: socket.socket) -> None:
    """Tell the keeper that the interpreter runs."""
    handed.sendall(_READY)
    handed.detach()


def read_level(missing: dict[str, str]) -> dict[str, Any]:
    """Try what must be denied and return the actual level of confinement."""
    return {
        "files": _is_denied(_open_outside),
        "network": _is_denied(_connect),
        "processes": _is_denied(_start_process) and _is_denied(_signal_keeper),
        "seatbelt": "seatbelt" not in missing,
        "missing": [f"seatbelt ({missing['seatbelt']})"] if "seatbelt" in missing else [],
    }


def _is_denied(action: Callable[[], None]) -> bool:
    """Return whether the kernel refuses an action as not permitted; any other failure proves nothing."""
    try:
        action()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _open_outside() -> None:
    os.close(os.open(_OUTSIDE, os.O_RDONLY))


def _connect() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        connection.connect(("127.0.0.1", _DISCARD))


def _start_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _signal_keeper() -> None:
    os.kill(os.getppid(), 0)


def _reach(setup: dict[str, Any], root: str) -> Reach:
    """Return the paths and calls open to the worker, from the description shared by all layers of confinement."""
    used = [sys.executable, root, setup["scratch"], *(path for path in sys.path if os.path.isabs(path))]
    programs = [sys.executable, *_framework_program()]
    return Reach(
        programs=[canonical(path) for path in programs],
        readable=[*(canonical(path) for path in setup["readable"]), *_started_from()],
        listed=[canonical(path) for path in setup["listed"]],
        scratch=canonical(setup["scratch"]),
        links=[link for path in used for link in links_on(path)],
    )


def _started_from() -> list[str]:
    """Return the paths needed only to start the interpreter: its library, and the settings of its environment."""
    paths = [canonical(os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "pyvenv.cfg"))]
    if sysconfig.get_config_var("PYTHONFRAMEWORK"):
        paths.append(canonical(sys.base_prefix))
    return paths


def _framework_program() -> list[str]:
    """Return the program by which a framework build of Python replaces itself."""
    path = os.path.join(sys.base_prefix, "Resources", "Python.app", "Contents", "MacOS", "Python")
    return [path] if os.path.exists(path) else []


def canonical(path: str) -> str:
    """Return a path as the kernel sees it: without links, and in the spelling of the file system."""
    real = os.path.realpath(path)
    query = getattr(fcntl, "F_GETPATH", None)
    if query is None:
        return real
    try:
        number = os.open(real, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return real
    try:
        return os.fsdecode(fcntl.fcntl(number, query, bytes(1024)).rstrip(b"\0")) or real
    except OSError:
        return real
    finally:
        os.close(number)


def links_on(path: str) -> list[str]:
    """Return the symbolic links on the way to a path, in order, each with its parent folders resolved."""
    links: list[str] = []
    rest = [part for part in path.split("/") if part]
    here = "/"
    while rest and len(links) < _MOST_LINKS:
        part = rest.pop(0)
        if part == "..":
            here = os.path.dirname(here)
            continue
        here = os.path.join(here, part)
        try:
            target = os.readlink(here)
        except OSError:
            continue
        links.append(here)
        rest = [*(each for each in target.split("/") if each not in ("", ".")), *rest]
        here = "/" if target.startswith("/") else os.path.dirname(here)
    return links
