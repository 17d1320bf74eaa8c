"""User permissions to run the code of suite folders, by digest; one file per folder in the state folder.

Such code runs in this process with the user's rights, so it needs permission, and again after every change.
"""

import hashlib
import shlex
from pathlib import Path

import msgspec

from console.config.paths import state_dir
from console.core.fault import UsageError, os_errors_as
from console.core.ready_type import ready_type
from console.store.atomic import read_regular, write_atomically
from console.suites.folder_code import FolderCode
from console.suites.suite import SuiteEntry

RUNS_WHERE = "It runs inside this program, with your rights and keys."


class _Allowed(msgspec.Struct):
    folder: str
    suite: str
    digest: str


class NotAllowed(UsageError):
    """The code of a folder lacks permission to run."""

    def __init__(self, code: FolderCode, data: Path | None, *, changed: bool) -> None:
        """Create the error with the command that allows the code; `data` is the folder given with --data."""
        why = "has changed since it was allowed" if changed else "has not been allowed to run"
        is_usual = data is None or data == Path("data").absolute()
        named = "" if is_usual else f" --data {shlex.quote(str(data))}"
        super().__init__(
            f"the code of the suite {code.name} {why}",
            where=str(code.folder / code.file),
            hint=f"Read it, then run `eval-console allow {shlex.quote(code.name)}{named}`. {RUNS_WHERE}",
        )
        self.suite = code.name


def check_allowed(code: FolderCode, entry: SuiteEntry) -> None:
    """Check that exactly this code was allowed.

    Raises:
        NotAllowed: it was not; names the command that allows it.
    """
    digest = allowed_digest(code)
    if digest != code.digest:
        raise NotAllowed(code, entry.data, changed=bool(digest))


def allowed_digest(code: FolderCode) -> str:
    """Return the digest of the last allowed code of a folder, or an empty string."""
    try:
        record = msgspec.json.decode(read_regular(_path(code)), type=ready_type(_Allowed))
    except (OSError, ValueError, RecursionError):
        return ""
    return record.digest if record.folder == str(code.folder) else ""


def allow(code: FolderCode) -> None:
    """Allow this code to run.

    Raises:
        UsageError: the state folder cannot be written.
    """
    path, record = _path(code), _Allowed(str(code.folder), code.name, code.digest)
    with os_errors_as("cannot be written", where=path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(record), mode=0o600)


def revoke(code: FolderCode) -> bool:
    """Withdraw the permission of this folder; return False if there was none.

    Raises:
        UsageError: the state folder cannot be written.
    """
    path = _path(code)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UsageError(f"cannot be deleted: {error.strerror}", where=str(path)) from error
    return True


def _path(code: FolderCode) -> Path:
    name = hashlib.sha256(str(code.folder).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return state_dir() / "allowed" / f"{name}.json"
