"""The journal keeps whole records or nothing, whatever happens to the file."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from console.core.case import Case, Key
from console.core.chat import Reply, ToolCall, Usage
from console.core.fault import Fault, FaultKind
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Embedded, Finished, Noted, Scored, Started, Tried
from console.store.journal import JournalReader, JournalWriter
from console.store.journal_line import BadLine, decode, encode

texts = st.text(st.characters(codec="utf-8"), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
keys = st.builds(Key, texts, st.integers(0, 9), st.integers(1, 9))
times = st.floats(0, 4e9)
replies = st.builds(
    Reply,
    content=st.none() | texts,
    tool_calls=st.lists(st.builds(ToolCall, texts, texts, texts), max_size=2).map(tuple),
    usage=st.none() | st.builds(Usage, st.integers(0, 9**9), st.integers(0, 9**9)),
)
records: st.SearchStrategy[AnyRecord] = st.one_of(
    st.builds(
        Started, at=times, key=keys, case=st.builds(Case, texts, texts, st.dictionaries(texts, values, max_size=3))
    ),
    st.builds(Asked, at=times, key=keys, n=st.integers(1, 99), digest=texts, reply=replies),
    st.builds(
        Embedded,
        at=times,
        key=keys,
        n=st.integers(1, 9),
        digest=texts,
        texts=st.lists(texts, max_size=2),
        vectors=st.lists(st.binary(max_size=32), max_size=2),
    ),
    st.builds(Tried, at=times, key=keys, n=st.integers(1, 9), kind=texts, message=texts),
    st.builds(Scored, at=times, key=keys, name=texts, value=st.none() | st.floats(-1e15, 1e15)),
    st.builds(Noted, at=times, key=keys, kind=texts, data=values),
    st.builds(
        Finished,
        at=times,
        key=keys,
        verdict=st.builds(Verdict, st.sampled_from(Outcome), reason=st.none() | texts),
        output=values,
    ),
)


@given(records)
def test_a_line_gives_back_the_record(record: AnyRecord) -> None:
    line = encode(record)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert decode(line[:-1]) == record


@given(records, st.data())
def test_a_flipped_byte_is_noticed(record: AnyRecord, data: st.DataObject) -> None:
    line = bytearray(encode(record)[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadLine):
        decode(bytes(line))


@given(st.binary(max_size=200))
def test_junk_is_never_a_record(junk: bytes) -> None:
    with pytest.raises(BadLine):
        decode(junk)


@seed(12)
@settings(max_examples=int(os.environ.get("EVAL_CONSOLE_JOURNALS", "60")))
@given(st.lists(records, max_size=6), st.data())
def test_any_damage_costs_only_the_damaged_lines(
    tmp_path_factory: pytest.TempPathFactory, written: list[AnyRecord], data: st.DataObject
) -> None:
    """Whatever is cut off, flipped or put in between: every other record is read, none is invented, none raises."""
    lines = [encode(record) for record in written]
    whole = b"".join(lines)
    damaged = bytearray(whole)
    how = data.draw(st.sampled_from(["cut", "flip", "insert"]))
    at = data.draw(st.integers(0, len(damaged)))
    if how == "cut":
        del damaged[at:]
    elif how == "insert":
        damaged[at:at] = data.draw(st.binary(min_size=1, max_size=30))
    elif damaged:
        damaged[min(at, len(damaged) - 1)] ^= 1 + data.draw(st.integers(0, 254))
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    path.write_bytes(bytes(damaged))
    reader = JournalReader(path)
    read = reader.read_new()
    assert all(record in written for record in read)
    touched = sum(len(line) > 0 for line in lines) - len(read)
    assert touched <= (len(lines) if how == "cut" else 2)
    JournalWriter(path).close()
    assert path.read_bytes() == b"" or path.read_bytes().endswith(b"\n")


def finished(case: str) -> Finished:
    return Finished(at=1.0, key=Key(case), verdict=Verdict(Outcome.PASSED), output="x" * 500)


def test_a_torn_tail_is_set_aside_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encode(finished("a")) + encode(finished("b"))[:100])
    writer = JournalWriter(path)
    assert writer.torn is not None
    assert writer.torn.read_bytes() == encode(finished("b"))[:100]
    writer.append(finished("c"))
    writer.close()
    read = JournalReader(path).read_new()
    assert read == [finished("a"), finished("c")]


def test_a_reader_follows_a_growing_journal_and_waits_for_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    reader = JournalReader(path)
    assert reader.read_new() == []
    line = encode(finished("a"))
    with path.open("ab", buffering=0) as file:
        file.write(line[:50])
        assert reader.read_new() == []
        file.write(line[50:])
    assert reader.read_new() == [finished("a")]
    assert reader.read_new() == []


def test_lone_surrogates_leave_a_valid_line() -> None:
    line = encode(Noted(at=1.0, key=Key("a\ud800"), kind="k", data={"x": ["\udfff"]}))
    line.decode("utf-8")
    assert isinstance(decode(line[:-1]), Noted)


def test_a_newer_schema_is_named(tmp_path: Path) -> None:
    from zlib import crc32

    body = b'{"v":99,"t":"finished","at":1'
    with pytest.raises(BadLine, match="newer version"):
        decode(body + b',"crc":"%08x"}' % crc32(body))


def test_a_short_write_is_rolled_back_and_later_records_are_whole(tmp_path: Path) -> None:
    """A file size limit makes the kernel write short, as a full disk does; no two records may be glued together."""
    script = f"""
