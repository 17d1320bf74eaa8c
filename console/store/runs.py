"""Run folders: making, finding, listing and summing them up."""

import contextlib
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from console.core.fault import UsageError
from console.core.run import Manifest, Summary
from console.core.suggestion import nearest
from console.core.tally import RunFold, without_output
from console.store.atomic import PRIVATE, make_private_folder, write_atomically
from console.store.journal import JournalReader, doubt_path
from console.store.lock import is_held
from console.store.old_runs import read_manifest
from console.store.run_queue import RunQueue

STARTING_S = 20.0
"""How long a run without any record is taken to be starting; after that its engine has failed to start."""


class RunFolder:
    """One run on disk. Making this object touches no file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.journal_path = path / "journal.jsonl"
        self.manifest_path = path / "run.json"
        self.summary_path = path / "summary.json"
        self.notes_path = path / "notes.jsonl"
        self.index_path = path / "index.msgpack"
        self.lock_path = path / "lock"
        self.socket_path = path / "live.sock"
        self.log_path = path / "engine.log"

    def manifest(self) -> Manifest:
        """Read run.json.

        Raises:
            UsageError: missing or not readable; says which file and why.
        """
        try:
            return read_manifest(self.manifest_path.read_bytes(), self.journal_path)
        except FileNotFoundError:
            raise UsageError("this is not a run folder: run.json is missing", where=str(self.path)) from None
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"cannot be read: {error}", where=str(self.manifest_path)) from None

    @property
    def is_live(self) -> bool:
        """Whether an engine is playing this run now."""
        return is_held(self.lock_path)

    @property
    def is_closed(self) -> bool:
        """Whether the last engine that played it ended in order: finished, stopped, at a cap or halted."""
        return self.fold()[0].closed is not None

    @property
    def is_in_doubt(self) -> bool:
        """Whether the disk has not confirmed all of its journal, and nobody has written the rest again since."""
        return doubt_path(self.journal_path).exists()

    @property
    def is_queued(self) -> bool:
        """Whether it waits in the queue of its runs folder (or is what the queue is at)."""
        return self.name in RunQueue(self.path.parent).names()

    def summary(self) -> Summary:
        """Return the summary, from summary.json when it is current, else from the journal.

        Raises:
            UsageError: run.json cannot be read.
        """
        live = self.is_live
        saved = self._saved_summary(live)
        return saved if saved is not None else self.fold()[1]

    def _saved_summary(self, live: bool) -> Summary | None:
        try:
            saved = msgspec.json.decode(self.summary_path.read_bytes(), type=Summary)
            size = self.journal_path.stat().st_size
        except (OSError, msgspec.DecodeError):
            return None
        if saved.journal_bytes != size or (saved.state == "running") != live:
            return None
        if saved.tally.graded and not saved.tally.cases and self.manifest().rollouts > 1:
            return None  # written by a version that counted repeats of a case as cases
        if not saved.format and (form := self.manifest().format):  # written by an earlier version
            saved.format = form
            self._save_summary(saved)
        return saved

    def fold(self) -> tuple[RunFold, Summary]:
        """Derive everything from the journal anew, and keep the summary of a run that stands still."""
        manifest, live = self.manifest(), self.is_live
        reader, fold = JournalReader(self.journal_path), RunFold()
        for record in reader.iter_all():
            fold.apply(without_output(record))
        summary = fold.summary(
            manifest, live=live, now=time.time(), damaged=len(reader.damages), journal_bytes=reader.offset
        )
        if not live and not fold.sessions:
            self._explain_no_records(summary)
        if not live and summary.state not in ("queued", "starting"):
            self._save_summary(summary)
        return fold, summary

    def _explain_no_records(self, summary: Summary) -> None:
        """Say of a run that no engine has written to whether it waits, is starting, or could not be started."""
        words, spawned = self._log()
        if self.is_queued:
            summary.state = "queued"
        elif words:
            summary.message = words
        elif summary.updated - max(summary.at, spawned) < STARTING_S:
            summary.state = "starting"

    def _log(self) -> tuple[str, float]:
        """Return the end of what an engine said outside of the journal, and when it said that or was started."""
        try:
            with self.log_path.open("rb") as log:
                status = os.fstat(log.fileno())
                log.seek(max(0, status.st_size - 2_000))
                return log.read().decode("utf-8", "replace").strip(), status.st_mtime
        except OSError:
            return "", 0.0

    def _save_summary(self, summary: Summary) -> None:
        """Write summary.json; a run on a read-only disk is summed up anew each time instead."""
        try:
            write_atomically(self.summary_path, msgspec.json.encode(summary) + b"\n", mode=PRIVATE)
        except OSError:
            return


def create_run(root: Path, manifest: Manifest) -> RunFolder:
    """Make the folder of a new run and write its manifest.

    Raises:
        UsageError: the folder exists or cannot be written; says why and what to do.
    """
    run = RunFolder(root / manifest.id)
    try:
        root.mkdir(parents=True, exist_ok=True)
        make_private_folder(run.path)
        write_atomically(run.manifest_path, msgspec.json.encode(manifest) + b"\n", mode=PRIVATE)
    except FileExistsError:
        raise UsageError("a run of that name exists", where=str(run.path), hint="Choose another --name.") from None
    except OSError as error:
        with contextlib.suppress(OSError):
            run.manifest_path.unlink(missing_ok=True)
            run.path.rmdir()
        raise UsageError(
            f"the runs folder cannot be written: {error.strerror}",
            where=str(root),
            hint="Make it writable, or choose another with --runs PATH.",
        ) from None
    return run


def new_run_id(suite: str, model: str, category: str = "", name: str = "") -> str:
    """Return a folder name: UTC minute, model, suite and four random characters, safe in any file system."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H%M")
    tail = os.urandom(3).hex()[:4]
    parts = [slug(name)] if name else [slug(model), slug(suite), slug(category)]
    return "-".join(part for part in (stamp, *parts, tail) if part)


def slug(text: str, limit: int = 40) -> str:
    """Reduce foreign text to lower-case letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")[:limit]


def list_runs(root: Path) -> list[RunFolder]:
    """Return all runs under a folder, newest first, those whose name is no date last; no run.json, no run."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if _is_folder(entry) and not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    dated = sorted(names, key=lambda name: (name[:1].isdigit(), name), reverse=True)
    runs = [RunFolder(root / name) for name in dated]
    return [run for run in runs if run.manifest_path.exists()]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def find_run(root: Path, name: str) -> RunFolder:
    """Find a run by folder name, by path, by unique part of its name, or `latest`.

    Raises:
        UsageError: no such run (names the nearest), or several.
    """
    if os.sep in name or name in (".", ".."):
        run = RunFolder(Path(name).resolve())
        run.manifest()
        return run
    runs = list_runs(root)
    if name == "latest" and runs:
        return runs[0]
    exact = [run for run in runs if run.name == name]
    matching_runs = (
        exact or [run for run in runs if run.name.startswith(name)] or [run for run in runs if name in run.name]
    )
    if len(matching_runs) == 1:
        return matching_runs[0]
    if not matching_runs:
        raise UsageError(
            f"no run is called {name!r} in {root}", hint=_hint_for_unknown(name, [run.name for run in runs])
        )
    listed = ", ".join(run.name for run in matching_runs[:5])
    raise UsageError(f"{name!r} could be {len(matching_runs)} runs: {listed}", hint="Give more of the name.")


def _hint_for_unknown(name: str, names: list[str]) -> str:
    if not names:
        return "Nothing has been run yet; start with `eval-console run`."
    close = nearest(name, names)
    return f"Did you mean {close}?" if close else "`eval-console runs` lists them."
