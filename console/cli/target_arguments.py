"""Options of verbs that play: where conversations are played."""

import argparse
from typing import Protocol

from console.engine.compute_target import ComputeTarget, read_compute_target


class TargetArguments(Protocol):
    """Options that name a place; verbs that have them need not inherit them."""

    on: str | None
    workers: int | None


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a place."""
    place = parser.add_argument_group("where to play it (the run's folder stays here; any place can resume it)")
    place.add_argument("--on", metavar="PLACE", help="ray (RAY_ADDRESS, else a cluster started here), ray://HOST:PORT")
    place.add_argument("--workers", type=int, metavar="N", help="workers there (default: one for each CPU)")


def target_of(args: TargetArguments) -> ComputeTarget:
    """Return the place that was named.

    Raises:
        UsageError: it is none.
    """
    return read_compute_target(args.on, args.workers)
