"""Logs opened in place: an `.eval` is shown as a run without being imported.

Lists are built from the log's summaries and stored as a short journal in a cache folder. Each case there refers to its
sample, which `whole_records` reads when it is opened. The log itself is never written to.
"""

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from console.config.paths import state_dir
from console.core.fault import UsageError, os_errors_as
from console.core.json_text import read_json
from console.core.outcome import Outcome
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Closed, Finished, Noted, Opened, Started
from console.core.run import Manifest
from console.core.source import IN_PLACE
from console.exchange.imports.inspect_log import EvalLog, Summary, brief_sample, sample_of
from console.exchange.imports.log import LogHead, LogSample, Problem, table
from console.exchange.imports.records import SampleRecords, manifest_of, started_at
from console.exchange.imports.verdict import decisive_name, named_numbers
from console.exchange.imports.zip_members import Member, read_member
from console.store.growing_run import GrowingRun, is_whole, wait_for_writer
from console.store.lock import RunLocked
from console.store.runs import RunFolder

_LOGS = "logs"
_PORTION = 256
"""Number of samples indexed at a time."""
_LEAD_S = 1.0
"""Seconds to wait after the first failure, so that the front end can show it, before indexing the rest."""
_PAUSES = 3.0
"""Length of each pause, as a multiple of the preceding work."""
_LAYOUT = 4
"""Version of the cached index's layout."""
_ONLY_ITS_SUMMARY = "is not in the log, or stored in parts: only its summary is shown. `import` shows it whole."
_CANNOT_BE_READ = "sample"
"""Kind of the note on an unreadable sample."""


class _LogFile(msgspec.Struct, frozen=True):
    """Identity of an indexed file."""

    path: str
    size: int
    modified_ns: int
    decisive: str


InBackground = Callable[[Callable[[], None]], object]
"""Runs a function concurrently with the caller."""


def in_thread(work: Callable[[], None]) -> None:
    """Run a function in a daemon thread, which never delays exit."""
    threading.Thread(target=work, name="log", daemon=True).start()


def open_in_place(path: Path, *, background: InBackground | None = None) -> RunFolder:
    """Return the run that shows an `.eval`; it is indexed again when the file has changed.

    Args:
        path: the log.
        background: runs the rest of the indexing concurrently once the first failure is indexed, with pauses that
            leave most processor time to the front end, such as `in_thread`; None: index everything first.

    Raises:
        UsageError: it cannot be read, is not such a log, or the index cannot be written.
    """
    with os_errors_as("cannot be read", where=path):
        status = path.stat()
    file = str(path.resolve())
    identity = repr((_LAYOUT, file, status.st_size, status.st_mtime_ns)).encode("utf-8", "surrogatepass")
    name = hashlib.sha256(identity).hexdigest()[:24]
    folder = RunFolder(state_dir() / _LOGS / name)
    while not is_whole(folder):
        try:
            growing = GrowingRun(folder)
        except RunLocked:  # another process indexes it
            if wait_for_writer(folder, until_whole=background is None):
                break
            continue
        _list_samples(path, _LogFile(file, status.st_size, status.st_mtime_ns, ""), growing, background)
        break
    return folder


def _list_samples(path: Path, file: _LogFile, growing: GrowingRun, background: InBackground | None) -> None:
    try:
        log = EvalLog(path)
        summaries = log.summaries()
        distinct = [brief_sample(summary) for summary in _differing(summaries)]
        head = msgspec.structs.replace(log.head, decisive=_decisive(log.head, distinct))
        file = msgspec.structs.replace(file, decisive=head.decisive)
        portions = _portions(log, head, summaries)
        growing.append([Opened(at=started_at(head), pid=0), *next(portions, ())])
        repeats = max((summary.rollout + 1 for summary in summaries), default=1)
        planned = max(len(summaries), head.samples or 0)
        growing.show(_manifest(head, growing.run.name, path, file, distinct, log.problems, planned, repeats))
    except BaseException:
        growing.close()
        raise
    if background is not None:
        background(partial(_list_in_background, growing, head, portions))
    else:
        _list_rest(growing, head, portions, 0.0)


def _list_in_background(growing: GrowingRun, head: LogHead, portions: Iterator[list[AnyRecord]]) -> None:
    time.sleep(_LEAD_S)
    with contextlib.suppress(UsageError):  # the disk failed: the run stays open, and reports missing cases
        _list_rest(growing, head, portions, _PAUSES)


