"""A process that lacks what macOS lacks, before any of our code is loaded.

`support/mac_startup` is put on PYTHONPATH: its `sitecustomize` calls `become` in every interpreter that starts there,
also in engines and in the interpreters that they start. Sandbox workers ignore PYTHONPATH, so this file runs them:
`python mac_machine.py SCRIPT …`.

TAKEN_AWAY lists what happens with the source of each fact; NOT_SHOWN, what only a Mac can show.
"""

import builtins
import ctypes
import errno
import importlib
import io
import json
import os
import resource
import runpy
import selectors
import socket
import subprocess
import sys
import types
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES, FOLDED, FULL_SYNCS = "EVAL_CONSOLE_MAC_NAMES", "EVAL_CONSOLE_MAC_FOLDED", "EVAL_CONSOLE_MAC_SYNCS"
"""Variables: names that modules lack, as JSON; the folder whose names are folded; a file with a line per sync."""
F_GETPATH, F_FULLFSYNC = 50, 51
SOCKET_PATH_BYTES = 103
OPEN_FILES, MOST_OPEN_FILES = 256, 10240
OTHERS_FOLDERS = ("/proc", "/sys", "/dev/shm")
C_FUNCTIONS = ("syscall", "prctl", "unshare", "setns", "mount", "memfd_create", "pidfd_open", "capset")

TAKEN_AWAY = (
    ("names of os, socket, select, signal, fcntl, resource and time, such as os.fdatasync, os.O_PATH, os.pipe2, "
     "os.sched_getaffinity, os.memfd_create, os.pidfd_open, select.epoll, socket.SOCK_CLOEXEC, SO_PEERCRED",
     "typeshed's stubs, which the type checker brings: defined for linux and not for darwin (`lacking_names`)"),
    ("sys.platform is darwin, os.uname and platform say Darwin 23 on arm64",
     "Python's documentation of sys.platform; Apple's release notes of macOS 14"),
    ("/proc, /sys and /dev/shm do not exist", "hier(7) of macOS lists none of them"),
    ("the soft limit of open files is 256; setrlimit refuses more than 10,240",
     "getrlimit in a new Terminal; setrlimit(2) of macOS, COMPATIBILITY: OPEN_MAX"),
    ("socket paths longer than 103 bytes are refused", "XNU bsd/sys/un.h: char sun_path[104]"),
    ("sockets without a name in the file system are refused", "unix(4) of macOS has no abstract names"),
    ("fcntl has F_FULLFSYNC (51) and F_GETPATH (50)", "XNU bsd/sys/fcntl.h; fsync(2) and fcntl(2) of macOS"),
    ("libc has no prctl, unshare, setns, memfd_create, pidfd_open or capset; mount has other arguments; syscall fails",
     "syscall(2) of macOS: deprecated; the others are calls of Linux alone"),
    ("names in one folder are found in any case and Unicode form, and listed decomposed",
     "Apple, TN1150 (HFS Plus: decomposed, case-insensitive) and APFS FAQ (insensitive to case and normalization, "
     "preserving); the stricter one of both"),
    ("TMPDIR is a long path behind a symbolic link, XDG_RUNTIME_DIR is not set",
     "confstr(_CS_DARWIN_USER_TEMP_DIR) is /var/folders/XX/…/T/, and /var is a link to /private/var"),
    ("select.poll is used instead of epoll", "no epoll in macOS; Python uses kqueue there, see NOT_SHOWN"),
)  # fmt: skip
"""What is taken away or changed, and the source of the fact."""
NOT_SHOWN = (
    "whether F_FULLFSYNC reaches the medium, and how long it takes",
    "kqueue, Mach-O libraries and wheels, other numbers of errno and of signals, another libc",
    "limits of a real kernel: setrlimit(RLIMIT_AS), process groups, ru_maxrss in bytes, sleep of the machine",
    "names that C code passes to the system: SQLite, and libraries with file access of their own, are not folded",
    "Terminal.app, its keys and colors, and the clipboard",
    "sandbox-exec",
)


def lacking_names(stubs: Path) -> dict[str, list[str]]:
    """Return the names that typeshed defines in a module for Linux and not for macOS."""
    modules = {"os": "os/__init__.pyi", **{name: f"{name}.pyi" for name in
               ("posix", "socket", "_socket", "select", "signal", "fcntl", "resource", "time")}}  # fmt: skip
    lacking: dict[str, list[str]] = {}
    for module, stub in modules.items():
        text = (stubs / stub).read_text(encoding="utf-8")
        lacking[module] = sorted(_defined(text, "linux") - _defined(text, "darwin"))
    return lacking


