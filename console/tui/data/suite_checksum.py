"""What the files of a suite add up to, and whether that is what they were when they were pulled."""

from dataclasses import dataclass

from console.tui.data.catalog_items import SuiteLine


@dataclass(frozen=True, slots=True)
class Checksum:
    """Digests of a suite's files."""

    digest: str = ""
    """sha256 over names and contents; empty while it is worked out."""
    expected: str = ""
    """What it was when the data was pulled; empty when nobody wrote it down."""

    @property
    def is_changed(self) -> bool:
        """Whether the files are known to differ from what was pulled."""
        return bool(self.digest and self.expected) and self.digest != self.expected


def read_checksum(line: SuiteLine) -> Checksum | None:
    """Read all files of a suite; None if its folder went away meanwhile."""
    from console.suites.archive import tree_sha256

    expected = line.entry.source.get("digest", "") if line.entry.origin == "pulled" else ""
    try:
        return Checksum(tree_sha256(line.entry.folder, without=("suite.toml",)), expected)
    except OSError:
        return None
