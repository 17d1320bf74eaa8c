"""Right and wrong scripted answers for simulated models, derived from ground truth.

Right answers use the first acceptable value of every parameter. Wrong ones imitate typical errors: a different value,
type or function, a missing or extra parameter or call, or prose. A turn of a conversation is answered with all expected
calls, then a closing sentence; a memory entry with one call to write or read, then an answer.
"""

import ast
import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, cast

from console.benchmarks.bfcl.data.rendering import Doc
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.variation import DEFAULT, Variation, read_variation
from console.core.chat import ScriptedAnswers, Utterance
from console.suites.call_matching.checker import check_calls, underscored_name

Call = tuple[str, dict[str, Any]]

_PROSE = "I would first need to know more before I can use any of these functions."
_NO_FUNCTION = "None of the given functions can answer this question."
_SAMPLES: dict[str, Any] = {
    "integer": 3,
    "float": 2.5,
    "boolean": True,
    "array": [],
    "tuple": [],
    "dict": {},
}


def scripted_answers_for(entry: Entry, mode: str) -> ScriptedAnswers:
    """Return the scripted answers to a single-turn entry."""
    right = right_calls(entry)
    if "irrelevance" in entry.judged_as:
        calls = [plausible_call(doc) for doc in entry.function[:1]]
        return ScriptedAnswers(Utterance(_NO_FUNCTION), (write(calls, entry, mode),) if calls else ())
    wrong = [write(calls, entry, mode) for calls in wrong_calls(entry, right) if not _passes(entry, calls)]
    return ScriptedAnswers(write(right, entry, mode), (*wrong, Utterance(_PROSE)))


def refused_key(entry: Entry) -> str:
    """Return the checker's reason for rejecting the calls in the key; empty if it accepts them or there are none.

    Keys in Java and JavaScript are not examined, as their values are compared with source text.
    """
    if not names.is_single_turn(entry.category) or names.is_relevance(entry.judged_as) or entry.ground_truth is None:
        return ""
    if "java" in entry.judged_as:
        return ""
    missing = {name for expected in entry.ground_truth for name in expected} - {doc["name"] for doc in entry.function}
    if missing:
        return f"the key calls {min(missing)}, which the case does not offer"
    decoded = [{name: cast(dict[str | None, Any], arguments)} for name, arguments in right_calls(entry)]
    refusal = check_calls(entry.function, decoded, entry.ground_truth, names.call_rule_of(entry.judged_as))
    return f"the checker refuses the calls of the key: {refusal.message}" if refusal is not None else ""


def _passes(entry: Entry, calls: Sequence[Call]) -> bool:
    """Return whether the checker accepts calls that were meant to be wrong."""
    if entry.ground_truth is None:
        return True
    decoded = [{name: cast(dict[str | None, Any], arguments)} for name, arguments in calls]
    return check_calls(entry.function, decoded, entry.ground_truth, names.call_rule_of(entry.judged_as)) is None


def right_calls(entry: Entry) -> list[Call]:
    """Return calls that the checker accepts; without ground truth, a plausible call of the first function."""
    if entry.ground_truth is None:
        return [plausible_call(doc) for doc in entry.function[:1]]
    return [_right_call(entry, expected) for expected in entry.ground_truth]


def _right_call(entry: Entry, expected: dict[str, dict[str, list[Any]]]) -> Call:
    name, allowed = next(iter(expected.items()))
    parameters = next(doc for doc in entry.function if doc["name"] == name)["parameters"]
    required = cast(list[str], parameters.get("required", []))
    offered = [key for key in allowed if key in parameters["properties"]]
    present = [key for key in offered if key in required or any(value != "" for value in allowed[key])]
    return name, {key: first_value(allowed[key]) for key in present}


def first_value(values: list[Any]) -> Any:
    """Return the first acceptable value other than `""`, recursively for dictionary entries."""
    value = _first(values)
    if isinstance(value, dict):
        return _entries(cast(dict[str, Any], value))
    if isinstance(value, list):
        items = cast(list[Any], value)
        return [_entries(cast(dict[str, Any], item)) if isinstance(item, dict) else item for item in items]
    return value


def _first(values: list[Any]) -> Any:
    return next(([value] for value in values if value != ""), [""])[0]


def _entries(accepted: dict[str, Any]) -> dict[str, Any]:
    """Return the first acceptable value of every key; nested values are not alternatives."""
    lists = {key: _listed(values) for key, values in accepted.items()}
    return {key: _first(values) for key, values in lists.items() if any(value != "" for value in values)}


def _listed(values: Any) -> list[Any]:
    return cast(list[Any], values) if isinstance(values, list) else [values]


def plausible_call(doc: Doc) -> Call:
    """Return a call of a function with a sample value for every required parameter."""
    properties = cast(dict[str, Doc], doc["parameters"].get("properties", {}))
    required = cast(list[str], doc["parameters"].get("required", []))
    return doc["name"], {name: _sample(properties[name]) for name in required if name in properties}


