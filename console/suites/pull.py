"""Pulling official data: one rule for what is taken, and one way of putting it into its place, for every source.

Only files with the pinned digest are taken. A reader who means others says so (`--accept-digest`): they are kept, said
and never called comparable. A new folder replaces an old one only when it is complete.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.core.fault import UsageError


@dataclass(frozen=True, slots=True)
class Pin:
    """Something that was brought, and the digest it must have."""

    name: str
    """What it is, such as `the files of bfcl-eval==2026.3.23`."""
    digest: str
    """Hex digits of its own digest."""
    pinned: str
    """As many digits of the digest that the rules of this project are verified against."""


@dataclass(frozen=True, slots=True)
class Pull:
    """One request to bring data."""

    root: Path
    """The root for pulled data; the source's folder in it is replaced."""
    notify: Callable[[str], object]
    """Takes progress lines for the reader."""
    from_path: Path | None = None
    """A file or folder that the reader has, instead of a download."""
    accepts_digest: bool = False
    """Whether files with other digests than the pinned ones are taken, too."""

    def is_pinned(self, pins: Sequence[Pin]) -> bool:
        """Whether all of this is what is pinned.

        Raises:
            UsageError: it is not, and the reader has not said that others are meant; names both digests of each.
        """
        others = [pin for pin in pins if pin.digest != pin.pinned]
        texts = [f"{pin.name}: sha256 {pin.digest}, pinned is {pin.pinned}" for pin in others]
        if others and not self.accepts_digest:
            raise UsageError(
                "not what is pinned: " + "; ".join(texts),
                where=str(self.from_path or "the download"),
                hint="Nothing was taken. Get the pinned release (a damaged download: try again), or, if you mean these "
                "files, add --accept-digest: they are kept and never called comparable.",
            )
        for text in texts:
            self.notify(f"accepted though not pinned: {text}")
        return not others

    def into(self, name: str, fill: Callable[[Path, Path], None]) -> Path:
        """Fill a new folder, put it in place of the old one when that is done, and return where it is.

        Args:
            name: of the folder below the root.
            fill: given the new folder and a scratch folder beside it.

        Raises:
            UsageError: whatever `fill` refuses, and a root that cannot be written; the old folder is left alone then.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".pull-", dir=self.root) as scratch:
                new_folder = Path(scratch) / name
                new_folder.mkdir()
                fill(new_folder, Path(scratch))
                return _replace(new_folder, self.root / name, Path(scratch))
        except OSError as error:
            where = str(error.filename or self.root)
            raise UsageError(f"cannot be written: {error.strerror}", where=where, hint="Choose with --data.") from error


def _replace(new_folder: Path, target: Path, scratch: Path) -> Path:
    old_folder = scratch / "old"
    if target.exists():
        target.rename(old_folder)
    try:
        return new_folder.rename(target)
    except OSError:
        if old_folder.exists():
            old_folder.rename(target)
        raise
