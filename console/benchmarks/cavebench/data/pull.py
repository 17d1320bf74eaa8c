"""Downloads the published cave-bench scenarios: the last working revision, pinned, or a local checkout.

Only the scenario folders are taken, not the project's engine, and nothing runs. The scenario files are read once before
the new folder replaces an old one.
"""

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from console.benchmarks.cavebench.data.dataset import read_scenarios
from console.core.fault import UsageError
from console.suites.archive import tree_sha256, unpack_zip
from console.suites.pull import Pin, Pull

NAME = "cavebench"
REVISION = "a074e6a999ef34ca00c53301a587834980e47d41"
"""Commit of 13 January 2026, the last working one; its license is MIT."""
OFFICIAL_TREE = "ab4e4152c820cd295a7c0ce2bf114103140c20c4f6f138289987eda1e861bef2"
"""Digest of the kept files of that commit."""

_ADDRESS = f"https://github.com/acodercat/cave-bench/archive/{REVISION}.zip"
_TIMEOUT_S = 60
_MOST_BYTES = 64 << 20
_ROOTS = ("evals", "benchmarks")
_HINT = "Check the network, or get the cave-bench repository elsewhere and give its folder with --from PATH."


def pull(request: Pull) -> Path:
    """Get the scenarios, by download or from a checkout, and return their folder.

    Raises:
        UsageError: no network, not a cave-bench checkout, another revision, damaged scenarios, or an unwritable folder.
    """
    return request.into(NAME, lambda new_folder, scratch: _fill(new_folder, scratch, request))


def _fill(new_folder: Path, scratch: Path, request: Pull) -> None:
    _copy(request.from_path or _download(scratch, request.notify), new_folder)
    _describe(new_folder, request)


def _download(scratch: Path, notify: Callable[[str], object]) -> Path:
    notify(f"fetching cave-bench {REVISION[:7]}")
    archive = scratch / "cave-bench.zip"
    try:
        with urllib.request.urlopen(_ADDRESS, timeout=_TIMEOUT_S) as answer:
            content = answer.read(_MOST_BYTES + 1)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise UsageError(f"cave-bench cannot be fetched: {error}", hint=_HINT) from None
    if len(content) > _MOST_BYTES:
        raise UsageError("the download is too large to be cave-bench", hint=_HINT)
    archive.write_bytes(content)
    unpacked = scratch / "unpacked"
    unpack_zip(archive, unpacked, lambda name: _is_kept(PurePosixPath(*PurePosixPath(name).parts[1:])))
    return next((folder for folder in unpacked.glob("*") if folder.is_dir()), unpacked)


def _copy(source: Path, new_folder: Path) -> None:
    """Copy the kept files of a checkout.

    Raises:
        UsageError: it has none.
    """
    names = list(_kept_files(source))
    if not names:
        raise UsageError(
            "contains neither evals/ nor benchmarks/ with scenarios",
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


def _describe(new_folder: Path, request: Pull) -> None:
    """Read the scenarios, then write the `suite.toml` that makes the folder a suite.

    Raises:
        UsageError: another revision, or a damaged scenario file.
    """
    tree = tree_sha256(new_folder)
    pinned = request.is_pinned([Pin(f"the files of cave-bench {REVISION[:7]}", tree, OFFICIAL_TREE)])
    scenarios = read_scenarios(new_folder)
    conversations = [conversation for scenario in scenarios for conversation in scenario.conversations]
    turns = sum(len(conversation["turns"]) for conversation in conversations)
    request.notify(f"{len(scenarios)} scenarios, {len(conversations)} conversations, {turns} turns")
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
