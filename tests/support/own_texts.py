"""Fixed texts of our own in place of those of the official release, for templates that are tried without it."""

from pathlib import Path

from console.benchmarks.bfcl.models.templates.release_texts import ReleaseTexts

MOST = 80
"""More texts than any template takes."""


class OwnTexts(ReleaseTexts):
    """Says where a text belongs, instead of the text, and leaves room for functions."""

    def __init__(self, package: Path | None = None, folder: str = "") -> None:
        super().__init__(package, folder)

    def of(self, module: str, place: str) -> tuple[str, ...]:
        return tuple(f"({module} {number}: {{functions_str}})" for number in range(MOST))
