"""A disk that refuses where a test says so, and knows what a power cut would leave of each journal.

As on Linux, a sync that fails drops what it should have made durable: the next one succeeds without it.
"""

import errno
import os
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Refuse = Callable[[str, str, int], int]
"""Given a call (such as `fdatasync`), the name of the file and how often that pair came, the errno to refuse with."""


def accept(call: str, name: str, count: int) -> int:
    """Refuse nothing."""
    return 0


class PowerCutDisk:
    """Watches the calls of `os` that write, as long as the test lasts."""

    def __init__(self, patch: pytest.MonkeyPatch, refuse: Refuse = accept) -> None:
        self.refuse = refuse
        self.counts: Counter[tuple[str, str]] = Counter()
        self._durable: dict[int, bytearray] = {}
        self._dirty: dict[int, list[tuple[int, bytes | None]]] = {}
        self._lock = threading.Lock()
        self._originals = {
            name: getattr(os, name)
            for name in ("write", "pwrite", "ftruncate", "fdatasync", "fsync", "close", "replace")
        }
        for name in self._originals:
            patch.setattr(os, name, self._wrapped(name))

    def after_power_cut(self, path: Path) -> bytes:
        """Return what is left of a journal."""
        return bytes(self._durable.get(path.stat().st_ino, b""))

    def _wrapped(self, call: str) -> Callable[..., Any]:
        def wrapped(target: Any, *more: Any, **named: Any) -> Any:
            name = Path(target if call == "replace" else os.readlink(f"/proc/self/fd/{target}")).name
            self.counts[call, name] += 1
            number = self.refuse(call, name, self.counts[call, name])
            inode = 0 if call == "replace" else os.fstat(target).st_ino
            with self._lock:
                pending = self._dirty.pop(inode, []) if "sync" in call else []
            if number:
                if call == "close":  # the descriptor is gone all the same
                    self._originals[call](target)
                raise OSError(number, os.strerror(number))
            result = self._originals[call](target, *more, **named)
            if name == "journal.jsonl":
                self._note(call, inode, target, more, result)
                self._apply(inode, pending)
            return result

        return wrapped

    def _note(self, call: str, inode: int, fd: int, more: tuple[Any, ...], result: Any) -> None:
        changes = {
            "write": lambda: (os.lseek(fd, 0, os.SEEK_CUR) - result, bytes(more[0][:result])),
            "pwrite": lambda: (more[1], bytes(more[0][:result])),
            "ftruncate": lambda: (more[0], None),
        }
        if call in changes:
            change = changes[call]()
            with self._lock:  # a sync of another thread must not take the list away between two steps
                self._dirty.setdefault(inode, []).append(change)

    def _apply(self, inode: int, changes: list[tuple[int, bytes | None]]) -> None:
        image = self._durable.setdefault(inode, bytearray())
        for place, data in changes:
            if data is None:
                del image[place:]
                continue
            image.extend(b"\0" * (place - len(image)))
            image[place : place + len(data)] = data


def times(call: str, name: str, first: int, last: int, number: int = errno.EIO) -> Refuse:
    """Refuse the calls from the first to the last of these, counted from 1."""
    return lambda this, of, count: number if (this, of) == (call, name) and first <= count <= last else 0
