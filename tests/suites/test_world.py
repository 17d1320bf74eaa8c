"""Snapshots of worlds: plain values, and a database by connection or file, equal whatever the order of rows."""

import json
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from console.authoring import snapshot


@dataclass
class Shop:
    open: bool = True
    stock: dict[str, int] = field(default_factory=lambda: {"bread": 2})
    tags: frozenset[str] = frozenset({"b", "a"})


def test_values_become_json() -> None:
    state = snapshot({"shop": Shop(), 1: (1, None)})
    assert state == {"shop": {"open": True, "stock": {"bread": 2}, "tags": ["a", "b"]}, "1": [1, None]}
    assert json.loads(json.dumps(state)) == state


def test_a_database_is_its_rows_in_any_order(tmp_path: Path) -> None:
    states = []
    for place, rows in enumerate(([("a", 1), ("b", 2)], [("b", 2), ("a", 1)])):
        path = tmp_path / f"{place}.db"
        connection = sqlite3.connect(path)
        connection.execute('CREATE TABLE "my ""goods" (name TEXT, count INTEGER)')
        connection.executemany('INSERT INTO "my ""goods" VALUES (?, ?)', rows)
        connection.commit()
        states += [snapshot(connection), snapshot(path)]
        connection.close()
    assert all(state == {'my "goods': [{"name": "a", "count": 1}, {"name": "b", "count": 2}]} for state in states)
