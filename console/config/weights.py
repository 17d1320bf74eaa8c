"""Where the pulled weights of the local embedding are; looking for them reads nothing and imports nothing large."""

from pathlib import Path

from console.config.paths import find_data_roots

LOCAL_EMBEDDING = "local/minilm"
"""Name of the model that they make; its numbers are not comparable with published ones."""
FOLDER = "minilm"
"""Folder among the pulled data."""
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"


def find_weights(data: Path | str | None = None) -> Path | None:
    """Return the folder with weights and vocabulary, or None when they are not pulled."""
    roots = find_data_roots(data)
    folders = [root / FOLDER for root in (*roots.user, roots.pulled)]
    return next(
        (folder for folder in folders if (folder / WEIGHTS).is_file() and (folder / VOCABULARY).is_file()), None
    )
