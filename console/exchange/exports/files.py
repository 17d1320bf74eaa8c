"""Writing the files of exports and comparisons."""

from pathlib import Path

from console.core.fault import UsageError
from console.store.atomic import write_atomically


def write_file(path: Path, data: bytes) -> None:
    """Replace a file, its folder made when needed; places that a person names go through `require_folder` before.

    Raises:
        UsageError: it cannot be written; says why.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(path), hint="Choose another file with -o."
        ) from None


def require_folder(path: Path) -> None:
    """Refuse a place in a folder that does not exist: a mistyped path would scatter files.

    Raises:
        UsageError: the folder is missing.
    """
    if not path.absolute().parent.is_dir():
        raise UsageError(
            "is in a folder that does not exist", where=str(path), hint="Make the folder, or name another place."
        )
