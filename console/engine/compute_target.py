"""The compute target of a run: this process or a cluster's workers. Not part of the plan: a resume may change it."""

from dataclasses import dataclass

from console.core.fault import UsageError

RAY = "ray"
_MOST_WORKERS = 4096


@dataclass(frozen=True, slots=True)
class ComputeTarget:
    """Compute target and number of workers."""

    on: str = ""
    """Empty for this process; `ray` for the cluster in RAY_ADDRESS or else a local one; or `ray://host:port`."""
    workers: int | None = None
    """Number of workers; None for one per CPU of the cluster."""

    @property
    def flags(self) -> list[str]:
        """The target as command line options."""
        number = [] if self.workers is None else ["--workers", str(self.workers)]
        return ["--on", self.on, *number] if self.on else []


LOCAL = ComputeTarget()


def read_compute_target(on: str | None, workers: int | None) -> ComputeTarget:
    """Validate a compute target given by the user.

    Raises:
        UsageError: there is no such target, or a number of workers was given without one.
    """
    if not on:
        if workers is not None:
            raise UsageError("--workers needs --on", hint="Add --on ray.")
        return ComputeTarget()
    if on != RAY and not (on.startswith("ray://") and ":" in on.removeprefix("ray://")):
        raise UsageError(f"{on!r} is not a compute target", where="--on", hint="Use ray, or ray://HOST:PORT.")
    if workers is not None and not 1 <= workers <= _MOST_WORKERS:
        raise UsageError(f"must be from 1 to {_MOST_WORKERS}, not {workers}", where="--workers")
    return ComputeTarget(on, workers)
