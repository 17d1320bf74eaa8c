"""Where a run is played: here, or by workers of a cluster. It is no part of the plan: any place resumes any run."""

from dataclasses import dataclass

from console.core.fault import UsageError

RAY = "ray"
_MOST_WORKERS = 4096


@dataclass(frozen=True, slots=True)
class ComputeTarget:
    """Who plays."""

    on: str = ""
    """Empty: this process; `ray`: the cluster of RAY_ADDRESS, else one started here; `ray://host:port`: that one."""
    workers: int | None = None
    """How many; None: as many as the cluster has CPUs."""

    @property
    def flags(self) -> list[str]:
        """The same as options of the command line."""
        number = [] if self.workers is None else ["--workers", str(self.workers)]
        return ["--on", self.on, *number] if self.on else []


LOCAL = ComputeTarget()


def read_compute_target(on: str | None, workers: int | None) -> ComputeTarget:
    """Check what a person has named.

    Raises:
        UsageError: no such place, or workers of none.
    """
    if not on:
        if workers is not None:
            raise UsageError("needs a place", where="--workers", hint="Add --on ray.")
        return ComputeTarget()
    if on != RAY and not (on.startswith("ray://") and ":" in on.removeprefix("ray://")):
        raise UsageError(f"{on!r} is not a place to run", where="--on", hint="Write ray, or ray://HOST:PORT.")
    if workers is not None and not 1 <= workers <= _MOST_WORKERS:
        raise UsageError(f"must be from 1 to {_MOST_WORKERS}, not {workers}", where="--workers")
    return ComputeTarget(on, workers)
