"""Download of the official BFCL v4 data from the pinned wheel to the data folder.

Keeps the datasets, the simulators and the modules with the official prompt texts; no code runs here. `suite.toml`,
which makes the folder visible to the catalog, is written last.
"""

from pathlib import Path

from console.core.fault import UsageError
from console.suites.archive import tree_sha256, unpack_zip
from console.suites.pull import Pin, Pull, copy_files, write_suite_toml
from console.suites.wheel import Wheel, find_wheel

OFFICIAL = Wheel("bfcl-eval", "2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a")
"""Release against which this project's scoring rules are verified; its license is Apache-2.0."""
OFFICIAL_TREE = "7267acf526022a1c51660684d21ed5138bed44b55c33bf92a95701163eac8e16"
"""Digest of the kept files of that release, for already unpacked folders."""
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
        "model_handler/api_inference/mining.py",
        "model_handler/api_inference/nemotron.py",
    )
)
_DATA = f"{_PACKAGE}/data/"
_UNUSED = f"{_PACKAGE}/data/unused_datasets/"
_HANDLERS = f"{_PACKAGE}/model_handler/local_inference/"
"""Modules with literal prompt texts; they never run."""
_SIMULATORS = f"{_PACKAGE}/eval_checker/multi_turn_eval/func_source_code/"


def pull(request: Pull) -> Path:
    """Install the official data from pip, a wheel or a folder with `bfcl_eval/`, and return their folder.

    Raises:
        UsageError: no pip, no network, a digest mismatch, an unsafe archive, or an unwritable folder.
    """
    return request.into(NAME, lambda new_folder, scratch: _fill(new_folder, scratch, request))


def _fill(new_folder: Path, scratch: Path, request: Pull) -> None:
    if request.from_path is not None and request.from_path.is_dir():
        _copy_tree(request.from_path, new_folder)
    else:
        wheel = find_wheel(OFFICIAL, scratch, request)
        request.notify(f"unpacking {wheel.name}")
        unpack_zip(wheel, new_folder, _is_kept)
    tree = tree_sha256(new_folder)
    is_official = request.is_pinned([Pin(f"the files of {OFFICIAL.requirement}", tree, OFFICIAL_TREE)])
    source = {
        "name": _PACKAGE,
        "version": OFFICIAL.version if is_official else "unknown",
        "digest": tree,
        "licence": "Apache-2.0",
        **({"sha256": OFFICIAL.sha256} if is_official else {}),
    }
    paths = {"data": f"{_PACKAGE}/data", "wording": _PACKAGE, "simulators": _SIMULATORS.rstrip("/")}
    title = "BFCL v4" if is_official else "BFCL v4 (changed files)"
    write_suite_toml(new_folder, NAME, title, source, comparable=is_official, settings=paths)


def _is_kept(name: str) -> bool:
    if name in _KEPT_FILES:
        return True
    if name.startswith(_DATA):
        return not name.startswith(_UNUSED)
    return name.startswith((_SIMULATORS, _HANDLERS)) and name.endswith(".py")


def _copy_tree(source: Path, new_folder: Path) -> None:
    root = next(
        (folder for folder in (source, source / "berkeley-function-call-leaderboard") if _has_data(folder)), None
    )
    if root is None:
        raise UsageError(f"has no {_PACKAGE}/data", where=str(source), hint="Name the folder that contains bfcl_eval.")
    copy_files(root, new_folder, lambda path: _is_kept(path.as_posix()))


def _has_data(folder: Path) -> bool:
    return (folder / _PACKAGE / "data").is_dir()
