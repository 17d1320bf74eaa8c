"""Parameter descriptions from docstrings in the three common styles, as in the published tool schemas.

The style with the most markers wins (on a tie reStructuredText, then numpy, then Google; Google if there are none).
Google sections need an indented body; items of the same indentation start a parameter, deeper lines continue it.
"""

import inspect
import re
from collections.abc import Iterator

_SPHINX = (r"^:param\s", r"^:type\s", r"^:return:", r"^:rtype:")
_NUMPY = (r"^Parameters\s*\n\s*-{3,}", r"^Returns\s*\n\s*-{3,}", r"^Yields\s*\n\s*-{3,}")
_GOOGLE = (r"^(Args|Arguments):", r"^(Returns):", r"^(Raises):")
_GOOGLE_TITLES = frozenset({"args", "arguments", "params", "parameters"})
_HEADER = re.compile(r"^(?P<title>[\w ][\s\w-]*): *(?P<rest>[^\s].*)?\s*$")


def parameter_descriptions(doc: str) -> dict[str, str]:
    """Return descriptions by parameter name."""
    lines = inspect.cleandoc(doc.rstrip()).split("\n")
    reader = {"sphinx": _sphinx, "numpy": _numpy, "google": _google}[_style("\n".join(lines))]
    return dict(reader(lines))


def _style(text: str) -> str:
    counts = {
        name: sum(1 for pattern in patterns if re.search(pattern, text, re.MULTILINE))
        for name, patterns in (("sphinx", _SPHINX), ("numpy", _NUMPY), ("google", _GOOGLE))
    }
    return max(counts, key=lambda name: counts[name]) if any(counts.values()) else "google"


def _google(lines: list[str]) -> Iterator[tuple[str, str]]:
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip(" ").startswith("```")
        if fenced:
            continue
        header = _HEADER.match(line)
        if header and header["title"].lower() in _GOOGLE_TITLES and _is_section(lines, number):
            for item in _items(lines, number + 1):
                name, colon, text = "\n".join(item).partition(":")
                if colon and "\n" not in name:
                    yield _without_type(name).lstrip("*"), text.lstrip(" \t").rstrip("\n")


def _without_type(name: str) -> str:
    """Return the name in `name (type)`; any other text before the colon is the name itself."""
    return name.split("(", 1)[0].strip() if "(" in name and name.endswith(")") else name


def _is_section(lines: list[str], number: int) -> bool:
    below = lines[number + 1] if number + 1 < len(lines) else ""
    return below.startswith(" ") and bool(below.strip())


def _items(lines: list[str], start: int) -> list[list[str]]:
    """Split a section's body into parameters, each a list of lines without their common indentation."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    items: list[list[str]] = []
    for line in lines[start:]:
        if not line.strip():
            items[-1].append("")
        elif line.startswith(" " * indent * 2):
            items[-1].append(line[indent * 2 :])
        elif line.startswith(" " * (indent + 1)):
            items[-1].append(line.lstrip())
        elif line.startswith(" " * indent):
            items.append([line[indent:]])
        else:
            break
    return items


def _numpy(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines[:-1]):
        if line.strip() == "Parameters" and re.fullmatch(r"-{3,}", lines[number + 1].strip()):
            yield from _numpy_items(lines[number + 2 :])


def _numpy_items(lines: list[str]) -> Iterator[tuple[str, str]]:
    names: list[str] = []
    text: list[str] = []
    for number, line in enumerate(lines):
        below = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if line.strip() and not line.startswith(" "):
            yield from ((name, inspect.cleandoc("\n".join(text))) for name in names)
            if re.fullmatch(r"-{3,}", below):
                return
            names = [name.strip().lstrip("*") for name in line.split(":", 1)[0].split(",")]
            text = []
        else:
            text.append(line)
    yield from ((name, inspect.cleandoc("\n".join(text))) for name in names)


def _sphinx(lines: list[str]) -> Iterator[tuple[str, str]]:
    text = "\n".join(lines)
    for match in re.finditer(r"^:param\s++(?:[^:\n]*\s)?(\w+):((?:.*)(?:\n(?!:).*)*)", text, re.MULTILINE):
        yield match[1], "\n".join(line.strip() for line in match[2].split("\n")).strip()
