"""Shortens paths for display: from the folder that the app was started in, or from home, rather than from the root."""

from pathlib import Path


def display_path(path: Path | str) -> str:
    """Return a path relative to the current folder if it lies below it, else with `~` for home, else whole."""
    full = Path(path)
    for base, sign in ((Path.cwd(), ""), (Path.home(), "~/")):
        if full.is_absolute() and full.is_relative_to(base):
            return f"{sign}{full.relative_to(base)}"
    return str(full)
