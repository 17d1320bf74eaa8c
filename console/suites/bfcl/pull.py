"""Getting the official BFCL v4 data: the pinned wheel, unpacked below the data folder, never committed.

Takes the datasets, the simulators and the two modules whose literals hold the official wording. Nothing of it runs
here. The new folder replaces an old one only when it is complete, and `suite.toml`, which makes it visible to the
catalogue, is written last.
"""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from console.core.fault import UsageError
from console.suites.archive import tree_sha256, unpack_zip
from console.suites.wheel import Wheel, check_wheel, fetch_wheel

OFFICIAL = Wheel("bfcl-eval", "2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a")
"""The release that the scoring rules of this project are verified against; its licence is Apache-2.0."""
OFFICIAL_TREE = "f1fe29c34699f305c591f4c8dc63f20cef7c567d96478b6c85dbdd2152b80ed6"
"""Digest of the files kept of that release, for folders that were unpacked elsewhere."""
NAME = "bfcl"

_PACKAGE = "bfcl_eval"
_KEPT_FILES = frozenset(
    f"{_PACKAGE}/{name}"
    for name in (
        "__init__.py",
        "utils.py",
        "constants/__init__.py",
        "constants/default_prompts.py",
        "constants/column_headers.py",
        "eval_checker/__init__.py",
        "eval_checker/multi_turn_eval/__init__.py",
    )
)
_DATA = f"{_PACKAGE}/data/"
_UNUSED = f"{_PACKAGE}/data/unused_datasets/"
_SIMULATORS = f"{_PACKAGE}/eval_checker/multi_turn_eval/func_source_code/"


def pull(target_root: Path, from_path: Path | None = None, say: Callable[[str], object] = print) -> Path:
    """Bring the official data below `target_root` and return its folder.

    Args:
        target_root: the root for pulled data; the folder `bfcl` in it is replaced.
        from_path: a wheel, or a folder that holds `bfcl_eval/`, instead of a download.
        say: takes progress lines for the reader.

    Raises:
        UsageError: no pip, no network, another release, an unsafe archive, or a folder that cannot be written.
    """
    try:
        target_root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target_root) as scratch:
            new_folder = Path(scratch) / NAME
            new_folder.mkdir()
            _fill(new_folder, Path(scratch), from_path, say)
            return _replace(new_folder, target_root / NAME, Path(scratch))
    except OSError as error:
        where = str(error.filename or target_root)
        raise UsageError(f"cannot be written: {error.strerror}", where=where, hint="Choose with --data.") from error


def _fill(new_folder: Path, scratch: Path, from_path: Path | None, say: Callable[[str], object]) -> None:
    if from_path is not None and from_path.is_dir():
        _copy_tree(from_path, new_folder)
    else:
        wheel = fetch_wheel(OFFICIAL, scratch, say) if from_path is None else check_wheel(OFFICIAL, from_path)
        say(f"unpacking {wheel.name}")
        unpack_zip(wheel, new_folder, _is_kept)
    tree = tree_sha256(new_folder)
    official = tree == OFFICIAL_TREE
    if not official:
        say(f"these files are not those of {OFFICIAL.requirement}: results will not be called comparable")
    (new_folder / "suite.toml").write_text(_suite_toml(tree, official=official), encoding="utf-8")


def _is_kept(name: str) -> bool:
    if name in _KEPT_FILES:
        return True
    if name.startswith(_DATA):
        return not name.startswith(_UNUSED)
    return name.startswith(_SIMULATORS) and name.endswith(".py")


def _copy_tree(source: Path, new_folder: Path) -> None:
    root = next(
        (folder for folder in (source, source / "berkeley-function-call-leaderboard") if _has_data(folder)), None
    )
    if root is None:
        raise UsageError(f"holds no {_PACKAGE}/data", where=str(source), hint="Name the folder that holds bfcl_eval.")
    for path in sorted((root / _PACKAGE).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and _is_kept(name):
            (new_folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, new_folder / name)


def _has_data(folder: Path) -> bool:
    return (folder / _PACKAGE / "data").is_dir()


def _replace(new_folder: Path, target: Path, scratch: Path) -> Path:
    old_folder = scratch / "old"
    if target.exists():
        target.rename(old_folder)
    try:
        return new_folder.rename(target)
    except OSError:
        if old_folder.exists():
            old_folder.rename(target)
        raise


def _suite_toml(tree: str, *, official: bool) -> str:
    source = {
        "name": _PACKAGE,
        "version": OFFICIAL.version if official else "unknown",
        "digest": tree,
        "licence": "Apache-2.0",
    }
    if official:
        source["sha256"] = OFFICIAL.sha256
    lines = [
        'format = "bfcl"',
        f"title = {json.dumps('BFCL v4' if official else 'BFCL v4 (changed files)')}",
        'origin = "pulled"',
        f"comparable = {json.dumps(official)}",
        f'data = "{_PACKAGE}/data"',
        f'wording = "{_PACKAGE}"',
        f'simulators = "{_SIMULATORS.rstrip("/")}"',
        "",
        "[source]",
        *(f"{key} = {json.dumps(value)}" for key, value in source.items()),
    ]
    return "\n".join(lines) + "\n"
