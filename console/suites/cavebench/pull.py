"""Getting the published cave-bench scenarios: the last revision that runs, pinned, or a checkout you have.

Takes the scenario folders only; nothing of it runs here, and the project's own engine is not taken. The new folder
replaces an old one when it is complete and its scenario files have been read.
"""

import json
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from console.core.fault import UsageError
from console.suites.archive import tree_sha256, unpack_zip
from console.suites.cavebench.dataset import read_scenarios

NAME = "cavebench"
REVISION = "a074e6a999ef34ca00c53301a587834980e47d41"
"""Commit of 13 January 2026, the last one that runs; its licence is MIT."""
OFFICIAL_TREE = "ab4e4152c820cd295a7c0ce2bf114103140c20c4f6f138289987eda1e861bef2"
"""Digest of the files kept of that commit."""

_ADDRESS = f"https://github.com/acodercat/cave-bench/archive/{REVISION}.zip"
_TIMEOUT_S = 60
_MOST_BYTES = 64 << 20
_ROOTS = ("evals", "benchmarks")
_HINT = "Check the network, or get the cave-bench repository elsewhere and give its folder with --from PATH."


def pull(target_root: Path, from_path: Path | None = None, say: Callable[[str], object] = print) -> Path:
    """Bring the scenarios below `target_root` and return their folder.

    Args:
        target_root: the root for pulled data; the folder `cavebench` in it is replaced.
        from_path: a checkout of any published revision, instead of a download.
        say: takes progress lines for the reader.

    Raises:
        UsageError: no network, no checkout of cave-bench, damaged scenarios, or an unwritable folder.
    """
    try:
        target_root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target_root) as scratch:
            scratch_folder = Path(scratch)
            source = from_path if from_path is not None else _download(scratch_folder, say)
            new_folder = scratch_folder / NAME
            _copy(source, new_folder)
            _describe(new_folder, say)
            return _replace(new_folder, target_root / NAME, scratch_folder)
    except OSError as error:
        where = str(error.filename or target_root)
        raise UsageError(f"cannot be written: {error.strerror}", where=where, hint="Choose with --data.") from error


def _download(scratch: Path, say: Callable[[str], object]) -> Path:
    say(f"fetching cave-bench {REVISION[:7]}")
    archive = scratch / "cave-bench.zip"
    try:
        with urllib.request.urlopen(_ADDRESS, timeout=_TIMEOUT_S) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise UsageError(f"cave-bench cannot be fetched: {error}", hint=_HINT) from None
    if len(content) > _MOST_BYTES:
        raise UsageError("what was fetched is far too large to be cave-bench", hint=_HINT)
    archive.write_bytes(content)
    unpacked = scratch / "unpacked"
    unpack_zip(archive, unpacked, lambda name: _is_kept(PurePosixPath(*PurePosixPath(name).parts[1:])))
    return next((folder for folder in unpacked.glob("*") if folder.is_dir()), unpacked)


def _copy(source: Path, new_folder: Path) -> None:
    """Copy the kept files of a checkout.

    Raises:
        UsageError: there are none.
    """
    names = list(_kept_files(source))
    if not names:
        raise UsageError(
            "holds neither evals/ nor benchmarks/ with scenarios",
            where=str(source),
            hint="Name the folder of a cave-bench checkout.",
        )
    for name in names:
        (new_folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, new_folder / name)


def _kept_files(source: Path) -> Iterator[Path]:
    for root in _ROOTS:
        for path in sorted((source / root).rglob("*")):
            name = path.relative_to(source)
            if path.is_file() and not path.is_symlink() and _is_kept(PurePosixPath(name.as_posix())):
                yield name


def _is_kept(name: PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__pycache__")) for part in name.parts)
    return bool(name.parts) and name.parts[0] in _ROOTS and not hidden and name.suffix not in (".pyc", "")


def _describe(new_folder: Path, say: Callable[[str], object]) -> None:
    """Read the scenarios once, then write the `suite.toml` that makes the folder visible.

    Raises:
        UsageError: a scenario file is damaged.
    """
    tree = tree_sha256(new_folder)
    pinned = tree == OFFICIAL_TREE
    if not pinned:
        say("these files are not those of the pinned revision")
    scenarios = read_scenarios(new_folder)
    conversations = [conversation for scenario in scenarios for conversation in scenario.conversations]
    turns = sum(len(conversation["turns"]) for conversation in conversations)
    say(f"{len(scenarios)} scenarios, {len(conversations)} conversations, {turns} turns")
    source = {"name": "cave-bench", "version": REVISION if pinned else "unknown", "digest": tree, "licence": "MIT"}
    lines = [
        'format = "cavebench"',
        f"title = {json.dumps('cave-bench' if pinned else 'cave-bench (another revision)')}",
        'origin = "pulled"',
        "comparable = false",  # prompts are those of a newer cave-agent than the published runs had
        "",
        "[source]",
        *(f"{key} = {json.dumps(value)}" for key, value in source.items()),
    ]
    (new_folder / "suite.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


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
