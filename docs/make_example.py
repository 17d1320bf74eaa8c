"""Make the finished simulated run that Review opens in a fresh checkout: `python docs/make_example.py`.

Writes runs/example-bfcl-starter. Deterministic but for times; carries no trace of the machine it was made on.
"""

import dataclasses
import os
import shutil
import socket
from pathlib import Path

import msgspec

from console.config.paths import WorkspacePaths
from console.engine.launch import run_in_foreground
from console.engine.plan import Plan, prepare
from console.store.runs import RunFolder, create_run

ROOT = Path(__file__).resolve().parents[1]
NAME = "example-bfcl-starter"
MADE_HERE = ("lock", "live.sock", "engine.log")


def main() -> None:
    """Play the starter suite with the hasty simulated model and keep the run."""
    os.environ["EVAL_CONSOLE_SIM_PACE"] = "flat"
    socket.gethostname = lambda: "example"
    os.getpid = lambda: 1
    shutil.rmtree(ROOT / "runs" / NAME, ignore_errors=True)
    paths = WorkspacePaths(runs=ROOT / "runs")
    prepared = prepare(Plan(model="sim/hasty", suite="bfcl-starter", name="example", paths=paths))
    # Without its grader it does not count as graded differently after every change of the grading code.
    manifest = msgspec.structs.replace(prepared.manifest, id=NAME, grader=None)
    run = create_run(prepared.runs_root, manifest)
    run_in_foreground(run, dataclasses.replace(prepared, manifest=manifest))
    RunFolder(run.path).fold()
    for name in MADE_HERE:
        (run.path / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
