"""File systems of a test's own, seen by one process only: a small one that fills up, one that cannot be written."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest


@functools.cache
def _prefix() -> tuple[str, ...]:
    if shutil.which("unshare") is None:
        return ()
    flags = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-Urm")
    probe = [*flags, "sh", "-c", "mount -t tmpfs none /mnt"]
    return flags if subprocess.run(probe, capture_output=True, check=False).returncode == 0 else ()


def on_small_disk(folder: Path, size_kb: int, ballast_kb: int, command: list[str]) -> list[str]:
    """Return a command line that sees a small file system at `folder`, with a file `ballast` in it.

    When the command has ended, what it left there is copied to `kept` beside the folder.
    """
    mount = f"mount -t tmpfs -o size={size_kb}k none '{folder}' && head -c {ballast_kb}k /dev/zero > '{folder}/ballast'"
    return _mounted(f"{mount} && {{ \"$@\"; code=$?; cp -r '{folder}' '{folder.parent}/kept'; exit $code; }}", command)


def on_read_only_disk(folder: Path, command: list[str]) -> list[str]:
    """Return a command line for which `folder` is mounted read-only."""
    return _mounted(
        f"mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}' && exec \"$@\"", command
    )


def _mounted(script: str, command: list[str]) -> list[str]:
    if not _prefix():
        pytest.skip("mounting needs root or user namespaces")
    return [*_prefix(), "sh", "-c", script, "sh", *command]


def seen_by(pid: int, path: Path) -> Path:
    """Return a path as a process sees it."""
    return Path(f"/proc/{pid}/root{path}")
