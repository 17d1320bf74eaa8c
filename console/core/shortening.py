"""Shortens the texts of table cells so that rows stay distinguishable."""

import re

_LABEL = re.compile(r" *[^ ]+: ")
"""Pattern of a label such as `weather_query: success rate`, in which the name has no spaces."""
_DATE_OF_RUN = re.compile(r"\d{4}-\d\d-\d\dT(?=\d{4}-)")
"""Date at the beginning of a run's id, dropped first, since every command accepts the rest."""
_LEAST = 8
"""Minimum number of characters of a shortened name in front of its measure."""


def shorten_label(text: str, width: int) -> str:
    """Shorten a text to `width` characters with `…`.

    Prose is cut at its end, and a name in the middle, as names often differ in their last characters. In a name
    followed by a measure, only the name is cut while some of it is left. The id of a run loses its date first.
    """
    if len(text) <= width:
        return text
    if len(text := _DATE_OF_RUN.sub("", text)) <= width:
        return text
    if named := _LABEL.match(text):
        measure = text[named.end() - 2 :]
        if width - len(measure) >= _LEAST:
            return _cut_in_the_middle(text[: named.end() - 2], width - len(measure)) + measure
    return f"{text[: width - 1]}…" if " " in text.strip() else _cut_in_the_middle(text, width)


def _cut_in_the_middle(name: str, width: int) -> str:
    tail = (width - 1) // 3
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"
