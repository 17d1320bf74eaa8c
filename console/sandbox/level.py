"""The level of confinement that a worker reaches on this machine, as shown, recorded and required."""

from dataclasses import asdict, dataclass
from typing import Any, cast

from console.core.fault import UsageError

_LAYERS, _TEXT = 8, 200
FLAG = "--option i_trust_this_model=true"
"""Option by which users accept a weaker confinement."""
UNSEEN = "Not tested on a Mac yet: `eval-console doctor --sandbox-attacks` shows what it stops."
"""Warning shown with a profile of macOS."""


@dataclass(frozen=True, slots=True)
class Level:
    """The kinds of access that are blocked, as verified by the worker itself."""

    files: bool = False
    """Only the interpreter's files, the given ones and the worker's scratch folder can be opened."""
    network: bool = False
    """No connection can be made, not even to this machine."""
    processes: bool = False
    """No other process can be seen, signaled or started, and none outlives the worker."""
    syscalls: bool = False
    """A seccomp filter refuses the riskier system calls."""
    landlock: int = 0
    """Version of Landlock in force; 0 if there is none."""
    namespaces: bool = False
    mounts: bool = False
    """Everything outside the scratch folder is mounted read-only."""
    seatbelt: bool = False
    """The worker was started under a profile of macOS."""
    missing: tuple[str, ...] = ()
    """Layers not in force, each with the reason in parentheses."""

    @property
    def is_enough(self) -> bool:
        """True if untrusted code may run at this level."""
        return self.files and self.network and self.processes

    @property
    def warning(self) -> str:
        """A sentence on the access that the code would still have; only for an insufficient level."""
        closed = (("files", self.files), ("network", self.network), ("processes", self.processes))
        open_ = ", ".join(name for name, shut in closed if not shut)
        missing = f"; not in force: {', '.join(self.missing)}" if self.missing else ""
        return f"the model's code can reach {open_} of this machine; {self.text}{missing}"

    @property
    def text(self) -> str:
        """The level in one line, for screens and records."""
        parts = ("files", self.files), ("net", self.network), ("processes", self.processes), ("syscalls", self.syscalls)
        means = [f"landlock {self.landlock}"] if self.landlock else []
        means += ["namespaces"] if self.namespaces else []
        means += ["seccomp"] if self.syscalls else []
        means += ["seatbelt"] if self.seatbelt else []
        marks = " ".join(f"{name} {'✔' if closed else '✘'}" for name, closed in parts)
        return f"sandbox: {marks} ({', '.join(means) or 'limits only'})"

    def as_json(self) -> dict[str, Any]:
        """Return the level for the record, including its text."""
        return {**asdict(self), "missing": list(self.missing), "text": self.text}

    def require_enough(self) -> None:
        """Raise if the confinement is too weak.

        Raises:
            UsageError: names the unblocked access and the option that accepts it.
        """
        if self.is_enough:
            return
        raise UsageError(
            self.warning,
            hint="Run on Linux 5.13 or later with Landlock or user namespaces, or on macOS with sandbox-exec, "
            f"or accept the risk with {FLAG}.",
        )


def read_level(data: dict[str, Any]) -> Level:
    """Parse a level from a first frame or a record."""
    version, missing = data.get("landlock"), cast("list[Any]", data.get("missing") or [])
    return Level(
        files=data.get("files") is True,
        network=data.get("network") is True,
        processes=data.get("processes") is True,
        syscalls=data.get("syscalls") is True,
        landlock=version if isinstance(version, int) else 0,
        namespaces=data.get("namespaces") is True,
        mounts=data.get("mounts") is True,
        seatbelt=data.get("seatbelt") is True,
        missing=tuple(str(text)[:_TEXT] for text in missing[:_LAYERS]),
    )
