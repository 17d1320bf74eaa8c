"""Paths as a reader sees them: from the folder that the app was started in, or from home, rather than from the root."""

from pathlib import Path


def nearby(path: Path | str) -> str:
    """Return a path relative to the current folder if it lies below it, else with `~` for home, else whole."""
    found = Path(path)
    for base, sign in ((Path.cwd(), ""), (Path.home(), "~/")):
        if found.is_absolute() and found.is_relative_to(base):
            return f"{sign}{found.relative_to(base)}"
    return str(found)
