"""Generate docs/json.md: `python docs/make_json_page.py`. A test compares the page with the kinds in the code."""

import importlib
import pkgutil
from pathlib import Path

import console.benchmarks
import console.cli
import console.exchange
from console.exchange.json_kind import SCHEMA, JsonKind

PAGE = Path(__file__).resolve().parent / "json.md"
_HEAD = f"""# JSON of the command line

With `--json` every verb writes only JSON to stdout; messages go to stderr. Each object is on one line and has this
shape:

    {{"schema": {SCHEMA}, "kind": "…", …}}

`schema` grows with every incompatible change; new fields can appear without one. A verb with several objects writes
them as they arrive, one per line (NDJSON), marked *stream* below. If a command ends early, the last object is of kind
`error`, and its `exit_code` is that of the process. The output is ASCII; other characters are escaped.

`check` without `--json` answers each line with one line without `schema` and `kind`, in the format of its suite.

Schema 1 had the same fields without `kind`, and bare lists in place of `runs`, `models`, `suites`, `failures`,
`findings` and `bfcl_results`. This page is generated: `python docs/make_json_page.py`.
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
                    raise ValueError(f"{module.name} declares the JSON kind {value.name!r}, which already exists")
    return dict(sorted(found.items()))


def page() -> str:
    """Return the whole page."""
    return _HEAD + "".join(section(kind) for kind in kinds().values())


def section(kind: JsonKind) -> str:
    """Return the section of one kind."""
    stream = " *Stream.*" if kind.is_stream else ""
    rows = "".join(f"| `{field}` | {meaning} |\n" for field, meaning in kind.fields.items())
    head = f"{kind.meaning}{stream} Written by `{kind.written_by}`."
    return f"\n## {kind.name}\n{head}\n\n| field | meaning |\n|---|---|\n{rows}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