def _defined(stub: str, platform: str) -> set[str]:
    import ast  # only the test calls this, not every interpreter that it starts

    facts = {"sys": types.SimpleNamespace(platform=platform, version_info=sys.version_info), "TYPE_CHECKING": False}
    names = set[str]()

    def visit(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.If):
                holds = eval(compile(ast.Expression(node.test), "stub", "eval"), facts)
                visit(node.body if holds else node.orelse)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                names.add(ast.unparse(node.target))
            elif isinstance(node, ast.Assign):
                names.update(map(ast.unparse, node.targets))
            elif isinstance(node, ast.ImportFrom):
                names.update(alias.asname or alias.name for alias in node.names)

    visit(ast.parse(stub).body)
    return names


def become() -> None:
    """Take everything away from this process and what it starts."""
    _name_the_system()
    _limit_open_files()
    _fold_names(os.environ.get(FOLDED, ""))
    _limit_sockets()
    _forget_c_functions()
    _run_workers_here_too()
    for module, names in json.loads(Path(os.environ[NAMES]).read_text(encoding="utf-8")).items():
        for name in names:
            _take(importlib.import_module(module), name)
    _take(selectors, "EpollSelector")  # imported with `socket` above
    selectors.DefaultSelector = selectors.PollSelector
    _add_file_controls()


def _take(module: types.ModuleType, name: str) -> None:
    if hasattr(module, name):
        delattr(module, name)


def _name_the_system() -> None:
    uname = os.uname_result(("Darwin", "mac.local", "23.6.0", "Darwin Kernel Version 23.6.0", "arm64"))
    multiarch = getattr(sys.implementation, "_multiarch", "")
    os.environ.setdefault("_PYTHON_SYSCONFIGDATA_NAME", f"_sysconfigdata_{sys.abiflags}_{sys.platform}_{multiarch}")
    sys.platform = "darwin"
    os.uname = lambda: uname
    proxies: Any = types.ModuleType("_scproxy")  # urllib imports it on macOS
    proxies._get_proxy_settings = proxies._get_proxies = dict
    sys.modules["_scproxy"] = proxies


def _limit_open_files() -> None:
    setrlimit = resource.setrlimit
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit > OPEN_FILES and not os.environ.get("EVAL_CONSOLE_MAC_LIMITED"):
        setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, most))
        os.environ["EVAL_CONSOLE_MAC_LIMITED"] = "1"  # a process that raised it passes the raised limit on

    def limited(kind: int, limits: tuple[int, int]) -> None:
        if kind == resource.RLIMIT_NOFILE and limits[0] > MOST_OPEN_FILES:
            raise ValueError("not allowed to raise maximum limit")
        setrlimit(kind, limits)

    resource.setrlimit = limited


def _add_file_controls() -> None:
    fcntl: Any = importlib.import_module("fcntl")
    call, told = fcntl.fcntl, os.environ.get(FULL_SYNCS)
    fcntl.F_GETPATH, fcntl.F_FULLFSYNC = F_GETPATH, F_FULLFSYNC

    def fcntl_of_mac(fd: int, command: int, argument: Any = 0) -> Any:
        if command == F_GETPATH:
            return os.fsencode(_readlink(f"/proc/self/fd/{fd}")).ljust(1024, b"\0")
        if command != F_FULLFSYNC:
            return call(fd, command, argument)
        os.fsync(fd)
        if told:
            with open(told, "a", encoding="ascii") as log:
                log.write(f"{os.getpid()}\n")
        return 0

    fcntl.fcntl = fcntl_of_mac


def _forget_c_functions() -> None:
    libraries: Any = ctypes.CDLL
    find = libraries.__getattr__

    def find_on_mac(library: ctypes.CDLL, name: str) -> Any:
        if name in C_FUNCTIONS and name != "syscall":
            raise AttributeError(f"dlsym(0x0, {name}): symbol not found")
        function = find(library, name)
        if name != "syscall":
            return function

        def refuse(*_: Any) -> int:
            ctypes.set_errno(errno.ENOSYS)
            return -1

        return refuse

    libraries.__getattr__ = find_on_mac


def _limit_sockets() -> None:
    for name in ("bind", "connect", "connect_ex"):
        setattr(socket.socket, name, _limited(getattr(socket.socket, name)))


