"""The multi-turn check, which executes the calls of model and ground truth on separate simulators. Runs in the worker.

After every turn with expected calls, all public attributes of all instances must be equal, and the model's results so
far must include every result of the expected calls (with multiplicity). Turns without expected calls are executed but
not judged. The first failure decides.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from console.benchmarks.bfcl.simulators.state import Classes, Simulators, plain, storable, stored_state

EMPTY_TURN = "multi_turn:empty_turn_model_response"
STATE = "multi_turn:instance_state_mismatch"
RESPONSE = "multi_turn:execution_response_mismatch"

_MOST_DIFFERENCES = 40
_LONGEST = 2000
_ABSENT = object()
"""Marks a missing value, as None is a valid value."""

Steps = Sequence[Sequence[str]]
"""Call strings of each step of a turn."""


def check_turns(
    classes: Classes,
    entry: Mapping[str, Any],
    turns: Sequence[Steps],
    truth: Sequence[Sequence[str]],
    *,
    recorded: bool = False,
) -> dict[str, Any]:
    """Check a conversation with as many turns as the ground truth.

    Args:
        classes: simulator classes by name.
        entry: see `Simulators`.
        turns: the model's calls by turn and step.
        truth: expected calls by turn.
        recorded: add `record`, the additional fields of the official score file.

    Returns:
        `error_type` (None if correct), `message`, `turn` (from 0), `turns` (results by turn: `model` by step, `truth`),
        and either `differences` (`path` from the class down, `expected`, `actual`; None: absent) or `missing` results.
    """
    model, expected = Simulators(classes, entry, "model_eval"), Simulators(classes, entry, "model_ground_truth_eval")
    seen: list[str] = []
    played: list[dict[str, Any]] = []
    for number, (steps, calls) in enumerate(zip(turns, truth, strict=True)):
        by_step = [model.execute(step) for step in steps]
        expected_results = expected.execute(calls)
        seen += [result for step in by_step for result in step]
        played.append({"model": by_step, "truth": expected_results})
        finding = _judge_turn(model, expected, steps, calls, seen, expected_results) if calls else None
        if finding is not None:
            record = {"record": _record(finding, model, expected, played, seen)} if recorded else {}
            return finding | {"turn": number, "turns": played} | record
    return {"error_type": None, "message": "", "turns": played}


def _judge_turn(
    model: Simulators,
    expected: Simulators,
    steps: Steps,
    calls: Sequence[str],
    seen: Sequence[str],
    expected_results: Sequence[str],
) -> dict[str, Any] | None:
    if not steps:
        wanting = "1 call" if len(calls) == 1 else f"{len(calls)} calls"
        return {"error_type": EMPTY_TURN, "message": f"nothing was called, expected {wanting}"}
    for name, instance in expected.instances.items():
        differing = _differing(model.instances[name], instance)
        if differing:
            return {
                "error_type": STATE,
                "message": f"the state of {name} differs: {', '.join(differing)}",
                "subject": name,
                "differences": _differences(name, model.instances[name], instance, differing),
            }
    if missing := _missing(expected_results, seen):
        message = "expected result missing" if len(missing) == 1 else f"{len(missing)} expected results missing"
        return {"error_type": RESPONSE, "message": message, "missing": [text[:_LONGEST] for text in missing]}
    return None


def _differing(model: object, expected: object) -> list[str]:
    """Return the expected public attributes that differ or are missing on the model's side."""
    missing = object()
    return [
        name
        for name, value in vars(expected).items()
        if not name.startswith("_") and getattr(model, name, missing) != value
    ]


def _missing(expected_results: Sequence[str], seen: Sequence[str]) -> list[str]:
    left = list(seen)
    missing: list[str] = []
    for result in expected_results:
        if result in left:
            left.remove(result)
        else:
            missing.append(result)
    return missing


def _differences(name: str, model: Any, expected: Any, attributes: Sequence[str]) -> list[dict[str, Any]]:
    differences: list[dict[str, Any]] = []
    for attribute in attributes:
        actual = plain(getattr(model, attribute)) if hasattr(model, attribute) else _ABSENT
        _descend(f"{name}.{attribute}", actual, plain(getattr(expected, attribute)), differences)
    return differences[:_MOST_DIFFERENCES]


def _descend(path: str, actual: Any, expected: Any, differences: list[dict[str, Any]]) -> None:
    """Collect minimal differences: by dictionary key, and by item of lists of equal length or with a common prefix."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        left, right = cast(dict[str, Any], actual), cast(dict[str, Any], expected)
        for key in dict.fromkeys([*right, *left]):
            _descend_if(f"{path}.{key}", left.get(key, _ABSENT), right.get(key, _ABSENT), differences)
        return
    if isinstance(actual, list) and isinstance(expected, list):
        ours, theirs = cast(list[Any], actual), cast(list[Any], expected)
        shared = min(len(ours), len(theirs))
        if shared and (len(ours) == len(theirs) or ours[:shared] == theirs[:shared]):
            for index, (our_item, their_item) in enumerate(zip_longest(ours, theirs, fillvalue=_ABSENT)):
                _descend_if(f"{path}[{index}]", our_item, their_item, differences)
            return
    differences.append({"path": path, "expected": _cut(expected), "actual": _cut(actual)})


def _descend_if(path: str, actual: Any, expected: Any, differences: list[dict[str, Any]]) -> None:
    if actual is _ABSENT or expected is _ABSENT or actual != expected:
        _descend(path, actual, expected, differences)


def _cut(value: Any) -> str | None:
    """Return the `repr` of a value, truncated, or None if it is absent."""
    return None if value is _ABSENT else repr(value)[:_LONGEST]


def _record(
    finding: Mapping[str, Any], model: Simulators, expected: Simulators, played: list[dict[str, Any]], seen: list[str]
) -> dict[str, Any]:
    """Return the additional fields of the error in the official score file."""
    results = [{"model": turn["model"], "ground_truth": turn["truth"]} for turn in played]
    if finding["error_type"] == EMPTY_TURN:
        return {"details": {"execution_result": results}}
    if finding["error_type"] == RESPONSE:
        return {
            "details": {
                "missing_items": _missing(played[-1]["truth"], seen),
                "model_response (including all previous turns)": seen,
                "ground_truth_response (only the current turn)": played[-1]["truth"],
            }
        }
    ours, theirs = model.instances[finding["subject"]], expected.instances[finding["subject"]]
    details = {
        "differences": {
            name: {"model": storable(getattr(ours, name, None)), "ground_truth": storable(getattr(theirs, name))}
            for name in _differing(ours, theirs)
        },
        "model_instance_state": stored_state(ours),
        "ground_truth_instance_state": stored_state(theirs),
    }
    return {"details": details, "execution_result": results}
