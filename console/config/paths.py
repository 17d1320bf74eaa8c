"""Paths on this machine: models file, data, runs, and the program's own state.

Lookups never create anything, and a path given by the user must exist: a mistyped path is an error, not an empty list.
"""

import os
from pathlib import Path

import msgspec

from console.core.fault import UsageError, os_errors_as

_APP = "eval-console"
_RUNS = "EVAL_CONSOLE_RUNS"
_PACKAGE = Path(__file__).resolve().parent.parent


class WorkspacePaths(msgspec.Struct, frozen=True):
    """Paths of models, data and runs as given by the user; None means the default."""

    models: Path | None = None
    data: Path | None = None
    runs: Path | None = None

    @property
    def flags(self) -> list[str]:
        """Options of a command line that give the same paths."""
        named = (("--models", self.models), ("--data", self.data), ("--runs", self.runs))
        return [word for option, path in named if path is not None for word in (option, str(path))]


DEFAULT_PATHS = WorkspacePaths()


class DataRoots(msgspec.Struct, frozen=True):
    """Parents of dataset folders. Of datasets with the same name, the user's takes precedence, then the bundled one."""

    bundled: Path
    """Shipped with the program; read-only."""
    pulled: Path
    """Target of `pull` for official data; may not exist yet."""
    user: tuple[Path, ...] = ()
    """Folder given with --data or EVAL_CONSOLE_DATA, else ./data if it exists."""


def checkout() -> Path | None:
    """Return the source checkout this program runs from, or None if it is installed."""
    root = _PACKAGE.parent
    return root if (root / "pyproject.toml").is_file() and (root / "data").is_dir() else None


def find_models_file(explicit: Path | str | None = None) -> Path | None:
    """Return the models file: --models, EVAL_CONSOLE_MODELS, ./models.toml, the checkout's, the user's; or None.

    Raises:
        UsageError: the given file does not exist.
    """
    named = _explicit_path(explicit, "--models", "EVAL_CONSOLE_MODELS")
    if named is not None:
        return named
    root = checkout()
    candidates = [
        Path("models.toml"),
        *([root / "models.toml"] if root else []),
        _user_folder("config") / "models.toml",
    ]
    return next((path.absolute() for path in candidates if path.is_file()), None)


def find_models_file_to_write(explicit: Path | str | None = None) -> Path:
    """Return the models file to which a model is added; it may not exist yet.

    The file of a checkout is only written from within the checkout, as it may be under version control.
    """
    existing, root = find_models_file(explicit), checkout()
    is_named = bool(explicit) or _from_environment("EVAL_CONSOLE_MODELS") is not None
    is_foreign = root is not None and existing == root / "models.toml" and not Path.cwd().is_relative_to(root)
    return existing if existing is not None and (is_named or not is_foreign) else Path("models.toml").absolute()


def presets_files() -> list[Path]:
    """Return the paths of preset files, the one in the current folder first; the files may not exist.

    EVAL_CONSOLE_PRESETS names one file instead.
    """
    named = _from_environment("EVAL_CONSOLE_PRESETS")
    if named is not None:
        return [expanded(named).absolute()]
    return [Path("presets.toml").absolute(), _user_folder("config") / "presets.toml"]


def find_data_roots(explicit: Path | str | None = None) -> DataRoots:
    """Return the data folders, both the user's and the program's.

    Raises:
        UsageError: the given folder does not exist.
    """
    named = _explicit_path(explicit, "--data", "EVAL_CONSOLE_DATA")
    root = checkout()
    bundled = root / "data" if root is not None else _PACKAGE / "bundled"
    pulled = root / "data" if root is not None else _user_folder("data") / "data"
    here = Path("data").absolute()
    own = [named] if named is not None else [here] if here.is_dir() and here not in (bundled, pulled) else []
    return DataRoots(bundled=bundled, pulled=pulled, user=tuple(own))


def find_own_data(explicit: Path | str | None = None) -> Path:
    """Return the folder for new suites: --data, EVAL_CONSOLE_DATA, else ./data. It may not exist yet."""
    named = Path(explicit) if explicit else _from_environment("EVAL_CONSOLE_DATA")
    return expanded(named or Path("data")).absolute()


def find_runs_root(explicit: Path | str | None = None, *, may_be_new: bool = False) -> Path:
    """Return the folder of runs: --runs, EVAL_CONSOLE_RUNS, the checkout's, else ./runs.

    Args:
        explicit: folder given by the user, if any.
        may_be_new: True if the given folder may be missing because the caller creates it.

    Raises:
        UsageError: the given path is missing or not a folder.
    """
    named, where = (Path(explicit), "--runs") if explicit else (_from_environment(_RUNS), _RUNS)
    path = expanded(_usual_runs() if named is None else named).absolute()
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is not a folder", where=where, hint="Give a folder; it is created if needed.")
    if named is not None and not may_be_new and not path.exists():
        raise UsageError(f"{path} does not exist", where=where, hint="Check it; `run`, `import` and the app create it.")
    return path


def make_new_folder(path: Path) -> None:
    """Create the runs folder that the user named, which does not exist yet.

    Raises:
        UsageError: it cannot be created.
    """
    with os_errors_as(f"{path} cannot be created", where="--runs"):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def _usual_runs() -> Path:
    root = checkout()
    return root / "runs" if root is not None and Path.cwd().is_relative_to(root) else Path("runs")


def state_dir() -> Path:
    """Return the folder for state that may be deleted at any time, such as the index over runs and the log."""
    return _user_folder("state")


def cache_dir() -> Path:
    """Return the folder for copies of data that can be downloaded again."""
    return _user_folder("cache")


def expanded(path: Path | str) -> Path:
    """Return a path that a user named, with `~` or `~NAME` at its beginning replaced by a home folder.

    Raises:
        UsageError: there is no such user, or its home is unknown.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = Path(path).parts[0]
        raise UsageError(
            f"{user} has no home folder", where=str(path), hint=f"Write ./{user} for a name with ~."
        ) from None


def _explicit_path(explicit: Path | str | None, flag: str, name: str) -> Path | None:
    path, where = (Path(explicit), flag) if explicit else (_from_environment(name), name)
    if path is None:
        return None
    path = expanded(path).absolute()
    if not path.exists():
        raise UsageError(f"{path} does not exist", where=where, hint=f"Check the path, or omit {where}.")
    return path


def _from_environment(name: str) -> Path | None:
    value = os.environ.get(name, "").strip()
    return Path(value) if value else None


def _user_folder(kind: str) -> Path:
    import platformdirs  # imported late: most calls are answered by the checkout

    return Path(getattr(platformdirs, f"user_{kind}_dir")(_APP, appauthor=False))
