"""Data for nodes that lack them: what is packed, what is unpacked, once, and what is refused."""

import io
import os
import stat
import tarfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.folder_suites import write_folder_suite

from console.config.paths import DataRoots, WorkspacePaths
from console.core.fault import UsageError
from console.core.record import Finished
from console.core.run import Selection
from console.engine.engine import Engine
from console.engine.plan import Plan, prepare
from console.engine.workers import data_copy, session
from console.engine.workers.data_copy import RunData, find_run_data, pack, unpack_once
from console.engine.workers.messages import WorkerFacts
from console.engine.workers.preflight import needs_data
from console.engine.workers.remote_player import RemotePlayer
from console.engine.workers.session import WorkerSession
from console.llm.limits.limiter import LIMITERS
from console.store.journal import JournalReader
from console.store.runs import create_run
from console.suites import allowed
from console.suites.archive import ArchiveLimits, unpack_tar
from console.suites.catalog import read_entry
from console.suites.folder_code import FolderCode

KEY = "sk-abcdef0123456789"
DIGEST = "0" * 64


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(data_copy, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "questions"
    (made / "deep" / "er").mkdir(parents=True)
    (made / "suite.toml").write_text('format = "dialogue"\n')
    (made / "empty.txt").write_bytes(b"")
    (made / "deep" / "er" / "großes.bin").write_bytes(os.urandom(3_000_000))
    return made


def packed(data: RunData) -> list[bytes]:
    parts: list[bytes] = []
    pack(data, parts.append)
    return parts


def of(folder: Path) -> RunData:
    return find_run_data("questions", folder, None, [KEY])


def folders_of(cache: Path) -> list[str]:
    return [path.name for path in cache.glob("*") if path.is_dir()]


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def test_what_is_packed_is_unpacked_and_is_its_owners_alone(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_copy, "PART_BYTES", 1 << 20)
    data = of(folder)
    parts = packed(data)
    assert len(parts) > 2
    assert parts == packed(of(folder)), "the same data are the same bytes"
    made, is_new = unpack_once(data.digest, parts)
    assert (made, is_new) == (cache / data.digest, True)
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert names == {"questions/suite.toml", "questions/empty.txt", "questions/deep/er/großes.bin"} == set(data.files)
    assert all((made / name).read_bytes() == path.read_bytes() for name, path in data.files.items())
    for path in (made, *made.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_what_is_no_data_stays_here(folder: Path) -> None:
    before = of(folder)
    (folder / ".env").write_text(f"SOME_KEY={KEY}\n")
    (folder / "models.toml").write_text(f'api_key = "{KEY}"\n')
    for name in (".git", "__pycache__"):
        (folder / "deep" / name).mkdir()
        (folder / "deep" / name / "config").write_text(KEY)
    (folder / ".hidden").symlink_to("/etc/hostname")
    assert of(folder) == before


def test_a_file_that_holds_a_key_is_named_and_never_packed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = folder / "deep" / "notes.txt"
    notes.write_text(f"my key is {KEY}, keep it")
    with pytest.raises(UsageError, match=r"notes\.txt: the file contains a key") as refused:
        of(folder)
    assert KEY not in str(refused.value)
    monkeypatch.setenv("OTHER_API_KEY", "zz-another-0123456789")
    notes.write_text("zz-another-0123456789")
    with pytest.raises(UsageError, match="contains a key"):
        of(folder)


def test_links_are_named_and_never_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("private")
    (tmp_path / "outside").mkdir()
    for name in ("outside.txt", "outside"):
        link = folder / "deep" / "link"
        link.symlink_to(tmp_path / name)
        with pytest.raises(UsageError, match=r"deep/link: links are not sent.*\n.*--data"):
            of(folder)
        link.unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(UsageError, match="pipe: special files are not sent"):
        of(folder)


@pytest.mark.parametrize("most", [ArchiveLimits(members=2), ArchiveLimits(total_bytes=1 << 20)])
def test_data_that_are_too_large_are_refused_with_their_size(
    folder: Path, most: ArchiveLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_copy, "MOST", most)
    with pytest.raises(UsageError, match=r"questions: the data has 3 files of 2 MiB in all; at most .* sent to nodes"):
        of(folder)


@pytest.mark.parametrize("name", ["/tmp/x", "../x", "a/../../x", "a\\..\\x", "c:x", "."])
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    target = tmp_path / "in" / "target"
    target.mkdir(parents=True)
    with pytest.raises((UsageError, OSError)):
        unpack_tar([tar((tarfile.TarInfo(name), b"text"))], target, ArchiveLimits())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.GNUTYPE_SPARSE],
)
def test_only_regular_files_are_unpacked(kind: bytes, tmp_path: Path) -> None:
    member = tarfile.TarInfo("member")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(UsageError):
        unpack_tar([tar((member, b""), (tarfile.TarInfo("member/x"), b"text"))], tmp_path, ArchiveLimits())
    assert list(tmp_path.iterdir()) == []


