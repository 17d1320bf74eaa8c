"""The table of system calls: complete, true to the kernel's own lists, and what the filter really does with each call.

The filter's program is run here by a small interpreter, for both machines and every number; and the table is walked
from inside the box, at every level that has a filter.
"""

import errno
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from console.sandbox.linux import kernel, seccomp
from console.sandbox.linux.seccomp import MACHINES, Protection, Row, make_program, read_table
from console.sandbox.worker import Layers, Worker, WorkerLost

CELL = "console.sandbox.programs.cell"
PID = 4242
ALLOW = "allow"
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
OTHER_NAMES = {"fstatat": "newfstatat", "sync_file_range2": "sync_file_range"}
NO_CALLS = {"syscalls", "arch_specific_syscall"}
MOST_NUMBERS = 600
ERRORS = {"refuse": errno.EPERM, "absent": errno.ENOSYS, "unsupported": errno.EOPNOTSUPP}
linux = pytest.mark.skipif(sys.platform != "linux", reason="confinement is made of Linux features")


class Call(NamedTuple):
    """One call as the filter sees it."""

    machine: str
    number: int
    arguments: tuple[int, ...] = (0,) * 6


def verdict(program: bytes, call: Call, arch: int | None = None) -> str | int:
    """Run a filter's program on a call: `allow`, or the number of the error it answers with."""
    data = call.number.to_bytes(4, "little") + (arch or ARCH[call.machine]).to_bytes(4, "little") + bytes(8)
    data += b"".join((word % (1 << 64)).to_bytes(8, "little") for word in (*call.arguments, *(0,) * 6)[:6])
    at = loaded = 0
    while True:
        code = int.from_bytes(program[at * 8 : at * 8 + 2], "little")
        if_true, if_false = program[at * 8 + 2], program[at * 8 + 3]
        value = int.from_bytes(program[at * 8 + 4 : at * 8 + 8], "little")
        at += 1
        if code == 0x06:
            return ALLOW if value == 0x7FFF0000 else value & 0xFFFF
        if code == 0x20:
            loaded = int.from_bytes(data[value : value + 4], "little")
        elif code == 0x54:
            loaded &= value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += if_true if holds else if_false


