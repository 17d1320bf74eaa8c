"""How the answers in a result folder are decoded: never guessed from what they look like.

A name of the official registry says it, and so does the mark that result lines of ours carry where the folder's name
would say something else. Everything else a person has to say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.benchmarks.bfcl.files.layout import Line
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

MARK = "handler"
"""Field of a result line: the registry name, or the decode family, by which it is read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a person says the answers of models are read."""

    handler: str | None = None
    """A registry name, an official class or a decode family."""
    mode: str | None = None
    """`fc` or `prompt`: the generic forms of runs of ours."""
    names: frozenset[str] = frozenset()
    """Folders that this was said of by name; of others it says something only where nothing else does."""
    row_of: Callable[[str], str | None] = lambda folder: None
    """From a folder to the registry name that models.toml gives its model."""

    def setting(self, folder: str, lines: Sequence[Line]) -> Setting:
        """Return how the lines of a model's result file are decoded.

        Raises:
            UsageError: nobody says so, or an unknown name or two different ones are said; names the nearest.
        """
        explicit = self._explicit()
        if explicit is not None and folder in self.names:
            return explicit
        profile = profile_of_folder(folder)
        if mark := _one_mark(folder, lines, registered=profile is not None):
            return find_setting(mark)
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
    """Return the mark for result lines in a folder; None where its name says the same."""
    profile = profile_of_folder(folder)
    if profile is not None and _rules(profile_setting(profile)) == _rules(setting):
        return None
    return reading_of(setting)


def _rules(setting: Setting) -> tuple[str, bool]:
    return family_of(setting), sent_underscored(setting)


def _one_mark(folder: str, lines: Sequence[Line], *, registered: bool) -> str | None:
    """Return the mark of a file; where the folder's name says nothing, lines without one are taken as the others."""
    marks = {line.get(MARK) for line in lines}
    if not registered and len(marks) > 1:
        marks.discard(None)
    if len(marks) > 1:
        listed = ", ".join(sorted("that of the name" if mark is None else repr(mark) for mark in marks))
        raise UsageError(f"lines of {folder} are of several forms: {listed}", hint="Keep one form in a folder.")
    mark = next(iter(marks), None)
    return None if mark is None else str(mark)


def _unknown(folder: str) -> UsageError:
    name = folder.replace("_", "/")
    close = nearest_names(name, profiles())
    nearest = f"Nearest: {', '.join(close)}. " if close else ""
    return UsageError(
        f"{folder} is named after no model of the official registry, so how its answers are read is not known",
        hint=f"{nearest}Say it with --handler NAME|FAMILY, or --mode fc|prompt for answers of a run of ours.",
    )