def _limited(call: Callable[..., Any]) -> Callable[..., Any]:
    def limited(self: socket.socket, address: Any) -> Any:
        if self.family == socket.AF_UNIX:
            path = os.fsencode(address)
            if len(path) > SOCKET_PATH_BYTES:
                raise OSError("AF_UNIX path too long")
            if not path or path.startswith(b"\0"):
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            address = on_disk(address)
        return call(self, address)

    return limited


def _run_workers_here_too() -> None:
    """Start interpreters that ignore PYTHONPATH by this file."""
    start = subprocess.Popen.__init__

    def started(self: Any, args: Any, *more: Any, **named: Any) -> None:
        if isinstance(args, list | tuple) and args and args[0] == sys.executable and "-S" in args:
            words = list(args)
            script = next(number for number, word in enumerate(words[1:], 1) if not word.startswith("-"))
            args = [*words[:script], __file__, *words[script:]]
            passed = {name: os.environ[name] for name in (NAMES, FOLDED) if name in os.environ}
            named["env"] = {**(named.get("env") or {}), **passed, "EVAL_CONSOLE_MAC_LIMITED": "1"}
        start(self, args, *more, **named)

    subprocess.Popen.__init__ = started


# Names ---------------------------------------------------------------------------------------------------------------

_root = ""
_exists, _list, _readlink = os.path.lexists, os.listdir, os.readlink


def on_disk(path: Any) -> Any:
    """Return the path that a file system which folds names and keeps them decomposed would find.

    Raises:
        FileNotFoundError: a folder that macOS lacks.
    """
    if isinstance(path, int) or path is None:
        return path
    text = os.fsdecode(path)
    whole = text if text.startswith("/") else f"{os.getcwd()}/{text}"
    if any(whole == folder or whole.startswith(f"{folder}/") for folder in OTHERS_FOLDERS):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    if not _root or not whole.startswith(f"{_root}/"):
        return path
    found = _root
    for part in whole[len(_root) + 1 :].split("/"):
        found = f"{found}/{part if part in ('', '.', '..') else _entry(found, part)}"
    return os.fsencode(found) if isinstance(path, bytes) else found


def _entry(folder: str, name: str) -> str:
    decomposed = unicodedata.normalize("NFD", name)
    if _exists(f"{folder}/{decomposed}"):
        return decomposed
    try:
        others = _list(folder)
    except OSError:
        return decomposed
    return next((other for other in others if _folded(other) == _folded(name)), decomposed)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


_ONE_PATH = ("open", "stat", "lstat", "mkdir", "rmdir", "unlink", "remove", "readlink", "listdir", "scandir", "chmod",
             "chown", "utime", "access", "truncate", "statvfs", "chdir", "mkfifo")  # fmt: skip
_TWO_PATHS = ("rename", "replace", "link")
_SUPPORTS = ("supports_dir_fd", "supports_fd", "supports_follow_symlinks", "supports_effective_ids")


def _fold_names(root: str) -> None:
    global _root, _exists, _list
    _root = os.path.realpath(root) if root else ""
    lstat = os.lstat
    _list = os.listdir

    def exists(path: str) -> bool:
        try:
            lstat(path)
        except (OSError, ValueError):
            return False
        return True

    _exists = exists
    for name in (*_ONE_PATH, *_TWO_PATHS):
        _wrap(name, 2 if name in _TWO_PATHS else 1)
    _wrap_symlink()
    opened = io.open

    def open_on_disk(file: Any, *more: Any, **named: Any) -> Any:
        return opened(on_disk(file), *more, **named)

    builtins.open = io.open = open_on_disk


def _wrap(name: str, paths: int) -> None:
    call = getattr(os, name)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        if any(key in named and named[key] is not None for key in ("dir_fd", "src_dir_fd", "dst_dir_fd")):
            return call(*arguments, **named)  # names from a listing, which are as they are on the disk
        return call(*map(on_disk, arguments[:paths]), *arguments[paths:], **named)

    _replace(name, call, wrapped)


def _wrap_symlink() -> None:
    call = os.symlink

    def wrapped(source: Any, target: Any, *more: Any, **named: Any) -> Any:
        return call(source, on_disk(target), *more, **named)

    _replace("symlink", call, wrapped)


def _replace(name: str, call: Any, wrapped: Any) -> None:
    setattr(os, name, wrapped)
    for support in _SUPPORTS:
        if call in getattr(os, support):
            getattr(os, support).add(wrapped)


if __name__ == "__main__":
    become()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
