"""Waiting for the ends of runs that engines of their own play."""

import time

from console.store.runs import RunFolder

PATIENCE_S = 200.0


def wait_until_ended(runs: list[RunFolder]) -> None:
    """Wait until these runs have been played and left by their engines."""
    ends = time.monotonic() + PATIENCE_S
    while live := [run for run in runs if run.is_live or run.summary().state == "starting"]:
        logs = [run.log_path.read_text() for run in live if run.log_path.exists()]
        assert time.monotonic() < ends, f"never ended: {[run.summary() for run in live]}, {logs}"
        time.sleep(0.02)  # a lock has no event
