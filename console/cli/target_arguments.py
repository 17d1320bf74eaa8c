"""Options for the compute target of a run."""

import argparse
from typing import Protocol

from console.engine.compute_target import ComputeTarget, read_compute_target


class TargetArguments(Protocol):
    """Options for a compute target."""

    on: str | None
    workers: int | None


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for a compute target."""
    place = parser.add_argument_group("where to play it (the run's folder stays here; any target can resume it)")
    place.add_argument("--on", metavar="PLACE", help="ray (RAY_ADDRESS, else a local cluster) or ray://HOST:PORT")
    place.add_argument("--workers", type=int, metavar="N", help="number of workers (default: one per CPU)")


def target_of(args: TargetArguments) -> ComputeTarget:
    """Return the compute target."""
    return read_compute_target(args.on, args.workers)
