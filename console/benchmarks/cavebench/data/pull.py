"""Downloads the published cave-bench scenarios: the last working revision, pinned, or a local checkout.

Only the scenario folders are taken, not the project's engine, and nothing runs. The scenario files are read once before
the new folder replaces an old one.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from console.benchmarks.cavebench.data.dataset import read_scenarios
from console.core.fault import UsageError
from console.suites.archive import tree_sha256, unpack_zip
from console.suites.pull import Pin, Pull, copy_files, fetch_file, write_suite_toml

NAME = "cavebench"
REVISION = "a074e6a999ef34ca00c53301a587834980e47d41"
"""Commit of 13 January 2026, the last working one; its license is MIT."""
OFFICIAL_TREE = "ab4e4152c820cd295a7c0ce2bf114103140c20c4f6f138289987eda1e861bef2"
"""Digest of the kept files of that commit."""

_ADDRESS = f"https://github.com/acodercat/cave-bench/archive/{REVISION}.zip"
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
    archive.write_bytes(fetch_file(_ADDRESS, _HINT))
    unpacked = scratch / "unpacked"
    unpack_zip(archive, unpacked, lambda name: _is_kept(PurePosixPath(*PurePosixPath(name).parts[1:])))
    return next((folder for folder in unpacked.glob("*") if folder.is_dir()), unpacked)


def _copy(source: Path, new_folder: Path) -> None:
    """Copy the kept files of a checkout."""
    if not copy_files(source, new_folder, lambda path: _is_kept(PurePosixPath(path.as_posix()))):
        raise UsageError(
            "contains neither evals/ nor benchmarks/ with scenarios",
            where=str(source),
            hint="Name the folder of a cave-bench checkout.",
        )


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
    title = "cave-bench" if pinned else "cave-bench (another revision)"
    # prompts are those of a newer cave-agent than the published runs had
    write_suite_toml(new_folder, NAME, title, source, comparable=False)
