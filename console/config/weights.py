"""Location and digests of the pulled weights of the local embedding model.

Locating them opens no file and imports nothing large.
"""

from functools import lru_cache
from pathlib import Path

from console.config.paths import find_data_roots
from console.core.weights import PUBLISHED, VOCABULARY, WEIGHTS

LOCAL_EMBEDDING = "local/minilm"
"""Name of the local embedding model; its numbers are not comparable with published ones."""
FOLDER = "minilm"
"""Folder inside the pulled data."""


def find_weights(data: Path | str | None = None) -> Path | None:
    """Return the folder with weights and vocabulary, or None if they were not pulled."""
    roots = find_data_roots(data)
    folders = [root / FOLDER for root in (*roots.user, roots.pulled)]
    return next(
        (folder for folder in folders if (folder / WEIGHTS).is_file() and (folder / VOCABULARY).is_file()), None
    )


def digests_of(folder: Path) -> dict[str, str]:
    """Return the sha256 of weights and vocabulary, by file; takes about 0.2 s the first time.

    Raises:
        OSError: a file cannot be read.
    """
    statuses = {name: (folder / name).stat() for name in PUBLISHED}
    return {name: _digest(folder / name, status.st_size, status.st_mtime_ns) for name, status in statuses.items()}


@lru_cache(maxsize=8)
def _digest(path: Path, size: int, modified_ns: int) -> str:
    del size, modified_ns  # part of the cache key: a changed file has other values
    with path.open("rb") as file:
        import hashlib  # imported late: listing models does not need it

        return hashlib.file_digest(file, "sha256").hexdigest()
