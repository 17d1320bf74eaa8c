"""The catalog: every dataset folder with a `suite.toml`, and the formats that can open them.

The name of a dataset folder is the suite's name. Folders are searched in the user's data folders, then the bundled and
the pulled data; the first of several with one name is used, and the others are reported. Formats are built in, imported
when first used, or offered by installed packages (see `suites.plugins`). Instead of a format, a folder can name its own
module, which runs only with permission (see `suites.allowed`).
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import tomli

from console.config.paths import DataRoots, find_data_roots
from console.core.fault import UsageError, reason_of
from console.core.names import normalized
from console.core.ready_type import ready_type
from console.core.run import RECORDED, Manifest
from console.core.suggestion import suggest
from console.store.atomic import read_regular
from console.suites.benchmark import BUILT_IN, Benchmark, OfficialData, built_in
from console.suites.benchmarks import find_benchmark, loaded_parts
from console.suites.guard import guard
from console.suites.suite import DemoRun, Suite, SuiteEntry

_STARTER = "-starter"
"""Suffix of the names of bundled suites."""
PYTHON = "python"
"""Format of suites implemented by code in their folder."""
PAIRWISE = "pairwise"
"""Format of runs that compare the answers of others; their suite's folder is `runs/`, and any name is allowed."""
WITHOUT_FOLDER = (RECORDED, PAIRWISE)
"""Formats whose cases come from runs."""


def official_data() -> list[OfficialData]:
    """Return the data that `pull` can download, without those of other packages."""
    return [benchmark.load("pull") for benchmark in built_in() if benchmark.pull]


KEYS = ("format", "module", "title", "origin", "comparable", "source", "demo")
"""Keys of suite.toml that mean the same in all suites."""


class Catalog:
    """All suites that can be opened."""

    def __init__(self, roots: DataRoots) -> None:
        """Store the folders; they are scanned on first use."""
        self._roots = roots
        self._entries: dict[str, SuiteEntry] | None = None
        self._scanning = threading.Lock()
        self._damaged: dict[str, UsageError] = {}
        self._warnings: list[str] = []
        self._hidden: dict[str, list[str]] = {}
        self._broken: list[str] | None = None

    @property
    def warnings(self) -> list[str]:
        """Problems of the scan: invalid `suite.toml` files, duplicate names, broken entry points."""
        self._scan()
        if self._broken is None:  # not while scanning, as loading entry points is slow
            from console.suites.plugins import broken_benchmarks

            self._broken = broken_benchmarks()
        return [*self._warnings, *self._broken]

    def entries(self) -> list[SuiteEntry]:
        """Return all suites, sorted by name."""
        return sorted(self._scan().values(), key=lambda entry: entry.name)

    def open(self, name: str) -> Suite:
        """Open a suite by name.

        Raises:
            UsageError: unknown suite (suggests a name or a pull), invalid `suite.toml`, or unknown format.
            NotAllowed: the code of its folder lacks permission to run.
        """
        return _open(self.entry(name))

    def entry(self, name: str) -> SuiteEntry:
        """Return the entry of a suite by name.

        Raises:
            UsageError: unknown suite, or invalid `suite.toml`.
        """
        entry = self._scan().get(normalized(name))
        if entry is None:
            raise self._damaged.get(normalized(name)) or self._unknown(name)
        return entry

    def hidden_by(self, name: str) -> list[str]:
        """Return a warning for each folder that is hidden by another suite of this name."""
        self._scan()
        return self._hidden.get(normalized(name), [])

    def is_own_format(self, entry: SuiteEntry) -> bool:
        """Return whether a suite has a built-in format."""
        return not entry.module and entry.format in BUILT_IN

    def open_format(self, name: str) -> Suite | None:
        """Open a format without data, or return None if there is no such format."""
        try:
            benchmark = _find_format(name)
            return None if benchmark is None else _open_with(benchmark, SuiteEntry(name, name, Path(), name))
        except UsageError:
            return None

    def _scan(self) -> dict[str, SuiteEntry]:
        with self._scanning:  # shared by threads
            if self._entries is None:
                entries: dict[str, SuiteEntry] = {}
                for origin, folder in _folders(self._roots):
                    self._add(entries, origin, folder)
                self._entries = entries
            return self._entries

    def _add(self, entries: dict[str, SuiteEntry], origin: str, folder: Path) -> None:
        try:
            entry = read_entry(folder, origin)
        except UsageError as error:
            self._damaged.setdefault(normalized(folder.name), error)
            self._warnings.append(str(error))
            return
        if self._roots.user:
            entry = msgspec.structs.replace(entry, data=self._roots.user[0])
        first = entries.setdefault(entry.name, entry)
        if first is not entry and first.folder.resolve() != folder.resolve():
            sentence = f"{folder}: hidden by {first.folder}, which has the same name"
            self._hidden.setdefault(entry.name, []).append(sentence)
            self._warnings.append(sentence)

    def _unknown(self, name: str) -> UsageError:
        entries = self._scan()
        official = [data.name for data in loaded_parts("pull")]
        if name in official:
            return UsageError(f"{name} is not installed", hint=f"Run `eval-console pull {name}` first.")
        if "/" in name:
            return UsageError(f"{name} was recorded by another tool", hint="Its runs can be reviewed but not played.")
        hint = suggest(name, [*entries, *official], f"Known suites: {', '.join(sorted(entries)) or 'none'}.")
        return UsageError(f"no suite is named {name!r}", hint=hint)