def _sample(schema: Doc) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    return _SAMPLES.get(schema.get("type", "string"), "example")


def wrong_calls(entry: Entry, right: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield lists of calls with one error each."""
    if not right:
        return
    name, arguments = right[0]
    rest = list(right[1:])
    for key, value in arguments.items():
        yield [(name, {**arguments, key: _other(value)}), *rest]
    if arguments:
        key, value = next(iter(arguments.items()))
        yield [(name, {**arguments, key: [value] if not isinstance(value, list) else str(cast(Any, value))}), *rest]
        yield [(name, {other: part for other, part in arguments.items() if other != key}), *rest]
    yield [(name, {**arguments, "extra": "value"}), *rest]
    others = [doc["name"] for doc in entry.function if doc["name"] != name]
    yield [(others[0] if others else f"{name}_all", arguments), *rest]
    yield [*right, right[0]]


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"other {value}"
        case list():
            items = cast(list[Any], value)
            return items[:-1] if items else [1]
        case dict():
            return {**cast(dict[str, Any], value), "note": "none"}
        case _:
            return "other"


def write(calls: Sequence[Call], entry: Entry, mode: str) -> Utterance:
    """Write calls for this entry: native, or as text in the requested format."""
    language = names.language_of(entry.judged_as)
    if language != "python":
        show = _java if language == "java" else _javascript
        calls = [
            (name, {key: show(value, _schema(entry, name, key)) for key, value in arguments.items()})
            for name, arguments in calls
        ]
    if mode == "fc":
        return Utterance(calls=tuple((underscored_name(name), arguments) for name, arguments in calls))
    if entry.config in ("", DEFAULT):
        return Utterance(calls=tuple(calls)) if language == "python" else Utterance(_quoted(calls))
    return Utterance(written(calls, read_variation(entry.config)))


def written(calls: Sequence[Call], how: Variation) -> str:
    """Write calls as text in a format-sensitivity variation."""
    match how.returns:
        case "json":
            text = json.dumps([{"function": name, "parameters": arguments} for name, arguments in calls])
        case "verbose_xml":
            text = _xml(calls, '<param name={name} value={value} type="{type}"/>', "<params>{params}</params>")
        case "concise_xml":
            text = _xml(calls, '<param name={name} type="{type}">{text}</param>', "{params}")
        case _:
            text = _bracketed(calls, repr)
    return f"<TOOLCALL>{text}</TOOLCALL>" if how.tagged else text


def _xml(calls: Sequence[Call], param: str, around: str) -> str:
    out: list[str] = []
    for name, arguments in calls:
        params = "".join(
            param.format(
                name=_attribute(key),
                value=_attribute(_plain(value)),
                text=escape(_plain(value), quote=False),
                type=_xml_type(value),
            )
            for key, value in arguments.items()
        )
        out.append(f"<function name={_attribute(name)}>{around.format(params=params)}</function>")
    return f"<functions>{''.join(out)}</functions>"


def _attribute(text: str) -> str:
    return '"' + escape(text).replace("\n", "&#10;").replace("\t", "&#9;") + '"'


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)


def _xml_type(value: Any) -> str:
    kinds = {"bool": "boolean", "int": "integer", "float": "float", "list": "array", "dict": "dict", "NoneType": "null"}
    return kinds.get(type(value).__name__, "string")


def _quoted(calls: Sequence[Call]) -> str:
    """Write Java or JavaScript calls with double-quoted values, as both decoders remove the quotes."""
    return _bracketed(calls, lambda value: f'"{value}"')


def _bracketed(calls: Sequence[Call], show: Callable[[Any], str]) -> str:
    texts: list[str] = []
    for name, values in calls:
        arguments = ", ".join(f"{key}={show(value)}" for key, value in values.items())
        texts.append(f"{name}({arguments})")
    return f"[{', '.join(texts)}]"


def _schema(entry: Entry, name: str, parameter: str) -> Doc:
    docs = [doc for doc in entry.function if doc["name"] == name]
    return cast(Doc, docs[0]["parameters"]["properties"].get(parameter, {})) if docs else {}


def _java(value: Any, schema: Doc) -> str:
    """Format a value as Java source, without quotes at the top level."""
    kind, items = schema.get("type"), cast(Doc, schema.get("items", {})).get("type")
    if isinstance(value, list):
        parts = [_java(item, {"type": items}) for item in cast(list[Any], value)]
        if kind == "Array":
            return f"new {items}[] {{{', '.join(parts)}}}"
        parts = [f"'{part}'" if items in ("String", "char") else part for part in parts]
        return f"new ArrayList<{items}>(Arrays.asList({', '.join(parts)}))" if parts else "new ArrayList<>()"
    if isinstance(value, dict):
        puts = "".join(f'put("{key}", {_java(part, {})}); ' for key, part in cast(dict[str, Any], value).items())
        return f"new HashMap<String, Object>() {{{{ {puts}}}}}" if puts else "new HashMap<>()"
    suffix = {"long": "L", "float": "f"}.get(str(kind), "") if type(value) in (int, float) else ""
    return (str(value).lower() if isinstance(value, bool) else str(value)) + suffix


def _javascript(value: Any, _: Doc) -> str:
    """Format a value as JavaScript source, without quotes at the top level."""
    if isinstance(value, list):
        return f"[{', '.join(_nested(item) for item in cast(list[Any], value))}]"
    if isinstance(value, dict):
        entries = (f"{key}: {_nested(part)}" for key, part in cast(dict[str, Any], value).items())
        return "{" + ", ".join(entries) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _nested(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else _javascript(value, {})


_NOTED = Utterance("Noted.")
_LOST = Utterance("{'answer': 'I do not know', 'context': 'I do not know'}")
_LONGEST = 600


def scripted_agentic_turn(entry: Entry, docs: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
    """Return the scripted answers to a memory or web-search entry.

    A turn of a prerequisite is stored with one call and acknowledged; a question is looked up with one call and then
    answered from ground truth.
    """
    del docs
    return lambda: _writing_step(entry, turn, step) if names.is_prerequisite(entry.id) else _reading_step(entry, step)


def _writing_step(entry: Entry, turn: int, step: int) -> ScriptedAnswers:
    if step:
        return ScriptedAnswers(_NOTED)
    lines = [message for message in entry.question[turn] if message["role"] == "user"]
    text = " ".join(str(lines[-1].get("content") or "").split())[:_LONGEST] if lines else ""
    return ScriptedAnswers(
        Utterance(calls=(_note(names.backend_of(entry.id), f"talk_{len(entry.depends_on)}_{turn}", text),))
    )


def _note(backend: str, key: str, text: str) -> Call:
    match backend:
        case "kv":
            return "archival_memory_add", {"key": key, "value": text}
        case "vector":
            return "archival_memory_add", {"text": text}
        case _:
            return "memory_append", {"text": f"{text}\n"}


def _reading_step(entry: Entry, step: int) -> ScriptedAnswers:
    if step == 0:
        return ScriptedAnswers(Utterance(calls=(_look_up(entry),)), (_LOST,))
    truth = (entry.ground_truth or ["unknown"])[0]
    return ScriptedAnswers(Utterance(f"{{'answer': '{truth}', 'context': 'It was found by looking it up.'}}"), (_LOST,))


def _look_up(entry: Entry) -> Call:
    if not names.is_memory(entry.id):
        return "search_engine_query", {"keywords": entry.title}
    match names.backend_of(entry.id):
        case "kv":
            return "archival_memory_list_keys", {}
        case "vector":
            return "archival_memory_retrieve", {"query": entry.title}
        case _:
            return "memory_retrieve", {}


_DONE = "That is done."


def scripted_turn(entry: Entry, docs: Sequence[Doc], turn: int, step: int) -> Callable[[], ScriptedAnswers]:
    """Return the scripted answers: all expected calls of the turn at once, then a closing sentence.

    Args:
        entry: entry with ground truth.
        docs: documents available at this turn, which name positional arguments.
        turn: number from 0.
        step: number from 0.
    """
    return lambda: _scripted(expected_calls(entry, docs, turn) if step == 0 else [])


def expected_calls(entry: Entry, docs: Sequence[Doc], turn: int) -> list[Call]:
    """Return the expected calls of a turn, with the names of positional arguments taken from the documents."""
    texts = cast(list[list[str]], entry.ground_truth or [])[turn]
    by_name = {doc["name"]: doc for doc in docs}
    return [call_by_name(text, by_name) for text in texts]


def call_by_name(text: str, docs: dict[str, Doc]) -> Call:
    """Return the name and arguments of a call string, with the names of positional arguments taken from its document.

    Raises:
        SyntaxError: not a Python expression.
        ValueError: an argument that is not a literal.
        AssertionError: not a call.
    """
    node = ast.parse(text.strip(), mode="eval").body
    assert isinstance(node, ast.Call)
    name = ast.unparse(node.func)
    parameters = list(docs.get(name, {}).get("parameters", {}).get("properties", {}))
    arguments: dict[str, Any] = dict(zip(parameters, (ast.literal_eval(part) for part in node.args), strict=False))
    return name, arguments | {str(part.arg): ast.literal_eval(part.value) for part in node.keywords}


def _scripted(calls: Sequence[Call]) -> ScriptedAnswers:
    if not calls:
        return ScriptedAnswers(Utterance(_DONE))
    name, arguments = calls[-1]
    wrong = [Utterance("Could you tell me more about what you want?")]
    wrong += [Utterance(calls=tuple(calls[:-1]))] if len(calls) > 1 else []
    wrong += [
        Utterance(calls=(*calls[:-1], (name, {**arguments, key: f"other {value}"})))
        for key, value in arguments.items()
        if isinstance(value, str)
    ]
    wrong += [Utterance(calls=(*calls[:-1], (name, {**arguments, "force": True})))]
    return ScriptedAnswers(Utterance(calls=tuple(calls)), tuple(wrong))
