"""The text of a Seatbelt profile: what the kernel of macOS lets a worker do. The last rule that matches decides.

Everything is denied unless a rule allows it, so an omission breaks the worker and not the confinement. Only common
operations and filters are used, because one unknown word makes the whole profile void.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_READABLE = (
    "/System/Library", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes", "/Library/Apple/System/Library",
    "/Library/Apple/usr/libexec/oah", "/private/preboot/Cryptexes", "/private/var/db/dyld", "/private/var/db/oah",
    "/private/var/db/timezone", "/usr/lib", "/usr/share/icu", "/usr/share/zoneinfo", "/usr/share/zoneinfo.default",
)  # fmt: skip
"""System libraries and the loader's caches; none contains a user's data."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_LINKS = ("/etc", "/tmp", "/var", "/private/etc/localtime")  # noqa: S108  only the link itself
"""System links on the way to paths."""
_SYSCTLS = (
    "hw.activecpu", "hw.byteorder", "hw.cachelinesize", "hw.cpufamily", "hw.cpusubfamily", "hw.cpusubtype",
    "hw.cputype", "hw.logicalcpu", "hw.logicalcpu_max", "hw.machine", "hw.memsize", "hw.model", "hw.ncpu",
    "hw.pagesize", "hw.pagesize_compat", "hw.physicalcpu", "hw.physicalcpu_max", "kern.argmax", "kern.hostname",
    "kern.maxfilesperproc", "kern.osproductversion", "kern.osrelease", "kern.ostype", "kern.osvariant_status",
    "kern.osversion", "kern.secure_kernel", "kern.usrstack64", "kern.version", "machdep.cpu.brand_string",
    "security.mac.lockdown_mode_state", "vm.loadavg",
)  # fmt: skip
"""Facts about the machine that libraries read when they start; arguments and environments of processes are not among
them (`kern.procargs2`, `kern.proc.…`), and only names can be allowed."""
_SYSCTL_PREFIXES = ("hw.l1", "hw.l2", "hw.l3", "hw.optional.", "hw.perflevel")


@dataclass(frozen=True, slots=True)
class Reach:
    """Paths a worker may use, as the kernel knows them: absolute and without links."""

    programs: Sequence[str]
    """Files of the interpreter: the only programs that may run."""
    readable: Sequence[str]
    """Files and folders that may be read, and libraries in them loaded."""
    listed: Sequence[str]
    """Folders whose names may be listed, at any depth."""
    scratch: str
    """The folder that may be written."""
    links: Sequence[str] = ()
    """Links on the way to paths that the interpreter uses."""


def build_profile(reach: Reach) -> str:
    """Return the profile of a worker.

    Raises:
        ValueError: a path cannot be written in a profile.
    """
    readable = [*_READABLE, *reach.programs, *reach.readable]
    passed = _ancestors([*readable, *reach.listed, *reach.links, *_LINKS, *_DEVICES, reach.scratch])
    sysctls = [*_each("sysctl-name", _SYSCTLS), *_each("sysctl-name-prefix", _SYSCTL_PREFIXES)]
    rules = (
        "(version 1)",
        "(deny default)",
        _allow("process-exec", _each("literal", reach.programs)),
        "(allow process-info* (target self))",
        "(allow signal (target self))",
        _allow("sysctl-read", sysctls),
        "; pairs only: nothing can be connected to or bound, see the end",
        "(allow system-socket (socket-domain AF_UNIX))",
        "; the loader opens the root folder itself",
        _allow("file-read*", _each("literal", ("/", *_DEVICES))),
        _allow("file-write-data", _each("literal", ("/dev/null",))),
        _allow("file-read-metadata", _each("literal", [*passed, *_LINKS, *reach.links])),
        *_listing(reach.listed),
        _allow("file-read* file-map-executable", _each("subpath", readable)),
        _allow("file-read* file-write*", _each("subpath", [reach.scratch])),
        "; whatever the rules above become",
        "(deny network*)",
        "(deny process-fork)",
        "(deny mach-lookup)",
    )
    return "\n".join(rule for rule in rules if rule) + "\n"


def quoted(path: str) -> str:
    r"""Return a path as a string of a profile, where only `\` and `"` are special.

    Raises:
        ValueError: it is relative, or has control characters, which readers of profiles treat differently.
    """
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is not an absolute path")
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise ValueError(f"{path!r} has a control character")
    return _string(path)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _each(name: str, values: Iterable[str]) -> list[str]:
    """Return one filter for each distinct value."""
    write = _string if name.startswith("sysctl") else quoted
    return [f"({name} {write(value)})" for value in dict.fromkeys(values)]


def _allow(operations: str, filters: Sequence[str]) -> str:
    """Return a rule that allows what a filter matches; empty without filters, since it would then match everything."""
    lines = "\n  ".join(filters)
    return f"(allow {operations}\n  {lines})" if filters else ""


def _listing(folders: Sequence[str]) -> list[str]:
    """Return rules by which names and attributes beneath folders can be read, but no file."""
    names = [f"(require-all {item} (vnode-type DIRECTORY))" for item in _each("subpath", folders)]
    return [
        _allow("file-read-data", names),
        _allow("file-read-metadata", _each("subpath", folders)),
    ]


def _ancestors(paths: Iterable[str]) -> list[str]:
    """Return all folders above paths, which must be traversable."""
    return sorted({str(folder) for path in paths for folder in PurePosixPath(path).parents})
