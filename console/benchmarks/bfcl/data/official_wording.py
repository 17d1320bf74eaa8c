"""Extraction of the official prompt texts from the pulled release, without running its code.

The texts are literals in three kinds of modules, read from the syntax tree. Only string constants, their concatenation,
dictionaries of them and f-strings with one slot are supported; anything else means an unsupported release.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.wording import OWN, Wording
from console.core.fault import UsageError, reason_of

_HINT_FUNCTION = "_get_language_specific_hint"
_TYPE_FUNCTION = "_func_doc_language_specific_pre_processing"
_HINT_ORDER = ("java", "javascript", "python")
_TYPE_ORDER = (
    "java_any",
    "java_typed",
    "java_items",
    "javascript_any",
    "javascript_typed",
    "javascript_items",
    "javascript_entries",
)
_DUMP = "_dump_core_memory_to_context"

_Value: TypeAlias = "str | int | Mapping[str, _Value]"
_Statement = TypeVar("_Statement", bound=ast.stmt)


def load_wording(dataset: Dataset) -> Wording:
    """Return the wording of a dataset: the official one if it was pulled, else our own.

    Raises:
        UsageError: see `read_official`.
    """
    if dataset.wording_root is None:
        return OWN
    return read_official(dataset.wording_root, dataset.simulators, dataset.wording_name)


def read_official(package: Path, simulators: Path | None, name: str) -> Wording:
    """Read the wording of an unpacked release.

    Args:
        package: its folder `bfcl_eval`.
        simulators: folder of the simulator sources, which have the texts for empty memories.
        name: name of the wording in records.

    Raises:
        UsageError: a missing file, or literals that differ from the supported release.
    """
    prompts_path = package / "constants" / "default_prompts.py"
    texts = _assignments(_tree(prompts_path), prompts_path)
    try:
        utils = _tree(package / "utils.py")
        return Wording(
            name=name,
            output_formats=_texts(texts["OUTPUT_FORMAT_MAPPING"]),
            param_types=_texts(texts["PARAM_TYPE_MAPPING"]),
            styles={key: _texts(value) for key, value in _mapping(texts["PROMPT_STYLE_TEMPLATES"]).items()},
            layouts=_texts(texts["PROMPT_TEMPLATE_MAPPING"]),
            added_functions=_text(texts["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"]),
            added_functions_prompt=_text(texts["DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING"]),
            agentic_answer=_text(texts["ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"]),
            memory_settings=_texts(texts["MEMORY_AGENT_SETTINGS"]),
            memory_core=_text(texts["MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL"]),
            memory_unified=_text(texts["MEMORY_BACKEND_INSTRUCTION_UNIFIED"]),
            memory_empty=_memory_sentences(simulators),
            hints=dict(zip(_HINT_ORDER, _returned(utils, _HINT_FUNCTION), strict=True)),
            type_hints=dict(zip(_TYPE_ORDER, _appended(utils, _TYPE_FUNCTION), strict=True)),
        )
    except (KeyError, ValueError) as error:
        raise UsageError(
            f"the official wording was not found: {reason_of(error)}",
            where=str(package),
            hint="Pull the supported release again with `eval-console pull bfcl`.",
        ) from error


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        hint = "Pull the supported release again with `eval-console pull bfcl`."
        text = f"the official wording cannot be read: {reason_of(error)}"
        raise UsageError(text, where=str(path), hint=hint) from error


def _assignments(tree: ast.Module, path: Path) -> dict[str, _Value]:
    out: dict[str, _Value] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                out[node.targets[0].id] = _value(node.value, out)
            except ValueError as error:
                raise UsageError(f"not a plain string: {error}", where=f"{path}:{node.lineno}") from error
    return out


def _value(node: ast.expr, values_by_name: Mapping[str, _Value]) -> _Value:
    match node:
        case ast.Constant(value=str() | int() as value):
            return value
        case ast.Name(id=name) if name in values_by_name:
            return values_by_name[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(_value(left, values_by_name)) + _text(_value(right, values_by_name))
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {
                _text(_value(key, values_by_name)): _value(value, values_by_name)
                for key, value in pairs
                if key is not None
            }
        case _:
            raise ValueError(ast.unparse(node)[:60])


def _text(value: _Value) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a string was expected, not {type(value).__name__}")
    return value


def _mapping(value: _Value) -> Mapping[str, _Value]:
    if not isinstance(value, Mapping):
        raise ValueError(f"a dictionary was expected, not {type(value).__name__}")
    return value


def _texts(value: _Value) -> dict[str, str]:
    return {key: _text(text) for key, text in _mapping(value).items()}


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    definition = next(
        (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name), None
    )
    if definition is None:
        raise ValueError(f"no function {name}")
    return definition


def _in_order(function: ast.FunctionDef, kind: type[_Statement]) -> list[_Statement]:
    statements = [node for node in ast.walk(function) if isinstance(node, kind)]
    return sorted(statements, key=lambda node: (node.lineno, node.col_offset))


def _returned(tree: ast.Module, name: str) -> Iterator[str]:
    for node in _in_order(_function(tree, name), ast.Return):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def _appended(tree: ast.Module, name: str) -> Iterator[str]:
    """Yield the strings appended with `+=`, with `{type}` for the slot of an f-string."""
    for node in _in_order(_function(tree, name), ast.AugAssign):
        if isinstance(node.value, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{type}" for part in node.value.values]
            yield "".join(cast(list[str], parts))
        elif isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def _memory_sentences(simulators: Path | None) -> dict[str, str]:
    out: dict[str, str] = {}
    for backend in ("kv", "rec_sum"):
        path = simulators / f"memory_{backend}.py" if simulators else None
        if path is not None and path.is_file():
            out[backend] = next(_returned(_tree(path), _DUMP), "")
    return out
