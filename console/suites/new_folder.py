"""A new suite's folder, written from a template that runs at once with simulated models. Never writes over anything."""

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

from console.core.fault import UsageError
from console.core.suggestion import nearest

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_SUFFIX = ".template"
"""Ends the name of a template that is Python, so that nobody takes it for code of this program."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}", re.IGNORECASE)


def template_kinds() -> list[str]:
    """Return what kinds of suites there are templates for."""
    return sorted(path.name for path in _TEMPLATES.iterdir() if (path / "suite.toml").is_file())


def new_folder(root: Path, name: str) -> Path:
    """Return the folder that a new suite would have.

    Raises:
        UsageError: a name that no folder should have, or one that is there already.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a suite",
            hint="Use letters, digits, - and _, beginning with a letter or digit.",
        )
    if (root / name).exists():
        raise UsageError("is there already", where=str(root / name), hint="Choose another name; nothing was changed.")
    return root / name


def write_template(root: Path, name: str, kind: str) -> list[Path]:
    """Write a new suite of a kind and return its files.

    Raises:
        UsageError: no such kind, a name that cannot be, a folder that is there, or a disk that refuses.
    """
    kinds = template_kinds()
    if kind not in kinds:
        close = nearest(kind, kinds)
        hint = f"Did you mean {close}?" if close else f"One of: {', '.join(kinds)}."
        raise UsageError(f"there is no kind of suite {kind!r}", where="--kind", hint=hint)
    source = _TEMPLATES / kind
    texts = {
        path.relative_to(source).as_posix().removesuffix(_SUFFIX): path.read_text(encoding="utf-8")
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
    texts["suite.toml"] = Template(texts["suite.toml"]).substitute(name=name)
    return write_suite(root, name, texts)


def write_suite(root: Path, name: str, texts: Mapping[str, str | bytes]) -> list[Path]:
    """Write the files of a new suite, by relative name, and return them.

    Raises:
        UsageError: a name that cannot be, a folder that is there, or a disk that refuses.
    """
    folder = new_folder(root, name)
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
