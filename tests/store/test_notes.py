"""Notes on disk: a torn last line costs itself, and what is added is synced."""

from pathlib import Path

import pytest

from console.core.case import Key
from console.store import notes as notes_module
from console.store.notes import Note, Notes


def test_a_torn_last_line_takes_no_later_note_with_it(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.add(Note(Key("a"), "tag", "model"))
    with notes.path.open("ab") as file:
        file.write(b'{"key":["b",0,1],"kind":"tag","val')
    notes.add(Note(Key("c"), "tag", "data"))
    assert [(note.key.case, note.value) for note in notes.all()] == [("a", "model"), ("c", "data")]


def test_a_note_is_synced_once_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    notes = Notes(tmp_path)
    monkeypatch.setattr(notes_module, "sync_file", lambda number: synced.append(notes.path.stat().st_size))
    notes.add(Note(Key("a"), "tag", "model"))
    assert synced == [notes.path.stat().st_size]