def _list_rest(growing: GrowingRun, head: LogHead, portions: Iterator[list[AnyRecord]], pauses: float) -> None:
    """Index the remaining samples, then close the run; each pause lasts `pauses` times the preceding work."""
    try:
        begun_at = time.monotonic()
        for portion in portions:
            growing.append(portion)
            time.sleep(pauses * (time.monotonic() - begun_at))
            begun_at = time.monotonic()
        growing.append([Closed(at=started_at(head), reason=head.ended, message=head.message)])
        growing.finish()
    finally:
        growing.close()


def _portions(log: EvalLog, head: LogHead, summaries: Sequence[Summary]) -> Iterator[list[AnyRecord]]:
    """Yield the records of the samples: first those up to the first failure, then the rest in batches."""
    records, portion, is_first, listed = SampleRecords(head), list[AnyRecord](), True, 0
    for summary in summaries:
        sample = _brief_sample(log, head, summary)
        of_sample = list(records.records(sample, sample.id))
        portion += of_sample
        listed += 1
        if listed >= _PORTION and (not is_first or any(map(_has_failed, portion))):
            yield portion
            portion, is_first, listed = [], False, 0
    yield portion


def _has_failed(record: AnyRecord) -> bool:
    return isinstance(record, Finished) and record.verdict.outcome is not Outcome.PASSED


def _differing(summaries: Sequence[Summary]) -> list[Summary]:
    """Return the first summary for each distinct combination of score values."""
    first: dict[str, Summary] = {}
    for summary in summaries:
        values = [(name, table(score).get("value")) for name, score in table(summary.scores).items()]
        first.setdefault(repr(values), summary)
    return list(first.values())


def _brief_sample(log: EvalLog, head: LogHead, summary: Summary) -> LogSample:
    """Return a sample's list data; its case has the location of the sample."""
    member = None if summary.is_in_parts else log.member(summary.member)
    sample = brief_sample(summary, None if member is None else {IN_PLACE: member})
    if head.rest.get("invalidated") and member is not None:  # which sample it is, summaries do not say
        with contextlib.suppress(KeyError, ValueError):
            return msgspec.structs.replace(sample, invalidated=log.sample(summary).invalidated)
    return sample


def _decisive(head: LogHead, samples: Sequence[LogSample]) -> str:
    return head.decisive or next(filter(None, (decisive_name(sample, "") for sample in samples)), "")


def _manifest(
    head: LogHead,
    name: str,
    path: Path,
    file: _LogFile,
    samples: Sequence[LogSample],
    problems: Sequence[Problem],
    planned: int,
    repeats: int,
) -> Manifest:
    """Return the manifest; `samples` are those with differing scores."""
    numbers = {named_numbers(sample.scores).get(head.decisive, 0.0) for sample in samples}
    headline = head.decisive if numbers - {0.0, 1.0} else ""
    manifest = manifest_of(head, name, file=path.name, headline=headline, rollouts=planned, repeats=repeats)
    extras: dict[str, Any] = {
        **manifest.setting.extras,
        IN_PLACE: msgspec.to_builtins(file),
        "problems": [f"{problem.where}: {problem.why}" for problem in problems],
    }
    return msgspec.structs.replace(
        manifest, name=path.name, setting=msgspec.structs.replace(manifest.setting, extras=extras)
    )


def log_in_place(manifest: Manifest) -> Path | None:
    """Return the log that a run shows in place; None for other runs.

    Raises:
        UsageError: the log is missing or was changed.
    """
    kept = manifest.setting.extras.get(IN_PLACE)
    return None if kept is None else _unchanged(msgspec.convert(kept, ready_type(_LogFile)))


def whole_records(manifest: Manifest, records: list[AnyRecord]) -> list[AnyRecord]:
    """Return the records of a conversation, replacing brief ones with those read from the log.

    Records of other runs are returned unchanged, as are those of unreadable samples, with a note on the reason.

    Raises:
        UsageError: the log is missing or was changed.
    """
    kept = manifest.setting.extras.get(IN_PLACE)
    started = next((record for record in reversed(records) if isinstance(record, Started)), None)
    if kept is None or started is None:
        return records
    file = msgspec.convert(kept, ready_type(_LogFile))
    try:
        member = msgspec.convert(started.case.data[IN_PLACE], ready_type(Member))
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
    with os_errors_as("the log can no longer be read", where=file.path):
        status = path.stat()
    if (status.st_size, status.st_mtime_ns) != (file.size, file.modified_ns):
        raise UsageError("the log has changed since it was opened", where=file.path, hint="Open it again.")
    return path
