"""Ends a process together with everything that it started, wherever that went.

Standard library only, as the scripts that use it run in bare interpreters.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import NoReturn

_ROUNDS = 1000
"""Times to look for children, since those of a killed process are seen only after its end."""


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, even in a session of its own. Linux only."""
    if sys.platform == "linux":
        from console.sandbox.linux import kernel

        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def watch(child: int, leash_events: int = select.POLLIN | select.POLLHUP, mark: str = "") -> NoReturn:
    """Wait for the end of the child or of standard input, which the engine keeps open; then end everything and exit.

    Args:
        child: the process to wait for.
        leash_events: events on standard input that end it; 0 for its end alone, if the child reads from it.
        mark: see `end_descendants`.
    """
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(ended, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _ignore_signal)
    leash = select.poll()
    leash.register(0, leash_events)
    leash.register(ended, select.POLLIN)
    code = None
    while code is None:
        code = reap(child)
        if code is None and any(number == 0 for number, _ in leash.poll(1000)):
            os.kill(child, signal.SIGKILL)
            code = 137
        with contextlib.suppress(BlockingIOError):
            os.read(ended, 4096)
    end_descendants(mark)
    os._exit(code)


def _ignore_signal(number: int, frame: types.FrameType | None) -> None:
    """Handle a signal by waking from a wait."""
    del number, frame


def reap(child: int) -> int | None:
    """Reap all processes that have ended; return the child's exit code once it has."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended == 0:
            return None
        if ended == child:
            return exit_code(status)


def exit_code(status: int) -> int:
    """Return the code of a status as shells do: 128 and the number of the signal for a killed process."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def end_descendants(mark: str = "") -> None:
    """Kill this process's descendants until none are left.

    Args:
        mark: text in the environment of the descendants, by which macOS, which adopts no orphans, finds them.
    """
    if sys.platform != "linux":
        for pid in {*descendants(os.getpid()), *(_marked(mark) if mark else ())}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return
    for _ in range(_ROUNDS):
        children = list(_children(os.getpid()))
        if not children:
            return
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def descendants(pid: int) -> list[int]:
    """Return the processes that descend from one and have not been orphaned."""
    listed: defaultdict[int, list[int]] = defaultdict(list)
    if sys.platform != "linux":
        for child, rest in _processes("ppid="):
            listed[int(rest)].append(child)
    children = _children if sys.platform == "linux" else listed.__getitem__
    out = list(children(pid))
    for child in out:
        out += children(child)
    return out


def _children(pid: int) -> Iterator[int]:
    """Yield the children of a process, started in any of its threads."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as listing:
                yield from map(int, listing.read().split())


def _marked(mark: str) -> Iterator[int]:
    """Yield the other processes with a text in their environment, which ps adds to the command."""
    return (pid for pid, rest in _processes("command=", "-E") if mark in rest and pid != os.getpid())


def _processes(column: str, *options: str) -> Iterator[tuple[int, str]]:
    """Yield the ids of all processes, each with one column of ps."""
    with contextlib.suppress(OSError):
        words = ["/bin/ps", "-axww", *options, "-o", "pid=", "-o", column]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(words, stdout=pipe, stderr=nothing, text=True, errors="replace") as ps:  # noqa: S603
            assert ps.stdout is not None
            for line in ps.stdout:
                pid, _, rest = line.strip().partition(" ")
                if int(pid) != ps.pid:
                    yield int(pid), rest