def test_sizes_numbers_and_doubled_names_are_bound(tmp_path: Path) -> None:
    two = tar((tarfile.TarInfo("a"), b"12345"), (tarfile.TarInfo("b"), b"12345"))
    for limits in (ArchiveLimits(member_bytes=4), ArchiveLimits(total_bytes=9), ArchiveLimits(members=1)):
        target = tmp_path / str(hash(limits))
        target.mkdir()
        with pytest.raises(UsageError, match=r"refused: member '[ab]'"):
            unpack_tar([two], target, limits)
    doubled = tar((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2"))
    with pytest.raises(OSError, match="exists"):
        unpack_tar([doubled], tmp_path, ArchiveLimits())


@given(drawn=st.data())
def test_an_archive_that_is_cut_short_or_changed_leaves_nothing(drawn: st.DataObject, tmp_path_factory) -> None:
    place = tmp_path_factory.mktemp("cut")
    source = place / "source"
    source.mkdir()
    (source / "a.txt").write_bytes(b"first" * 200)
    (source / "b.txt").write_bytes(b"second" * 200)
    data = of(source)
    whole = b"".join(packed(data))
    if drawn.draw(st.booleans()):
        sent = whole[: drawn.draw(st.integers(0, 512 + 1024 + 512 + 1199))]  # heads of 512, contents in blocks of 512
    else:
        at = drawn.draw(st.integers(512, 512 + 999))
        sent = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_copy, "cache_dir", lambda: place / "cache")
        with pytest.raises(UsageError, match=r"arrived corrupted|no readable tar|not a readable tar"):
            unpack_once(data.digest, [sent])
        assert [path for path in (place / "cache" / "data").iterdir() if path.suffix != ".lock"] == []
        assert unpack_once(data.digest, [whole])[1]


def test_of_many_workers_of_a_node_one_unpacks(folder: Path, cache: Path) -> None:
    data, fetched, together = of(folder), list[int](), Barrier(4)
    parts = packed(data)

    def fetch() -> Iterator[bytes]:
        for number, part in enumerate(parts):
            fetched.append(number)
            yield part

    def unpack(_: int) -> bool:
        together.wait()
        return unpack_once(data.digest, fetch())[1]

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(unpack, range(4))) == [False, False, False, True]
    assert fetched == list(range(len(parts)))
    assert folders_of(cache) == [data.digest]


def test_parts_that_do_not_come_leave_nothing_and_say_so(folder: Path, cache: Path) -> None:
    def cut() -> Iterator[bytes]:
        yield packed(data)[0][:1000]
        raise UsageError("the data does not arrive")

    data = of(folder)
    with pytest.raises(UsageError, match="the data does not arrive"):
        unpack_once(data.digest, cut())
    assert folders_of(cache) == []


def test_damaged_data_in_the_cache_are_unpacked_again(folder: Path, cache: Path) -> None:
    data = of(folder)
    made, _ = unpack_once(data.digest, packed(data))
    (made / "questions" / "suite.toml").write_text("other")
    assert unpack_once(data.digest, packed(data)) == (made, True)
    (made / "questions" / "added.txt").write_text("more")
    assert unpack_once(data.digest, packed(data)) == (made, True)
    assert unpack_once(data.digest, []) == (made, False)


def test_a_digest_that_is_none_and_a_cache_that_cannot_be_written_are_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match="invalid data digest"):
        unpack_once("../" + DIGEST[3:], [])
    cache.parent.write_text("a file")
    with pytest.raises(UsageError, match="the data cannot be unpacked"):
        unpack_once(DIGEST, [])


