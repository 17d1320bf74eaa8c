"""Download of the data: the wheel of inspect_evals, pinned, or a checkout of tau2-bench.

The two are editions, kept in one folder. Sources are kept for the wording of tools and prompts; none
of them runs. `suite.toml`, which makes the folder visible to the catalog, is written last.
"""

import shutil
import tarfile
from pathlib import Path

from console.benchmarks.tau2.data.editions import CHECKOUT, DOMAINS, WHEEL, editions
from console.core.fault import UsageError, reason_of
from console.suites.archive import ArchiveLimits, tree_sha256, unpack_tar, unpack_zip, unpacked_pieces
from console.suites.pull import Pin, Pull, copy_files, write_suite_toml
from console.suites.wheel import Wheel, find_wheel

OFFICIAL = Wheel("inspect_evals", "0.26.0", "b76d15813182807da141a0f06bb6f18a5f82d1f06291ec2633bb84cdf661f8d0")
"""The wheel with tasks of 0.2.0; license: MIT."""
WHEEL_TREE = "d130a04cd3771878ab088c0996c5e4ddb778d0a9d53eda66a40e5331d36de9ab"
CHECKOUT_TREE = "30425987a12bb6c1326622aa315467eeb475efde36a6748311bba4c255cdf5f3"
"""Digests of the kept data files of the wheel, and of the tag v1.0.1."""
NAME = "tau2"

_PACKAGE = "inspect_evals/tau2/"
_DOMAINS = (*DOMAINS, "mock")
_DATA_FOLDERS = (*(f"domains/{name}" for name in _DOMAINS), "user_simulator")
_UNUSED = ("tasks_full.json", "audio_difficulty.json")
_UNUSED_PARTS = ("_voice", "task_issues", "workflows")
_WHEEL_SOURCES = {name: name for name in (*DOMAINS, "common")}
_CHECKOUT_SOURCES = {**{f"domains/{name}": name for name in _DOMAINS}, "agent": ".", "evaluator": "."}
"""Folders with wording of tools and prompts, and their paths in ours."""
_SUFFIXES = (".json", ".gz", ".toml", ".txt", ".md")
_LIMITS = ArchiveLimits(member_bytes=256 << 20, total_bytes=2 << 30)
"""Limits of a packed checkout."""


def pull(request: Pull) -> Path:
    """Install the data from pip, a wheel, or a checkout, and return their folder.

    Raises:
        UsageError: no pip, no network, a digest mismatch, neither a wheel nor a checkout, or an unwritable folder.
    """
    return request.into(NAME, lambda new_folder, scratch: _fill(new_folder, scratch, request))


def _fill(new_folder: Path, scratch: Path, request: Pull) -> None:
    for edition in editions(request.root / NAME).values():
        shutil.copytree(edition.folder, new_folder / edition.name)
    source = request.from_path
    if source is None or source.suffix == ".whl":
        wheel = find_wheel(OFFICIAL, scratch, request)
        request.notify(f"unpacking {wheel.name}")
        unpack_zip(wheel, scratch / "wheel", _is_in_wheel)
        root, name, parts = scratch / "wheel" / _PACKAGE, WHEEL, _WHEEL_SOURCES
        data, sources = root / "data", root
    else:
        root, name, parts = _unpacked(source, scratch), CHECKOUT, _CHECKOUT_SOURCES
        data, sources = _data_of(root), root / "src" / "tau2"
    target = new_folder / name
    shutil.rmtree(target, ignore_errors=True)
    for part in _DATA_FOLDERS:
        copy_files(data / part, target / part, _is_data)
    pin = Pin(f"the data of edition {name}", tree_sha256(target), WHEEL_TREE if name == WHEEL else CHECKOUT_TREE)
    is_official = request.is_pinned([pin])
    (target / "official").write_text("true" if is_official else "false", encoding="utf-8")
    for part, place in parts.items():
        copy_files(sources / part, target / "sources" / place, lambda path: path.suffix == ".py")
    if name == CHECKOUT and not (target / "sources").exists():
        request.notify("the folder has no sources: wording of tools and prompts is that of the wheel (pull tau2)")
    _describe(new_folder)


def _unpacked(source: Path, scratch: Path) -> Path:
    if source.is_dir():
        return source
    target = scratch / "checkout"
    target.mkdir()
    try:
        unpack_tar(unpacked_pieces(source, _LIMITS.total_bytes), target, _LIMITS, _is_wanted)
    except (UsageError, OSError) as error:
        raise UsageError(
            f"neither a wheel, a checkout nor a tar archive of one: {reason_of(error)}",
            where=str(source),
            hint="Name the folder of a tau2-bench checkout.",
        ) from error
    inner = [path for path in target.iterdir() if path.is_dir()]
    return inner[0] if len(inner) == 1 and inner[0].name not in ("data", "tau2") else target


def _is_wanted(member: tarfile.TarInfo) -> bool:
    return member.isfile() and Path(member.name).suffix in (*_SUFFIXES, ".py")


def _data_of(root: Path) -> Path:
    """Return the folder with `domains` of a checkout, its `data` or `data/tau2`."""
    for folder in (root / "data" / "tau2", root / "tau2", root):
        if (folder / "domains" / "airline" / "tasks.json").exists():
            return folder
    raise UsageError(
        "contains no data/tau2/domains", where=str(root), hint="Name the folder of a tau2-bench checkout, tag v1.0.1."
    )


def _is_in_wheel(name: str) -> bool:
    path = Path(name)
    return name.startswith(_PACKAGE) and (path.suffix == ".py" or _is_data(path))


def _is_data(path: Path) -> bool:
    is_unused = path.name in _UNUSED or any(part in path.as_posix() for part in _UNUSED_PARTS)
    return path.suffix in _SUFFIXES and not is_unused


def _describe(folder: Path) -> None:
    pulled = editions(folder)
    newest = next(iter(pulled))
    is_official = (folder / newest / "official").read_text(encoding="utf-8") == "true"
    source = {
        "name": "tau2-bench",
        "version": newest if is_official else "unknown",
        "digest": tree_sha256(folder / newest, without=("official",)),
        "licence": "MIT, (c) 2025 Sierra Research",
    }
    title = f"tau2-bench, edition {newest}" + ("" if is_official else " (changed files)")
    is_comparable = newest == CHECKOUT and is_official and (folder / newest / "sources").exists()
    write_suite_toml(folder, NAME, title, source, comparable=is_comparable)
