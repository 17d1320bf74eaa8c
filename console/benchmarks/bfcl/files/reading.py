"""Decoding of the answers in a result folder, never guessed from their content.

The decoding is that of the registry model that the folder is named after, or else that of the mark in our own result
lines. Without either, the user must specify it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from console.benchmarks.bfcl.files.layout import MARK, Line
from console.benchmarks.bfcl.models.decoding import (
    family_of,
    find_setting,
    profile_setting,
    reading_of,
    sent_underscored,
)
from console.benchmarks.bfcl.models.profile import profile_of_folder, profiles
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.suggestion import nearest_names


@dataclass(frozen=True, slots=True)
class Reading:
    """The user's specification of the decoding."""

    handler: str | None = None
    """A registry name, an official class or a decode family."""
    mode: str | None = None
    """`fc` or `prompt`: the generic formats of our own runs."""
    names: frozenset[str] = frozenset()
    """Folders whose decoding it overrides; for other folders it is only a fallback."""
    row_of: Callable[[str], str | None] = lambda folder: None
    """Returns the registry name that models.toml gives for a folder's model, if any."""

    def setting(self, folder: str, lines: Sequence[Line], where: Path) -> Setting:
        """Return the setting that decodes the lines of a model's results, which are in the file or folder `where`.

        Raises:
            UsageError: unspecified decoding, conflicting marks or an unknown name; suggests one.
        """
        explicit = self._explicit()
        if explicit is not None and folder in self.names:
            return explicit
        profile = profile_of_folder(folder)
        if mark := _one_mark(where, lines, registered=profile is not None):
            try:
                return find_setting(mark)
            except UsageError as error:
                raise UsageError(error.message, where=f"{where}: `{MARK}`", hint=error.hint) from None
        if profile is not None:
            return profile_setting(profile)
        if explicit is not None:
            return explicit
        if name := self.row_of(folder):
            return find_setting(name)
        raise _unknown(folder)

    def _explicit(self) -> Setting | None:
        if self.handler is not None:
            return find_setting(self.handler)
        return None if self.mode is None else Setting(mode=self.mode)


def mark_of(folder: str, setting: Setting) -> str | None:
    """Return the mark for result lines in a folder, or None if its name implies it."""
    profile = profile_of_folder(folder)
    if profile is not None and _rules(profile_setting(profile)) == _rules(setting):
        return None
    return reading_of(setting)


def _rules(setting: Setting) -> tuple[str, bool]:
    return family_of(setting), sent_underscored(setting)


def _one_mark(where: Path, lines: Sequence[Line], *, registered: bool) -> str | None:
    """Return the only mark in a file; in a folder not named after a registry row, lines without a mark are ignored."""
    marks = {line.get(MARK) for line in lines}
    if not registered and len(marks) > 1:
        marks.discard(None)
    if len(marks) > 1:
        listed = ", ".join(sorted("that of the name" if mark is None else repr(mark) for mark in marks))
        raise UsageError(f"lines have several formats: {listed}", where=str(where), hint="Use one format per folder.")
    mark = next(iter(marks), None)
    return None if mark is None else str(mark)


def _unknown(folder: str) -> UsageError:
    name = folder.replace("_", "/")
    close = nearest_names(name, profiles())
    nearest = f"Nearest: {', '.join(close)}. " if close else ""
    return UsageError(
        f"{folder} is not named after a model of the official registry, so the format of its answers is unknown",
        hint=f"{nearest}Use --handler NAME|FAMILY, or --mode fc|prompt for answers of our own runs.",
    )
