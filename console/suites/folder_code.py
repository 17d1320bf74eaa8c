"""The code of a suite's folder: read once, hashed, and imported from exactly those bytes.

`module = "suite.py"` in suite.toml names the file with the suite's class. All .py files of the folder are its code:
`from . import rules` imports its rules.py. The package name contains the digest, so suites and their versions never
collide in `sys.modules`; compiled files are ignored.
"""

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from console.core.fault import UsageError
from console.suites.loading import LoadError, lacking_parts, run_limited
from console.suites.suite import Suite, SuiteEntry

_MOST_FILES = 500
_MOST_BYTES = 20_000_000
_PREFIX = "eval_console_folder_"


class FolderCode:
    """Snapshot of all code of one folder."""

    def __init__(self, entry: SuiteEntry) -> None:
        """Read every .py file of an entry's folder, and suite.toml if that names a program.

        Raises:
            UsageError: the module is not a .py file of the folder, or the code is unreadable or too large.
        """
        self.name, self.folder = entry.name, entry.folder.resolve()
        self._place = str(entry.folder / "suite.toml")
        self.file, _, self.class_name = (entry.module or "suite.toml").partition(":")
        self.sources = self._read()
        if self.file not in self.sources:
            raise UsageError(
                f"`module` names {self.file!r}, which is not a .py file of the folder",
                where=self._place,
                hint='Name the file of the suite\'s class, such as module = "suite.py".',
            )

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hex of all .py files and the module setting."""
        digest = hashlib.sha256(f"{self.file}:{self.class_name}\n".encode())
        for name, source in self.sources.items():
            digest.update(f"{name}\0{hashlib.sha256(source).hexdigest()}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    @cached_property
    def package(self) -> str:
        """Package name of the imported folder."""
        place = hashlib.sha256(str(self.folder).encode("utf-8", "surrogateescape")).hexdigest()
        return f"{_PREFIX}{place[:8]}_{self.digest[:16]}"

    def has_file(self, name: str) -> bool:
        """Return whether a full file name is in this folder."""
        return name.startswith(f"{self.folder}/")

    def _read(self) -> Mapping[str, bytes]:
        try:
            paths = sorted(path for path in self.folder.rglob("*.py") if path.is_file())
            if len(paths) > _MOST_FILES or sum(path.stat().st_size for path in paths) > _MOST_BYTES:
                raise UsageError(
                    f"its code exceeds {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB",
                    where=str(self.folder),
                    hint="Keep environments and other programs out of the folder of a suite.",
                )
            if self.file == "suite.toml":
                paths.append(self.folder / self.file)
            return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(error.filename)) from error


_broken: dict[str, UsageError] = {}
"""Errors by package of code that hung, which is not run again."""


def open_folder(code: FolderCode, entry: SuiteEntry) -> Suite:
    """Import the code of a folder and create its suite. Check the permission first (see `suites.allowed`).

    Raises:
        UsageError: the code raises, exits or hangs, or has no suite class or several; names file and line.
    """
    if code.package in _broken:
        raise _broken[code.package]
    try:
        return run_limited(lambda: _make(code, entry), code.has_file)
    except LoadError as error:
        hint = _absolute_import_hint(code, error.__cause__)
        refusal = UsageError(
            f"the code of the suite {code.name} cannot be loaded: {error.message}",
            where=error.place or str(code.folder / code.file),
            hint=hint or "This is a fault in the suite's own code.",
        )
        if error.hangs:
            _broken[code.package] = refusal
        raise refusal from error


def _make(code: FolderCode, entry: SuiteEntry) -> Suite:
    suite = _find_class(code, _import(code))(entry)
    if lacking := lacking_parts(suite):
        raise UsageError(
            f"the class {type(suite).__name__} is not a suite: it lacks {', '.join(lacking)}",
            where=str(code.folder / code.file),
            hint="Derive it from console.suites.simple.SimpleSuite, which has defaults.",
        )
    return suite


def _import(code: FolderCode) -> ModuleType:
    if not _FINDER.codes:
        _raise_instead_of_exiting()
    _FINDER.codes[code.package] = code
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    return importlib.import_module(f"{code.package}.{code.file.removesuffix('.py').replace('/', '.')}")


def _raise_instead_of_exiting() -> None:
    """Make `os._exit` in a folder's code break its case, like `sys.exit`, instead of ending the run."""
    leave, engine = os._exit, os.getpid()

    def leave_or_raise(status: int) -> NoReturn:
        here = inspect.currentframe()
        caller = here.f_back.f_globals.get("__name__") if here is not None and here.f_back is not None else ""
        if str(caller).startswith(_PREFIX) and os.getpid() == engine:
            raise SystemExit(status)
        leave(status)

    os._exit = leave_or_raise


