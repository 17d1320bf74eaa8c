"""Reads the scenario files of a dataset folder strictly; errors name file and place before any run.

A file is a JSON list of scenarios; other JSON files (results, data) are ignored. A scenario names a Python module: by
its dotted path from the folder, or by its last name next to the JSON file.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from console.benchmarks.cavebench.data.source import ModuleSource, read_source
from console.benchmarks.cavebench.rules.expectation import read_expectation
from console.benchmarks.cavebench.rules.value import EvaluatorError
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.core.suggestion import suggest
from console.store.atomic import read_regular

UNNAMED = "unnamed_conversation"
_ROOTS = frozenset({"evals", "benchmarks", "scenarios"})
_SKIPPED = frozenset({"runs", "results", "node_modules", ".git", ".venv", "__pycache__"})


@dataclass(frozen=True)
class Scenario:
    """One scenario: a module and its conversations."""

    name: str
    module: str
    file: str
    """JSON file, relative to the dataset folder."""
    beside: str
    """Python file next to the JSON file, relative to the dataset folder; empty to import the dotted path."""
    conversations: list[dict[str, Any]]
    description: str = ""
    requirements: str = ""
    source: ModuleSource = field(default_factory=ModuleSource, compare=False)

    @property
    def family(self) -> str:
        """Name of its folder, such as function_calling or smart_home."""
        parts = [part for part in Path(self.file).parts[:-1] if part not in _ROOTS]
        return parts[0] if parts else ""

    @cached_property
    def needs_cave_mode(self) -> bool:
        """True if it has hooks, variables, validators that use the runtime, or tools without a JSON schema."""
        if self.source.unsendable:
            return True
        turns = [turn for conversation in self.conversations for turn in conversation["turns"]]
        if any(turn.get("pre_turn_hook") for turn in turns):
            return True
        if any(turn.get("expected_variable_reads") or turn.get("expected_variable_writes") for turn in turns):
            return True
        return any(self.source.uses_runtime(turn["validator"]) for turn in turns if turn.get("validator"))


def read_scenarios(folder: Path) -> list[Scenario]:
    """Return all scenarios of a folder, by file name, then in file order.

    Raises:
        UsageError: no scenario file, or a damaged one; names file and place.
    """
    scenarios: list[Scenario] = []
    names: dict[str, int] = {}
    for path in sorted(folder.rglob("*.json")):
        if not _SKIPPED.isdisjoint(path.relative_to(folder).parts):
            continue
        for number, data in enumerate(_scenario_list(path), start=1):
            scenarios.append(_read_scenario(folder, path, number, data, names))
    if not scenarios:
        raise UsageError(
            "contains no scenario file", where=str(folder), hint="A scenario file is a JSON list of scenarios."
        )
    return scenarios


def _scenario_list(path: Path) -> list[Any]:
    try:
        data = read_json(read_regular(path).decode("utf-8-sig"))
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot be read as JSON: {reason_of(error)}", where=str(path)) from None
    items = cast("list[Any]", data) if isinstance(data, list) else []
    marks = ("conversations", "module")
    looks = any(isinstance(item, dict) and any(key in item for key in marks) for item in items)
    return items if looks else []


def _read_scenario(folder: Path, path: Path, number: int, data: Any, names: dict[str, int]) -> Scenario:
    where = f"{path}: scenario {number}"
    if not isinstance(data, dict):
        raise UsageError("is not an object", where=where)
    fields = cast("dict[str, Any]", data)
    name = _own_name(str(fields.get("name") or fields.get("scenario") or f"scenario_{number}"), names)
    module = fields.get("module")
    if not isinstance(module, str) or not module:
        raise UsageError("has no `module`", where=where)
    beside, source = _find_module(folder, path, module, where)
    return Scenario(
        name=name,
        module=module,
        file=path.relative_to(folder).as_posix(),
        beside=beside,
        conversations=_read_conversations(fields.get("conversations"), where, source),
        description=_text(fields, "description", where),
        requirements=_text(fields, "requirements", where),
        source=source,
    )


def _own_name(name: str, names: dict[str, int]) -> str:
    """Return a unique name; the peer silently drops later scenarios of the same name."""
    names[name] = names.get(name, 0) + 1
    return name if names[name] == 1 else f"{name}~{names[name]}"


def _find_module(folder: Path, path: Path, module: str, where: str) -> tuple[str, ModuleSource]:
    dotted = folder.joinpath(*module.split("."))
    for candidate in (dotted.with_name(f"{dotted.name}.py"), dotted / "__init__.py"):
        if candidate.is_file():
            return "", read_source(candidate)
    beside = path.with_name(f"{module.rsplit('.', 1)[-1]}.py")
    if beside.is_file():
        return beside.relative_to(folder).as_posix(), read_source(beside)
    raise UsageError(f"its module {module} is neither below {folder} nor next to the file", where=where)


def _read_conversations(data: Any, where: str, source: ModuleSource) -> list[dict[str, Any]]:
    if not isinstance(data, list):
        raise UsageError("`conversations` must be a list", where=where)
    conversations: list[dict[str, Any]] = []
    names: dict[str, int] = {}
    for item in cast("list[Any]", data):
        if not isinstance(item, dict):
            raise UsageError("a conversation is not an object", where=where)
        conversation = cast("dict[str, Any]", item)
        name = _own_name(str(conversation.get("id", UNNAMED)), names)
        turns = conversation.get("turns", [])
        if not isinstance(turns, list):
            raise UsageError("`turns` must be a list", where=f"{where}, conversation {name}")
        for number, turn in enumerate(cast("list[Any]", turns), start=1):
            _check_turn(turn, f"{where}, conversation {name}, turn {number}", source)
        conversations.append(conversation | {"id": name, "turns": turns})
    return conversations


def _check_turn(turn: Any, where: str, source: ModuleSource) -> None:
    if not isinstance(turn, dict):
        raise UsageError("is not an object", where=where)
    fields = cast("dict[str, Any]", turn)
    if not isinstance(fields.get("query", ""), str):
        raise UsageError("`query` must be a string", where=where)
    try:
        expected = read_expectation(fields)
    except EvaluatorError as error:
        raise UsageError(str(error), where=where) from None
    arguments = [argument for call in expected.calls for argument in call.arguments]
    named: list[Any] = [item.name for item in (*expected.calls, *arguments)]
    if not all(isinstance(name, str) for name in (*named, *expected.reads, *expected.writes)):
        raise UsageError("the name of an expected call, argument or variable must be a string", where=where)
    types: list[Any] = [argument.type for argument in arguments]
    if not all(isinstance(kind, str | None) for kind in types):
        raise UsageError("the `type` of an expected argument must be a string", where=where)
    _check_cue(fields.get("cue"), where)
    for key, names in (("validator", source.validators), ("pre_turn_hook", source.hooks)):
        name = _text(fields, key, where)
        if name and names is not None and name not in names:
            hint = suggest(name, names, f"It has: {', '.join(sorted(names)) or 'none'}.")
            raise UsageError(f"the module has no {key} {name!r}", where=where, hint=hint)


def _check_cue(cue: Any, where: str) -> None:
    script = cast("dict[str, Any]", cue if isinstance(cue, dict) else {})
    calls = script.get("calls", [])
    pairs = cast("list[Any]", calls if isinstance(calls, list) else [None])
    whole = (
        isinstance(pair, list) and [type(part) for part in cast("list[Any]", pair)] == [str, dict] for pair in pairs
    )
    if not isinstance(cue, dict | None) or not all(whole):
        raise UsageError("`cue` must be an object, and its `calls` pairs of name and arguments", where=where)


def _text(fields: dict[str, Any], key: str, where: str) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"`{key}` must be a string", where=where)
    return value
