"""Writing the files of exports and comparisons."""

from pathlib import Path

from console.core.fault import UsageError, os_errors_as
from console.store.atomic import write_atomically


def write_file(path: Path, data: bytes) -> None:
    """Write or replace a file, creating its folder; check user-supplied paths with `require_folder` first.

    A link, a device or a pipe is written to, never replaced.

    Raises:
        UsageError: it cannot be written.
    """
    with os_errors_as("cannot be written", where=path, hint="Choose another file with -o."):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(data)
        else:
            write_atomically(path, data)


def require_folder(path: Path) -> None:
    """Reject a path in a missing folder, because a mistyped path would scatter files.

    Raises:
        UsageError: the folder is missing.
    """
    if not path.absolute().parent.is_dir():
        raise UsageError(
            "is in a folder that does not exist", where=str(path), hint="Create the folder, or name another path."
        )