def has_run() -> bool:
    """Return whether code of any folder was imported in this process, and so may run when the process exits."""
    return bool(_FINDER.codes)


def _find_class(code: FolderCode, module: ModuleType) -> Callable[[SuiteEntry], Suite]:
    place = str(code.folder / code.file)
    classes: dict[str, Any] = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    if code.class_name:
        if code.class_name not in classes:
            raise UsageError(f"has no class {code.class_name!r}", where=place, hint=_class_hint(code, classes))
        return classes[code.class_name]
    suites = {name: value for name, value in classes.items() if all(hasattr(value, part) for part in _OF_SUITE)}
    if len(suites) != 1:
        problem = f"has {len(suites)} suite classes" if suites else "has no class with `cases`, `play` and `score`"
        raise UsageError(problem, where=place, hint=_class_hint(code, suites) if suites else "")
    return next(iter(suites.values()))


_OF_SUITE = ("cases", "play", "score")


def _class_hint(code: FolderCode, classes: Mapping[str, Any]) -> str:
    if not classes:
        return ""
    return f'Name one in suite.toml, such as module = "{code.file}:{next(iter(classes))}".'


def _absolute_import_hint(code: FolderCode, error: BaseException | None) -> str:
    """Return a hint if code imports a file of its folder by an absolute import, else an empty string."""
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    has_module = f"{name.replace('.', '/')}.py" in code.sources
    return f"{name}.py is in the same folder: write `from . import {name}`." if has_module else ""


class _Finder(MetaPathFinder):
    """Finds the modules of suite folders in their snapshots only."""

    def __init__(self) -> None:
        self.codes: dict[str, FolderCode] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        code = self.codes.get(root)
        if code is None:
            return None
        inside = rest.replace(".", "/")
        for name, is_package in ((f"{inside}.py", False), (f"{inside}/__init__.py" if rest else "__init__.py", True)):
            if name in code.sources:
                return self._spec(fullname, code, name, code.sources[name], is_package=is_package)
        if not rest or any(name.startswith(f"{inside}/") for name in code.sources):
            return self._spec(fullname, code, f"{inside}/__init__.py".lstrip("/"), b"", is_package=True)
        return None

    @staticmethod
    def _spec(fullname: str, code: FolderCode, name: str, source: bytes, *, is_package: bool) -> ModuleSpec | None:
        # Without a search path, no other finder looks into the folder, for example for compiled files.
        locations: list[str] | None = [] if is_package else None
        place = code.folder / name
        loader = _Loader(place, source, is_package=is_package)
        return spec_from_file_location(fullname, place, loader=loader, submodule_search_locations=locations)


class _Loader(InspectLoader):
    """Loads a module from its snapshot."""

    def __init__(self, place: Path, source: bytes, *, is_package: bool) -> None:
        self._place, self._source, self._is_package = place, source, is_package

    def get_source(self, fullname: str) -> str:
        return self._source.decode("utf-8", "replace")

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self._source, str(self._place))

    def is_package(self, fullname: str) -> bool:
        return self._is_package


_FINDER = _Finder()
