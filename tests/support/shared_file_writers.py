"""Processes that change one shared file at the same time, through the functions that everybody uses.

python -m support.shared_file_writers FOLDER       changes a file of each kind in a folder of its own
python -m support.shared_file_writers hold FILE    locks a file for changing, and waits
"""

import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tomli

from console.__main__ import main
from console.benchmarks.dialogue.data.dataset import Dataset
from console.benchmarks.dialogue.data.kept_rows import add_row
from console.config.preset import Preset
from console.core.case import Key
from console.store.atomic import locked
from console.store.errata import Erratum, add_errata, read_errata
from console.store.notes import Note, Notes
from console.store.preset_file import save_preset
from console.store.run_marks import RunMarks, change_marks, read_marks
from console.store.run_queue import Queued, RunQueue
from console.tui.data.ui_state import UiState

WRITERS, COUNT = 8, 6


class Kind(NamedTuple):
    """One kind of shared file."""

    file: str
    change: Callable[[Path, str], object]
    """Makes one change with a name of its own."""
    left: Callable[[Path], set[str]]
    """Names of the changes that the file holds."""


def names(writer: int) -> list[str]:
    """Return the names of one writer's changes."""
    return [f"n{writer}-{number}" for number in range(COUNT)]


def _add_row(folder: Path, name: str) -> None:
    kept = {"run": "r", "case": name, "outcome": "failed", "digest": name}
    add_row(folder, "kept", {"id": name, "category": "a", "prompt": f"Say {name}.", "contains": "4", "kept": kept})


def _add_model(folder: Path, name: str) -> None:
    address = ("--address", "http://127.0.0.1:1/v1", "--id", name, "--name", name)
    (folder / "models.toml").touch()
    assert main(["models", "add", "other", *address, "--no-try", "--models", str(folder / "models.toml")]) == 0


def _mark(folder: Path, name: str) -> None:
    """Change one of the three marks, depending on the writer."""
    changes = ({"name": "a"}, {"note": "b"}, {"pinned": True})
    change_marks(folder, **changes[int(name[1]) % len(changes)])


def _state(folder: Path) -> set[str]:
    state = UiState(folder / "state.json")
    return {name for writer in range(WRITERS) for name in names(writer) if state.switch(name, False)}


_ALL_MARKS = RunMarks("a", "b", pinned=True)
KINDS = {
    "errata": Kind(
        "s.toml",
        lambda folder, name: add_errata(folder / "s.toml", {name: Erratum(name, "d", "wrong", "me", "2026-01-01")}),
        lambda folder: set(read_errata(folder / "s.toml")),
    ),
    "presets": Kind(
        "presets.toml",
        lambda folder, name: save_preset(folder / "presets.toml", name, Preset(limit=3)),
        lambda folder: set(tomli.loads((folder / "presets.toml").read_text())),
    ),
    "marks": Kind(
        "marks.json",
        _mark,
        lambda folder: {name for n in range(WRITERS) for name in names(n) if read_marks(folder) == _ALL_MARKS},
    ),
    "models": Kind("models.toml", _add_model, lambda folder: set(tomli.loads((folder / "models.toml").read_text()))),
    "queue": Kind(
        ".queue/queue.json",
        lambda folder, name: RunQueue(folder).add([Queued(name, 1.0)]),
        lambda folder: set(RunQueue(folder).names()),
    ),
    "state": Kind("state.json", lambda folder, name: UiState(folder / "state.json").keep(name, True), _state),
    "rows": Kind("kept/cases.jsonl", _add_row, lambda folder: {case.id for case in Dataset(folder / "kept").cases()}),
    "notes": Kind(
        "notes.jsonl",
        lambda folder, name: Notes(folder).add(Note(Key(name), "tag", "model")),
        lambda folder: {note.key.case for note in Notes(folder).all()},
    ),
}


def _write(kind: Kind, folder: Path) -> bool:
    """Let as many processes as there are writers change one file; return whether all succeeded."""
    folder.mkdir()
    children: list[int] = []
    for writer in range(WRITERS):
        if (child := os.fork()) == 0:
            try:
                for name in names(writer):
                    kind.change(folder, name)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    return [os.waitpid(child, 0)[1] for child in children] == [0] * WRITERS


if __name__ == "__main__":
    place = Path(sys.argv[-1])
    if sys.argv[1] == "hold":
        with locked(place):
            place.with_name("held").open("wb").close()  # a pipe, at which the test waits
            time.sleep(3600)
    for name, kind in KINDS.items():
        if _write(kind, place / name):
            print(name, flush=True)
