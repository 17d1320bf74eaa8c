"""Creation of a suite folder from a template that runs with simulated models. Never overwrites files."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from console.core.fault import UsageError
from console.core.suggestion import suggest
from console.suites.allowed import allow
from console.suites.benchmarks import benchmarks_with
from console.suites.catalog import has_code, read_entry
from console.suites.folder_code import FolderCode
from console.suites.suite import SuiteEntry

_PYTHON = Path(__file__).resolve().parent / "templates" / "python"
_SUFFIX = ".template"
"""Suffix of Python template files, so that tools do not treat them as source code."""
_ROWS = (".jsonl", ".csv", ".json", ".yaml", ".yml")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}", re.IGNORECASE)


def template_kinds() -> list[str]:
    """Return the names of the suite templates."""
    return sorted(_templates())


def template_meanings() -> dict[str, str]:
    """Return a description of each template: the first sentence of its comment."""
    texts = {kind: (path / "suite.toml").read_text(encoding="utf-8") for kind, path in sorted(_templates().items())}
    return {kind: text.lstrip("# ").split("\n")[0].split(". ")[0].rstrip(".") for kind, text in texts.items()}


def _templates() -> dict[str, Path]:
    return {"python": _PYTHON} | {
        benchmark.name: benchmark.load("template") for benchmark in benchmarks_with("template")
    }


def name_problem(root: Path, name: str) -> str:
    """Return the reason why a new suite cannot have this name, or an empty string."""
    if not _NAME.fullmatch(name):
        return "a name has up to 60 letters, digits, - and _, and begins with a letter or digit"
    return "a folder of that name exists" if (root / name).exists() else ""


def new_suite(root: Path, name: str, kind: str) -> list[Path]:
    """Create a suite from a template, allow its code to run, and return its files.

    Raises:
        UsageError: unknown template, invalid name, existing folder, or a write error.
    """
    kinds = _templates()
    if kind not in kinds:
        hint = suggest(kind, sorted(kinds), f"One of: {', '.join(sorted(kinds))}.")
        raise UsageError(f"unknown kind of suite {kind!r}", where="--kind", hint=hint)
    source = kinds[kind]
    texts = {
        path.relative_to(source).as_posix().removesuffix(_SUFFIX): path.read_text(encoding="utf-8")
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
    texts["suite.toml"] = Template(texts["suite.toml"]).substitute(name=name)
    files = write_suite(root, name, texts)
    entry = read_entry(root / name)
    if has_code(entry):
        allow(FolderCode(entry))  # the template is our own code; a change needs permission
    return files


def own_file(entry: SuiteEntry) -> Path:
    """Return the main file of a suite: its code, or its rows, or its suite.toml."""
    if entry.module:
        return entry.folder / entry.module.partition(":")[0]
    rows = sorted(path for path in entry.folder.glob("*.*") if path.suffix in _ROWS and path.is_file())
    return rows[0] if len(rows) == 1 else entry.folder / "suite.toml"


def write_suite(root: Path, name: str, texts: Mapping[str, str | bytes]) -> list[Path]:
    """Create a suite folder from file contents by relative name, and return the files.

    Raises:
        UsageError: invalid name, existing folder, or a write error.
    """
    folder = root / name
    if problem := name_problem(root, name):
        raise UsageError(f"{name!r} cannot be the name of a new suite: {problem}", where=str(root))
    try:
        folder.mkdir(parents=True)
        for relative, text in texts.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(error.filename)) from error
    return [folder / relative for relative in texts]
