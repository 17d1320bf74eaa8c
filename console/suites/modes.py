"""Modes of a suite: how the model is prompted, by the suite's own names or those of models.toml."""

from msgspec.structs import replace

from console.core.fault import UsageError
from console.core.suggestion import suggest
from console.suites.suite import Category, Mode, Suite

PROMPT, NATIVE = "prompt", "fc"
"""The modes of models.toml: tools described in the prompt, and native tools."""
USUAL_MODES = (
    Mode(NATIVE, "native tools", NATIVE),
    Mode(PROMPT, "tools in the prompt", PROMPT),
)
"""Modes of a suite that defines none."""


def modes_of(suite: Suite) -> tuple[Mode, ...]:
    """Return the modes of a suite, or the usual ones if it defines none."""
    return tuple(suite.modes()) or USUAL_MODES


def categories_with_modes(suite: Suite) -> list[Category]:
    """Return the categories of a suite, each with all its modes filled in."""
    names = tuple(mode.name for mode in modes_of(suite))
    return [category if category.modes else replace(category, modes=names) for category in suite.categories()]


def find_mode(suite: Suite, chosen: str | None, usual: str = PROMPT) -> str:
    """Return the suite's name for a mode.

    Args:
        suite: the suite with the modes.
        chosen: the user's choice, a name of the suite or of models.toml, if any.
        usual: default mode of models.toml; a suite without an equivalent uses its first mode.

    Raises:
        UsageError: unknown mode; suggests a name and lists all.
    """
    modes = modes_of(suite)
    names = [mode.name for mode in modes]
    word = usual if chosen is None else chosen
    if word in names:
        return word
    like = next((mode.name for mode in modes if mode.like == word), None)
    if like is not None or chosen is None:
        return like or names[0]
    hint = f"{suggest(chosen, names)} Its modes: {', '.join(names)}.".lstrip()
    raise UsageError(f"the suite {suite.entry.name} has no mode {chosen!r}", where="--mode", hint=hint)
