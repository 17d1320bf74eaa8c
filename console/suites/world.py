"""The state of a world that tools change, as JSON, so that expected and actual are compared path by path."""

import dataclasses
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import msgspec


def snapshot(world: Any) -> Any:
    """Return the state of a world as JSON, equal for equal worlds regardless of the order of sets and table rows.

    Args:
        world: a dict, dataclass or Struct of such values, or an SQLite database as a connection or a path.
    """
    if isinstance(world, Path):
        with closing(sqlite3.connect(f"{world.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return _tables(connection)
    if isinstance(world, sqlite3.Connection):
        return _tables(world)
    if dataclasses.is_dataclass(world) and not isinstance(world, type):
        return {item.name: snapshot(getattr(world, item.name)) for item in dataclasses.fields(world)}
    if isinstance(world, msgspec.Struct):
        return {name: snapshot(getattr(world, name)) for name in world.__struct_fields__}
    if isinstance(world, Mapping):
        return {str(key): snapshot(value) for key, value in cast(Mapping[Any, Any], world).items()}
    if isinstance(world, set | frozenset):
        return sorted(map(snapshot, cast("set[Any]", world)), key=repr)
    if isinstance(world, Sequence) and not isinstance(world, str | bytes):
        return [snapshot(item) for item in cast(Sequence[Any], world)]
    return msgspec.to_builtins(world)


def _tables(connection: sqlite3.Connection) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table, sorted."""
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    tables: dict[str, list[dict[str, Any]]] = {}
    for (name,) in sorted(listed.fetchall()):
        quoted = str(name).replace('"', '""')
        cursor = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - a name of the database itself, quoted
        columns = [column[0] for column in cursor.description]
        rows = [{key: snapshot(value) for key, value in zip(columns, row, strict=True)} for row in cursor.fetchall()]
        tables[str(name)] = sorted(rows, key=repr)
    return tables
