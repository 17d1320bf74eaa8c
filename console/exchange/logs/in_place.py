"""Logs that are read where they are: an `.eval` is shown as a run without being imported.

What lists show is taken from the summaries in the log and kept as a short journal in the folder of what may be deleted
at any time. Each case there says where its sample is, and `whole_records` reads that when somebody looks at it. The log
itself is never written to.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from console.config.paths import state_dir
from console.core.fault import UsageError
from console.core.json_text import read_json
from console.core.record import AnyRecord, Closed, Finished, Noted, Opened, Started
from console.core.run import Manifest
from console.core.source import IN_PLACE
from console.exchange.logs.inspect_log import EvalLog, Summary, brief_sample, sample_of
from console.exchange.logs.log import LogHead, LogSample, Problem, table
from console.exchange.logs.records import SampleRecords, manifest_of, started_at
from console.exchange.logs.verdict import decisive_name, named_numbers
from console.exchange.logs.zip_members import Member, read_member
from console.store.runs import RunFolder
from console.store.staged_run import StagedRun

_LOGS = "logs"
_LAYOUT = 2
"""Changes when what is kept of a log does."""
_ONLY_ITS_SUMMARY = "is not in the log, or stored in parts: only its summary is shown. `import` shows it whole."
_CANNOT_BE_READ = "sample"
"""Kind of the note that says why a sample cannot be read."""


class _LogFile(msgspec.Struct, frozen=True):
    """Which file a run shows, as it was when it was listed."""

    path: str
    size: int
    modified_ns: int
    decisive: str


def open_in_place(path: Path) -> RunFolder:
    """Return the run that an `.eval` is shown as; it is listed anew when the file has changed.

    Raises:
        UsageError: it cannot be read, is no such log, or what lists show cannot be kept.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    file = str(path.resolve())
    identity = repr((_LAYOUT, file, status.st_size, status.st_mtime_ns)).encode("utf-8", "surrogatepass")
    name = hashlib.sha256(identity).hexdigest()[:24]
    root = state_dir() / _LOGS
    folder = RunFolder(root / name)
    if not folder.manifest_path.exists():
        _list_samples(path, _LogFile(file, status.st_size, status.st_mtime_ns, ""), root, name)
    return folder


def _list_samples(path: Path, file: _LogFile, root: Path, name: str) -> None:
    log = EvalLog(path)
    staged = StagedRun(root, f"{name}-listed")
    try:
        samples = [_brief_sample(log, summary) for summary in log.summaries()]
        head = msgspec.structs.replace(log.head, decisive=_decisive(log.head, samples))
        staged.append([Opened(at=started_at(head), pid=0)])
        records = SampleRecords(head)
        for sample in samples:
            staged.append(records.records(sample, sample.id))
        staged.append([Closed(at=started_at(head), reason=head.ended, message=head.message)])
        file = msgspec.structs.replace(file, decisive=head.decisive)
        staged.publish(_manifest(head, name, path, file, samples, log.problems))
    except BaseException:
        staged.discard()
        raise


def _brief_sample(log: EvalLog, summary: Summary) -> LogSample:
    """Return what lists show of a sample, its case with the place of the sample."""
    member = None if summary.is_in_parts else log.member(summary.member)
    return brief_sample(summary, None if member is None else {IN_PLACE: member})


def _decisive(head: LogHead, samples: Sequence[LogSample]) -> str:
    return head.decisive or next(filter(None, (decisive_name(sample, "") for sample in samples)), "")


def _manifest(
    head: LogHead, name: str, path: Path, file: _LogFile, samples: Sequence[LogSample], problems: Sequence[Problem]
) -> Manifest:
    numbers = {named_numbers(sample.scores).get(head.decisive, 0.0) for sample in samples}
    manifest = manifest_of(
        head,
        name,
        file=path.name,
        headline=head.decisive if numbers - {0.0, 1.0} else "",
        rollouts=max(len(samples), head.samples or 0),
        repeats=max((sample.epoch + 1 for sample in samples), default=1),
    )
    extras: dict[str, Any] = {
        **manifest.setting.extras,
        IN_PLACE: msgspec.to_builtins(file),
        "problems": [f"{problem.where}: {problem.why}" for problem in problems],
    }
    return msgspec.structs.replace(
        manifest, name=path.name, setting=msgspec.structs.replace(manifest.setting, extras=extras)
    )


def whole_records(manifest: Manifest, records: list[AnyRecord]) -> list[AnyRecord]:
    """Return the records of one conversation, with those that are read from a log in place of its brief ones.

    Of a run that is no log in place, and of a sample that cannot be read, they are what they were; the latter with a
    note that says why.

    Raises:
        UsageError: the log is not there any more, or was changed.
    """
    kept = manifest.setting.extras.get(IN_PLACE)
    started = next((record for record in reversed(records) if isinstance(record, Started)), None)
    if kept is None or started is None:
        return records
    file = msgspec.convert(kept, _LogFile)
    try:
        member = msgspec.convert(started.case.data[IN_PLACE], Member)
        content = read_member(_unchanged(file), member)
        sample = sample_of(table(read_json(content)))
    except KeyError:
        return _with_note(
            records,
            started,
            _ONLY_ITS_SUMMARY,
        )
    except ValueError as error:
        return _with_note(records, started, str(error))
    head = LogHead(tool="", task=started.case.category, model="", at=started.at, decisive=file.decisive)
    whole = list(SampleRecords(head).records(sample, started.key.case))
    return [record for record in whole if getattr(record, "key", None) == started.key]


def _with_note(records: list[AnyRecord], started: Started, why: str) -> list[AnyRecord]:
    place = next((place for place, record in enumerate(records) if isinstance(record, Finished)), len(records))
    return [*records[:place], Noted(at=started.at, key=started.key, kind=_CANNOT_BE_READ, data=why), *records[place:]]


def _unchanged(file: _LogFile) -> Path:
    path = Path(file.path)
    try:
        status = path.stat()
    except OSError as error:
        raise UsageError(f"the log cannot be read any more: {error.strerror}", where=file.path) from None
    if (status.st_size, status.st_mtime_ns) != (file.size, file.modified_ns):
        raise UsageError("the log was changed since it was opened", where=file.path, hint="Open it again.")
    return path
