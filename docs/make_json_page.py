"""Write docs/json.md anew: `python docs/make_json_page.py`. A test holds the page equal to the kinds in the code."""

import importlib
import pkgutil
from pathlib import Path

import console.benchmarks
import console.cli
import console.exchange
from console.exchange.json_kind import SCHEMA, JsonKind

PAGE = Path(__file__).resolve().parent / "json.md"
_HEAD = f"""# JSON of the command line

Every verb writes JSON with `--json`, on stdout and nothing else there; talk goes to stderr. Each object stands on one
line and has one shape:

    {{"schema": {SCHEMA}, "kind": "…", …}}

`schema` grows with every change that a reader must know of; new fields may come without one. A verb that writes several
objects writes them as they come, one a line (NDJSON); below they are marked *stream*. When a command ends early, an
object of the kind `error` is the last one, and its `exit_code` is that of the process. ASCII only: what is not, is
escaped.

`check` without `--json` answers lines with bare lines, in the form of its suite; so does nothing else.

Schema 1 had the same fields without `kind`, and bare lists in place of `runs`, `models`, `suites`, `failures`,
`findings` and `bfcl_results`. This page is made from the code: `python docs/make_json_page.py`.
"""


def kinds() -> dict[str, JsonKind]:
    """Return every kind that a module of the package declares, by its name, in alphabetical order.

    Raises:
        ValueError: two kinds have the same name.
    """
    found: dict[str, JsonKind] = {}
    for package in (console.benchmarks, console.cli, console.exchange):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, JsonKind) and found.setdefault(value.name, value) is not value:
                    raise ValueError(f"{module.name} declares the JSON kind {value.name!r}, which another one is named")
    return dict(sorted(found.items()))


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(section(kind) for kind in kinds().values())


def section(kind: JsonKind) -> str:
    """Return what is said of one kind."""
    stream = " *Stream.*" if kind.is_stream else ""
    rows = "".join(f"| `{field}` | {meaning} |\n" for field, meaning in kind.fields.items())
    head = f"{kind.meaning}{stream} Written by `{kind.written_by}`."
    return f"\n## {kind.name}\n{head}\n\n| field | meaning |\n|---|---|\n{rows}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