def open_folder_suite(folder: Path) -> Suite:
    """Open the suite of any folder for a test; its code needs no permission.

    Raises:
        UsageError: invalid suite.toml, unknown format, or code that cannot be loaded.
    """
    from console.suites.folder_code import FolderCode, open_folder

    entry = read_entry(folder)
    return guard(open_folder(FolderCode(entry), entry)) if entry.module else _open(entry, needs_permission=False)


def find_suite(manifest: Manifest, data: Path | None) -> Suite:
    """Open the suite of a run.

    Raises:
        UsageError: the suite or its data no longer exists.
    """
    if manifest.format == PAIRWISE:
        return open_pairwise(manifest.suite, Path())
    if manifest.format == RECORDED and (recorded := find_benchmark(RECORDED, "suite")) is not None:
        entry = SuiteEntry(manifest.suite, manifest.format, Path(), manifest.suite, origin="imported")
        return _open_with(recorded, entry)
    return Catalog(find_data_roots(data)).open(manifest.suite)


def open_pairwise(name: str, runs: Path) -> Suite:
    """Open the suite that compares answers of the runs in a folder."""
    benchmark = find_benchmark(PAIRWISE, "suite")
    assert benchmark is not None  # it is built in
    return _open_with(benchmark, SuiteEntry(name, PAIRWISE, runs, name, origin="runs"))


def read_entry(folder: Path, origin: str = "user") -> SuiteEntry:
    """Read a folder's `suite.toml`.

    Raises:
        UsageError: unreadable or invalid; names file and key, and what was expected.
    """
    place = folder / "suite.toml"
    table = read_suite_toml(folder)
    form, module = _text(table, "format", place), _text(table, "module", place)
    if bool(form) == bool(module):
        raise UsageError(
            "has both `format` and `module`" if form else "has no `format`",
            where=str(place),
            hint=f'Write one of them, such as format = "{BUILT_IN[0]}" or module = "suite.py".',
        )
    comparable = table.get("comparable", False)
    source = table.get("source", {})
    if not isinstance(comparable, bool) or not isinstance(source, dict):
        raise UsageError("`comparable` must be true or false, and `source` a table", where=str(place))
    facts = {str(key): str(value) for key, value in cast(dict[str, Any], source).items()}
    return SuiteEntry(
        name=normalized(folder.name),
        format=form or PYTHON,
        folder=folder,
        title=_text(table, "title", place) or folder.name,
        module=module,
        origin=_text(table, "origin", place) or origin,
        comparable=comparable,
        source=facts,
        demo=_demo(table, place),
    )