@pytest.mark.parametrize(
    ("theirs", "needed"),
    [
        ({}, False),
        ({"cases": "others"}, True),
        ({"dataset": {"name": "t"}}, True),
        ({"weights": {"w": "1"}}, True),
        ({"missing": "no suite is named s", "lacks_data": True}, True),
        ({"missing": "M_KEY is not set"}, False),
        ({"versions": {"eval-console": "2"}, "cases": "others"}, False),
    ],
)
def test_data_are_sent_where_they_would_help(theirs: dict[str, object], needed: bool) -> None:
    ours = WorkerFacts("engine", "here", {"eval-console": "1"}, {"name": "s"}, "cases")
    assert needs_data(ours, msgspec.structs.replace(ours, name="node-b/7", **theirs)) is needed


class Link:
    """A worker in this process."""

    def __init__(self, number: int) -> None:
        self.session, self.number = WorkerSession(), number

    async def prepare(self, setup: bytes, parts: Sequence[bytes]) -> bytes:
        facts = msgspec.json.decode(self.session.prepare(setup, parts), type=WorkerFacts)
        return msgspec.json.encode(msgspec.structs.replace(facts, name=f"node/{self.number}"))

    def deliver(self, piece: session.Piece) -> None:
        self.session.deliver(piece)

    async def poll(self) -> session.Piece:
        return await self.session.poll()

    def kill(self) -> None:
        pass


class Workers:
    """Two workers in this process, whose store has room for data or has not."""

    size = 2

    def __init__(self, *, has_room: bool = True) -> None:
        self.made, self.has_room, self.stored = 0, has_room, 0

    async def spawn(self) -> Link:
        self.made += 1
        return Link(self.made)

    def put(self, part: bytes) -> bytes:
        if not self.has_room:
            raise UsageError("cannot write to the cluster's object store: it is full")
        self.stored += 1
        return part

    async def until_gone(self) -> str:
        await session.asyncio.Event().wait()
        return ""

    def close(self) -> None:
        pass


@pytest.fixture
def empty_nodes(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    """Play the starter with workers that find no data of their own."""
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    monkeypatch.setattr(LIMITERS, "share_with_others", None, raising=False)
    nowhere = DataRoots(bundled=tmp_path / "no", pulled=tmp_path / "no")
    monkeypatch.setattr(session, "find_data_roots", lambda named: nowhere)

    async def played(
        fleet: Workers, suite: str = "bfcl-starter", data: Path | None = None, **of_plan: Any
    ) -> list[Finished]:
        paths = WorkspacePaths(data=data, runs=tmp_path / "runs")
        plan = Plan("sim/careful", suite, Selection(limit=4), concurrency=2, paths=paths, **of_plan)
        ready = prepare(plan)
        run = create_run(ready.runs_root, ready.manifest)
        await Engine(run, ready, player=partial(RemotePlayer, fleet=fleet)).run()
        return [record for record in JournalReader(run.journal_path).iter_all() if isinstance(record, Finished)]

    return played


async def test_workers_without_data_play_with_those_of_the_engine(empty_nodes, cache: Path) -> None:
    fleet = Workers()
    ended = await empty_nodes(fleet)
    assert len(ended) == 4
    assert all(record.verdict.outcome.is_graded for record in ended)
    assert fleet.stored == 1, "packed and stored once for both"
    assert len(folders_of(cache)) == 1


async def test_code_that_was_sent_runs_only_where_it_was_allowed(
    empty_nodes, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowed, "state_dir", lambda: tmp_path / "state")
    here = write_folder_suite(tmp_path / "own")
    allowed.allow(FolderCode(read_entry(here)))
    play = partial(empty_nodes, suite="cities", data=here.parent, roles={"user": "sim/careful"})
    with pytest.raises(
        UsageError, match=r"cities has not been allowed to run\n.*eval-console allow cities --data"
    ) as no:
        await play(Workers())
    copy = cache / folders_of(cache)[0]
    assert f"--data {copy}" in str(no.value)
    allowed.allow(FolderCode(read_entry(copy / "cities")))
    assert all(record.verdict.outcome.is_graded for record in await play(Workers()))


async def test_a_store_without_room_refuses_the_run_in_a_sentence(empty_nodes) -> None:
    with pytest.raises(UsageError, match="to the cluster's object store: it is full"):
        await empty_nodes(Workers(has_room=False))


async def test_workers_that_have_the_data_are_sent_none(
    empty_nodes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from console.config import paths

    monkeypatch.setattr(session, "find_data_roots", paths.find_data_roots)
    fleet = Workers()
    assert len(await empty_nodes(fleet)) == 4
    assert (fleet.stored, folders_of(cache)) == (0, [])
