"""JSON lines between a driver and the engine, over the driver's standard streams.

Drivers run in the Python of another harness, which may print and read anything, so its streams are redirected first.
When the engine ends, the connection closes and the driver exits at once.
"""

import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any


class Link:
    """The driver's end of the connection."""

    def __init__(self) -> None:
        """Take over standard input and output; further output goes to standard error."""
        self._from_engine = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._to_engine = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        self._writing = threading.Lock()
        self.opening: dict[str, Any] = self.read()
        """The first message: the task, and whether to list or to play its samples."""

    def read(self) -> dict[str, Any]:
        """Return the engine's next message, or exit if the connection is closed."""
        line = self._from_engine.readline()
        if not line:
            end()
        return json.loads(line)

    def follow(self, act: Callable[[dict[str, Any]], Any]) -> threading.Thread:
        """Call `act` with each further message, in a thread."""

        def read_all() -> None:
            while True:
                act(self.read())

        following = threading.Thread(target=read_all, daemon=True)
        following.start()
        return following

    def say(self, kind: str, **fields: Any) -> None:
        """Send a message to the engine."""
        line = json.dumps({"say": kind, **_plain(fields)}, default=str)
        with self._writing:
            self._to_engine.write(line + "\n")
            self._to_engine.flush()


def end() -> None:
    """End this process, and all its children if the engine gave it its own process group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of packages that are installed here, and of Python."""
    from importlib import metadata

    versions_by_name = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in packages:
        try:
            versions_by_name[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions_by_name


def _plain(value: Any) -> Any:
    """Return a value whose numbers are finite and whose keys are strings, as the engine's JSON requires."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
