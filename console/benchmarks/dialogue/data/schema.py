"""The JSON schema of a row, generated from its types, for editors."""

from typing import Any, cast

import msgspec

from console.benchmarks.dialogue.rules.row import CHECKS, SHORTHANDS, Row, ScriptedTurn
from console.suites.judging.rubric import Rubric

_ANY_CHECK = {"$ref": "#/$defs/Check"}


def row_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of one row; it allows other columns, which are variables."""
    structs = [Row, ScriptedTurn, Rubric, *CHECKS.values()]
    components = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    definitions = cast(dict[str, dict[str, Any]], components[1])
    for owner, name in (("Row", "expect"), ("ScriptedTurn", "expect"), ("AnyOf", "any")):
        definitions[owner]["properties"][name]["items"] = _ANY_CHECK
    definitions["Check"] = {"oneOf": [{"$ref": f"#/$defs/{check.__name__}"} for check in CHECKS.values()]}
    row = definitions.pop("Row")
    row["properties"] |= {name: _shorthand(definitions, name) for name in SHORTHANDS}
    row["additionalProperties"] = True
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of cases.jsonl, cases.json or cases.yaml",
        **{key: value for key, value in row.items() if key != "title"},
        "$defs": definitions,
    }


def _shorthand(definitions: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the schema of a check used as a field of a row."""
    check = definitions[CHECKS[name].__name__]
    return {**check["properties"][name], "description": check.get("description", "")}