def filtered(machine: str, attributes: bool = False, truncation: bool = False) -> bytes:
    return make_program(machine, Protection(attributes, truncation), PID)


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_the_kernels(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip("no kernel headers here")
    numbers: dict[str, int] = {}
    listed: list[tuple[str, str]] = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    for name, number in listed:
        if name not in NO_CALLS and not name.endswith(("time64", "ettime64", "_adjtime64", "_getres_time64")):
            numbers[OTHER_NAMES.get(name) or name] = int(number)
    table = {row.name: row.number for row in read_table(machine)}
    assert numbers.items() - table.items() == set()
    newest = max(numbers.values())
    assert {name for name, number in table.items() if number <= newest} - numbers.keys() <= {"uretprobe", "uprobe"}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_row_has_a_reason_and_one_number(machine: str) -> None:
    rows = read_table(machine)
    assert len({row.number for row in rows}) == len(rows) > 300
    assert all(row.reaches for row in rows)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("protected", [False, True])
def test_plain_decisions_whatever_the_arguments(machine: str, protected: bool) -> None:
    program = filtered(machine, protected, protected)
    rows = {row.number: row for row in read_table(machine)}
    for number in range(MOST_NUMBERS):
        decision = rows[number].decision if number in rows else "absent"
        expected: str | int | None = ERRORS.get(decision, ALLOW if decision == ALLOW else None)
        if decision == "attribute":
            expected = ALLOW if protected else 0
        if decision == "truncation":
            expected = ALLOW if protected else errno.EPERM
        if expected is not None:
            for words in ((0,) * 6, (1,) * 6, (-1,) * 6, (PID,) * 6):
                assert verdict(program, Call(machine, number, words)) == expected, (number, words)


ARGUMENTS: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "clone": ([(0x10000,), (0x3D0F00,)], [(17,), (0,), (0x10000000,), (0x1200011,)]),
    "kill": ([(PID, 9)], [(0, 9), (-1, 9), (1, 9), (PID + 1, 9)]),
    "tgkill": ([(PID, PID, 9)], [(0, 0, 9), (1, PID, 9)]),
    "prlimit64": ([(0,), (PID,)], [(1,), (-1,), (PID + 1,)]),
    "sched_setaffinity": ([(0,), (PID,)], [(1,), (-1,)]),
    "socketpair": (
        [(1, 1), (1, 1 | 0o2000000), (1, 1 | 0o2004000), (1 << 32 | 1, 1)],
        [(1, 2), (1, 5), (1, 3), (2, 1), (1, 2 | 0o2000000), (16, 1), (1, 1 | 0o10000), (1, 0), (1, 4)],
    ),
    "sendto": ([(3, 1, 1, 0, 0, 0)], [(3, 1, 1, 0, 0x7000, 16), (3, 1, 1, 0, 1 << 32, 16), (3, 1, 1, 0, 1 << 63, 1)]),
    "getsockopt": ([(3, 1, 3), (3, 1, 4), (3, 1, 38), (3, 1, 39)], [(3, 1, 17), (3, 1, 77), (3, 1, 31), (3, 1, 59)]),
    "openat": (
        [(-100, 1, 0), (-100, 1, 0o1001), (-100, 1, 0o1002), (-100, 1, 0o2001101), (-100, 1, 0o10000000)],
        [(-100, 1, 0o1000), (-100, 1, 0o1003), (-100, 1, 0o2001000), (-100, 1, 0o1100)],
    ),
    "open": ([(1, 0), (1, 0o1001)], [(1, 0o1000), (1, 0o1003)]),
    "fcntl": ([(3, 1), (3, 3), (3, 6), (3, 1030)], [(3, 8), (3, 10), (3, 15), (3, 1024), (3, 1026), (3, 1033)]),
    "ioctl": ([(3, 0x5401), (3, 0x5421)], [(3, 0x8901), (3, 0x8902), (3, 0x5452), (3, 0x5412), (3, 0x40086602)]),
    "prctl": ([(15,), (16,), (39,)], [(4, 1), (22, 2), (35, 1), (36, 1), (38, 1), (62, 1), (1, 0), (0x59616D61, 1)]),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_decisions_by_argument(machine: str) -> None:
    program = filtered(machine)
    rows = {row.name: row for row in read_table(machine)}
    tried: set[str] = set()
    for name, (passing, refused) in ARGUMENTS.items():
        if name in rows:
            tried.add(rows[name].decision)
            for words in passing:
                assert verdict(program, Call(machine, rows[name].number, words)) == ALLOW, (name, words)
            for words in refused:
                assert verdict(program, Call(machine, rows[name].number, words)) in (errno.EPERM, errno.ENOTTY), words
    plain = {"allow", "refuse", "absent", "unsupported", "attribute", "truncation"}
    assert {row.decision for row in rows.values()} - plain == tried


@pytest.mark.parametrize("machine", MACHINES)
def test_other_numberings_do_not_exist(machine: str) -> None:
    program = filtered(machine)
    for number in range(MOST_NUMBERS):
        assert verdict(program, Call(machine, number | 0x40000000)) == errno.ENOSYS
        for arch in (0x40000003, 0x40000028, *(other for other in ARCH.values() if other != ARCH[machine])):
            assert verdict(program, Call(machine, number), arch) == errno.ENOSYS


FILTERED = {
    "seccomp": Layers(namespaces=False, landlock=0),
    "both": Layers(namespaces=False),
    "no mounts": Layers(mounts=False),
    "all": Layers(),
}
WALK = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
answers = []
for number in numbers:
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(word) for word in words))
    answers.append((number, -ctypes.get_errno() if result == -1 else result))