def _demo(table: dict[str, Any], place: Path) -> tuple[DemoRun, ...]:
    try:
        runs = msgspec.convert(table.get("demo", []), ready_type(tuple[DemoRun, ...]))
    except msgspec.ValidationError as error:
        raise UsageError(f"`demo` is invalid: {error}", where=str(place)) from error
    for run in runs:
        if not run.model.startswith("sim/"):
            raise UsageError(
                f"`demo` names the model {run.model!r}",
                where=str(place),
                hint="Name one of the simulated models: a demo needs no key.",
            )
    return runs


def read_suite_toml(folder: Path) -> dict[str, Any]:
    """Parse a folder's `suite.toml`.

    Raises:
        UsageError: the file is missing, unreadable or not TOML.
    """
    place = folder / "suite.toml"
    try:
        return tomli.loads(read_regular(place).decode())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(place)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not TOML: {reason_of(error)}", where=str(place)) from error


def _folders(roots: DataRoots) -> Iterator[tuple[str, Path]]:
    seen: set[Path] = set()
    places = [*(("user", root) for root in roots.user), ("bundled", roots.bundled), ("pulled", roots.pulled)]
    for origin, root in places:
        folders = (
            [root] if (root / "suite.toml").is_file() else sorted(path.parent for path in root.glob("*/suite.toml"))
        )
        for folder in folders:
            resolved = folder.resolve()
            if resolved not in seen and not folder.name.startswith("."):
                seen.add(resolved)
                is_own = origin == "bundled" and not folder.name.endswith(_STARTER)  # a checkout has both in one folder
                yield "user" if is_own else origin, folder


def _text(table: dict[str, Any], key: str, place: Path) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"`{key}` must be a string", where=str(place))
    return value


def _open(entry: SuiteEntry, *, needs_permission: bool = True) -> Suite:
    if entry.module:
        return _open_module(entry)
    place = str(entry.folder / "suite.toml")
    try:
        benchmark = _find_format(entry.format)
    except UsageError as error:
        raise UsageError(error.message, where=error.where or place, hint=error.hint) from error
    if benchmark is None:
        from console.suites.plugins import installed_names

        names = [name for name in (*BUILT_IN, *installed_names()) if name not in WITHOUT_FOLDER]
        hint = suggest(entry.format, names, f"Known formats: {', '.join(names)}.")
        raise UsageError(f"unknown format {entry.format!r}", where=place, hint=hint)
    if benchmark.runs_programs and needs_permission:
        from console.suites.allowed import check_allowed
        from console.suites.folder_code import FolderCode

        check_allowed(FolderCode(entry), entry)
    return _open_with(benchmark, entry)


def _find_format(name: str) -> Benchmark | None:
    return None if name in WITHOUT_FOLDER else find_benchmark(name, "suite")


def has_code(entry: SuiteEntry) -> bool:
    """Return whether a suite runs code or programs that its folder names, and so needs permission.

    Raises:
        UsageError: the package that offers its format cannot be loaded.
    """
    benchmark = None if entry.module else _find_format(entry.format)
    return bool(entry.module) or (benchmark is not None and benchmark.runs_programs)


def _open_with(benchmark: Benchmark, entry: SuiteEntry) -> Suite:
    if benchmark.is_built_in:
        return guard(benchmark.load("suite")(entry))
    from console.suites.loading import open_plugin

    return guard(open_plugin(benchmark.name, benchmark.suite, entry))


def _open_module(entry: SuiteEntry) -> Suite:
    """Open a suite by the code of its folder; its source includes the code's digest, as runs resume only with it."""
    from console.suites.allowed import check_allowed
    from console.suites.folder_code import FolderCode, open_folder

    code = FolderCode(entry)
    check_allowed(code, entry)
    return guard(open_folder(code, msgspec.structs.replace(entry, source={**entry.source, "code": code.digest[:16]})))
