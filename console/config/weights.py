"""Where the pulled weights of the local embedding are, and which they are.

Looking for them reads nothing and imports nothing large.
"""

from functools import lru_cache
from pathlib import Path

from console.config.paths import find_data_roots
from console.core.weights import PUBLISHED, VOCABULARY, WEIGHTS

LOCAL_EMBEDDING = "local/minilm"
"""Name of the model that they make; its numbers are not comparable with published ones."""
FOLDER = "minilm"
"""Folder among the pulled data."""


def find_weights(data: Path | str | None = None) -> Path | None:
    """Return the folder with weights and vocabulary, or None when they are not pulled."""
    roots = find_data_roots(data)
    folders = [root / FOLDER for root in (*roots.user, roots.pulled)]
    return next(
        (folder for folder in folders if (folder / WEIGHTS).is_file() and (folder / VOCABULARY).is_file()), None
    )


def digests_of(folder: Path) -> dict[str, str]:
    """Return the sha256 of weights and vocabulary, by file; about 0.2 s the first time.

    Raises:
        OSError: one cannot be read.
    """
    statuses = {name: (folder / name).stat() for name in PUBLISHED}
    return {name: _digest(folder / name, status.st_size, status.st_mtime_ns) for name, status in statuses.items()}


@lru_cache(maxsize=8)
def _digest(path: Path, size: int, modified_ns: int) -> str:
    del size, modified_ns  # another file has others
    with path.open("rb") as file:
        import hashlib  # here, as models are listed without it

        return hashlib.file_digest(file, "sha256").hexdigest()
