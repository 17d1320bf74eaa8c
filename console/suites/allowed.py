"""Which code of suite folders a person has allowed to run: by digest, in the state folder, one file for each folder.

Code of a folder runs in this program's own process, with the rights of whoever started it, so it never runs because
it lies somewhere; changed code asks again.
"""

import hashlib
import shlex
from pathlib import Path

import msgspec

from console.config.paths import state_dir
from console.core.fault import UsageError
from console.store.atomic import write_atomically
from console.suites.folder_code import FolderCode
from console.suites.suite import SuiteEntry

RUNS_WHERE = "It runs inside this program, with your rights and keys."


class _Allowed(msgspec.Struct):
    folder: str
    suite: str
    digest: str


class NotAllowed(UsageError):
    """The code of a folder may not run yet."""

    def __init__(self, code: FolderCode, data: Path | None, *, changed: bool) -> None:
        """Say how to allow it; `data` is the folder named with --data, in which the suite was found."""
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
    """Look whether just this code was allowed.

    Raises:
        NotAllowed: it was not; names the command.
    """
    digest = allowed_digest(code)
    if digest != code.digest:
        raise NotAllowed(code, entry.data, changed=bool(digest))


def allowed_digest(code: FolderCode) -> str:
    """Return the digest of the code of a folder that was allowed last; empty for none."""
    try:
        record = msgspec.json.decode(_path(code).read_bytes(), type=_Allowed)
    except (OSError, ValueError, RecursionError):
        return ""
    return record.digest if record.folder == str(code.folder) else ""


def allow(code: FolderCode) -> None:
    """Record that this code may run.

    Raises:
        UsageError: the state folder cannot be written.
    """
    path, record = _path(code), _Allowed(str(code.folder), code.name, code.digest)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(record), mode=0o600)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def revoke(code: FolderCode) -> bool:
    """Forget that the code of this folder may run; False when it was not allowed.

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