import resource, signal
from pathlib import Path
from console.core.case import Key
from console.core.fault import Fault
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished
from console.store.journal import JournalWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = JournalWriter(Path({str(tmp_path / "journal.jsonl")!r}))
def record(n): return Finished(at=1.0, key=Key(str(n)), verdict=Verdict(Outcome.PASSED), output="x" * 500)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
refused = 0
for n in range(6):
    try:
        writer.append(record(n))
    except Fault as fault:
        assert fault.kind == "disk"
        refused += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append(record(99))
writer.close()
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 3
    reader = JournalReader(tmp_path / "journal.jsonl")
    assert [record.key.case for record in reader.read_new() if isinstance(record, Finished)] == ["0", "1", "2", "99"]
    assert reader.damages == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_what_cannot_be_taken_back_is_never_glued_to_the_next_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """160 records, each third of them written short where the file cannot be shortened: all are read, each once."""
    path, write, calls = tmp_path / "journal.jsonl", os.write, list[bytes]()

    def short(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(data) < 2 or len(calls) % 5:
            return write(fd, data)
        write(fd, data[: len(data) // 2])
        raise OSError(5, "Input/output error")

    def refuse(fd: int, size: int) -> None:
        raise OSError(1, "Operation not permitted")

    writer = JournalWriter(path)
    monkeypatch.setattr(os, "write", short)
    monkeypatch.setattr(os, "ftruncate", refuse)
    refused = 0
    for n in range(160):
        try:
            writer.append(finished(str(n)))
        except Fault:
            refused += 1
            monkeypatch.setattr(os, "write", write)
            writer.append(finished(str(n)))
            monkeypatch.setattr(os, "write", short)
    writer.close()
    assert refused > 20
    reader = JournalReader(path)
    assert reader.read_new() == [finished(str(n)) for n in range(160)]
    assert len(reader.damages) == refused == len(list(tmp_path.glob("torn-*.bin")))


def test_a_read_only_folder_is_a_disk_fault(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()
    with pytest.raises(Fault) as caught:
        JournalWriter(tmp_path / "journal.jsonl")
    assert caught.value.kind is FaultKind.DISK


def test_sync_from_another_thread_while_appending(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "journal.jsonl")
    thread = threading.Thread(target=lambda: [writer.sync() for _ in range(20)])
    thread.start()
    for n in range(200):
        writer.append(finished(str(n)))
    thread.join()
    writer.sync()
    assert writer.is_synced
    writer.close()
    assert len(JournalReader(writer.path).read_new()) == 200


def test_lines_are_grepable_json(tmp_path: Path) -> None:
    line = encode(finished("simple_1"))
    assert line.startswith(b'{"v":1,"t":"finished"')
    import json

    assert json.loads(line)["key"][0] == "simple_1"
    assert os.linesep.encode() in line