print([answer for answer in answers if answer[1] != -expected])
"""


@linux
@pytest.mark.parametrize("level", FILTERED)
async def test_the_table_walked_from_inside(level: str) -> None:
    if kernel.MACHINE not in MACHINES:
        pytest.skip("no filter for this machine")
    worker = await Worker.start(CELL, allow_weaker=True, layers=FILTERED[level])
    assert worker.level.syscalls
    rows = read_table(kernel.MACHINE)
    decided = {error: [row.number for row in rows if row.decision == name] for name, error in ERRORS.items()}
    decided[errno.ENOSYS] += [*({*range(MOST_NUMBERS)} - {row.number for row in rows}), 0x40000000, 0x40000001]
    if not worker.level.mounts:
        decided[0] = [row.number for row in rows if row.decision == "attribute"]
    for error, numbers in decided.items():
        for words in ((0,) * 6, (-1,) * 6):
            code = f"numbers, words, expected = {numbers}, {words}, {error}\n{WALK}"
            result = await worker.call("run", {"code": code})
            assert (result["output"], result["error"]) == ("[]\n", ""), (error, result)
    for name, call in _refused_by_argument(rows):
        code = f"numbers, words, expected = [{call.number}], {call.arguments}, {errno.EPERM}\n{WALK}"
        output = (await worker.call("run", {"code": code}))["output"]
        assert output in ("[]\n", f"[({call.number}, {-errno.ENOTTY})]\n"), (name, output)
    await worker.kill()


def _refused_by_argument(rows: list[Row]) -> Iterator[tuple[str, Call]]:
    by_name = {row.name: row for row in rows}
    for name, (_, refused) in ARGUMENTS.items():
        if name in by_name:
            yield from ((name, Call(kernel.MACHINE, by_name[name].number, words)) for words in refused)


@linux
@pytest.mark.skipif(kernel.MACHINE != "x86_64", reason="a door of x86-64 only")
@pytest.mark.parametrize("level", FILTERED)
async def test_the_door_of_32_bit_programs(level: str) -> None:
    """`int 0x80` with the numbers of 32-bit Linux: 20 is getpid there, 102 its door to sockets."""
    worker = await Worker.start(CELL, allow_weaker=True, layers=FILTERED[level])
    code = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
for number in (20, 102, 11, 2):
    page.seek(0)
    page.write(b"\\x53\\x48\\x31\\xdb\\x48\\x31\\xc9\\xb8" + number.to_bytes(4, "little") + b"\\xcd\\x80\\x5b\\xc3")
    print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    try:
        output = (await worker.call("run", {"code": code}))["output"]
    except WorkerLost as lost:  # a kernel without that door crashes who knocks
        output = str(-errno.ENOSYS) if "signal 11" in lost.message else lost.message
    assert set(output.split()) == {str(-errno.ENOSYS)}
    await worker.kill()


ORDINARY = """
import asyncio, glob, os, shutil, sqlite3, tempfile, threading, time, zipfile
open('a.txt', 'w').write('x')
os.chmod('a.txt', 0o600)
os.utime('a.txt', (10**9, 10**9))
shutil.copy('a.txt', 'b.txt')
shutil.copy2('a.txt', 'c.txt')
shutil.copytree(os.path.dirname(asyncio.__file__), 'tree')
shutil.move('tree', 'moved')
shutil.rmtree('moved')
with zipfile.ZipFile('z.zip', 'w') as z: z.write('a.txt')
zipfile.ZipFile('z.zip').extractall('out')
base = sqlite3.connect('base.db')
base.execute('create table t (x)'); base.execute('insert into t values (1)'); base.commit(); base.close()
with tempfile.TemporaryDirectory() as folder: open(folder + '/x', 'w').close()
async def main():
    await asyncio.sleep(0.001)
    return await asyncio.to_thread(lambda: 5)
assert asyncio.run(main()) == 5
thread = threading.Thread(target=time.sleep, args=(0.001,)); thread.start(); thread.join()
os.link('a.txt', 'hard'); os.symlink('a.txt', 'soft'); os.replace('hard', 'renamed')
with open('b.txt', 'r+') as file: file.truncate(0)
assert os.cpu_count() and os.isatty(1) is False and os.urandom(4) and os.getpid() and glob.glob('*.txt')
print('done')
"""


@linux
@pytest.mark.parametrize("level", FILTERED)
async def test_ordinary_code_runs(level: str) -> None:
    worker = await Worker.start(CELL, allow_weaker=True, layers=FILTERED[level])
    result = await worker.call("run", {"code": ORDINARY})
    assert (result["output"], result["error"], result["message"]) == ("done\n", "", "")
    await worker.kill()


def test_the_table_is_text_for_readers() -> None:
    lines = seccomp.TABLE.read_text(encoding="ascii").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert rows[0].split("\t") == ["name", *MACHINES, "decision", "reaches"]
    assert all(len(row.split("\t")) == 5 for row in rows)
