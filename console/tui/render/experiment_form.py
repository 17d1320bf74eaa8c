"""Parts of the forms and reports of experiments: labelled lines, the lines of a change, and the shell command."""

import textwrap
from collections.abc import Iterable

from textual.content import Content

from console.core.experiment import Change
from console.insight.as_sent import diff_of
from console.insight.number_format import plural
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, muted

_SHELL_CELLS = 64
LINES_IN_FORM = 3
"""Number of changed lines in a form, which has to fit into 24 rows with its answers."""


def labelled(label: str, *values: Content | str) -> list[Content]:
    """Return values one below the other, next to a label."""
    return [Content.assemble((f"   {'' if number else label:9}", MUTED), value) for number, value in enumerate(values)]


def changed_lines(changes: Iterable[Change], most: int) -> list[Content]:
    """Return the first lines that changes add and remove, and the number of the others."""
    lines = [line for change in changes for line in diff_of(change) if line[:1] in "+-"]
    shown = [one_line(line, 54, "$pass" if line[:1] == "+" else "$fail") for line in lines[:most]]
    more = len(lines) - most
    return [*shown, muted(f"and {plural(more, 'changed line')} more")] if more > 0 else shown


def shell_lines(shell: str) -> list[Content]:
    """Return a shell command, wrapped between its words."""
    lines = textwrap.wrap(shell, _SHELL_CELLS, break_on_hyphens=False)
    return [Content("   ").append(one_line(line, _SHELL_CELLS, MUTED)) for line in lines]
