"""Imports result files of cave-bench as runs.

Our evaluator judges every turn again from its record; if the file differs, its verdict is kept as the official one.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from console.benchmarks.cavebench.files.results import FORMAT
from console.benchmarks.cavebench.options import mode_of
from console.benchmarks.cavebench.rules.json_values import encode
from console.benchmarks.cavebench.rules.verdict import judge
from console.core.case import Case, Key, Setting
from console.core.fault import UsageError, reason_of
from console.core.json_text import read_json
from console.core.outcome import Outcome, Verdict
from console.core.ready_type import ready_type
from console.core.record import AnyRecord, Finished, Started
from console.core.run import Manifest, ModelFacts
from console.exchange.imports.imported_run import write_run
from console.store.atomic import read_regular
from console.store.runs import RunFolder, new_run_id

_VALIDATOR = "Custom validator failed: "


class PeerCall(msgspec.Struct, frozen=True):
    """A call in the peer's format."""

    function: str
    arguments: Any = None
    call_id: str | None = ""


class PeerMetrics(msgspec.Struct, frozen=True):
    """Imported metrics of a turn; files of 2025 have no tokens."""

    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class PeerTurn(msgspec.Struct, frozen=True):
    """A turn in the peer's format."""

    query: str = ""
    reference_response: str | None = ""
    actual_response: str | None = None
    expected_calls: list[dict[str, Any]] = []
    actual_calls: list[PeerCall] = []
    validation_errors: list[str] = []
    metrics: PeerMetrics = PeerMetrics()
    success: bool = False
    validator_result: bool | None = True
    code_snippets: list[str] | None = None
    expected_variable_reads: list[str] | None = None
    expected_variable_writes: list[str] | None = None


class PeerConversation(msgspec.Struct, frozen=True):
    """A conversation in the peer's format."""

    turns: list[PeerTurn]
    id: str = ""


class OwnFacts(msgspec.Struct, frozen=True):
    """Additional facts in files that we wrote."""

    mode: str = ""
    model: str = ""
    simulated: bool = False


class PeerScenario(msgspec.Struct, frozen=True):
    """A scenario in the peer's format."""

    conversations: list[PeerConversation]
    eval_console: OwnFacts | None = None


def import_results(path: Path, runs_root: Path) -> RunFolder:
    """Create a run from a result file and return it.

    Raises:
        UsageError: the file is missing, damaged, or not a result file of cave-bench.
    """
    scenarios = read_results(path)
    manifest = _manifest(path, scenarios)
    return write_run(manifest, _records(scenarios, manifest), runs_root)


def read_results(path: Path) -> dict[str, PeerScenario]:
    """Return the scenarios of a result file by name.

    Raises:
        UsageError: the file is invalid; names the fault and its place.
    """
    try:
        data = read_json(read_regular(path))
        scenarios = msgspec.convert(data, ready_type(dict[str, PeerScenario]))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except msgspec.ValidationError as error:
        raise UsageError(f"is not a result file of cave-bench: {error}", where=str(path)) from None
    except ValueError as error:
        hint = "The peer leaves a truncated file behind when it cannot write a value; nothing in it can be recovered."
        raise UsageError(f"is not JSON: {reason_of(error)}", where=str(path), hint=hint) from None
    if not scenarios:
        raise UsageError("contains no scenario", where=str(path))
    return scenarios


def _records(scenarios: dict[str, PeerScenario], manifest: Manifest) -> Iterator[AnyRecord]:
    taken: set[str] = set()
    for name, scenario in scenarios.items():
        for number, conversation in enumerate(scenario.conversations, start=1):
            case = _case(name, number, conversation)
            if case.id in taken:
                case = msgspec.structs.replace(case, id=f"{case.id}~{number}")
            taken.add(case.id)
            key = Key(case.id)
            mode = mode_of(manifest.setting)
            output = {"mode": mode, "turns": [_turn_record(turn) for turn in conversation.turns]}
            yield Started(at=manifest.at, key=key, case=case)
            verdict = _beside_official(judge(case, output, "compatible"), conversation)
            calls = sum(turn.metrics.steps for turn in conversation.turns)
            yield Finished(at=manifest.at, key=key, verdict=verdict, output=output, calls=calls)


def _case(scenario: str, number: int, conversation: PeerConversation) -> Case:
    name = conversation.id or f"conversation_{number}"
    return Case(
        id=f"{scenario}/{name}",
        category=scenario,
        title=conversation.turns[0].query if conversation.turns else "",
        data={
            "scenario": scenario,
            "conversation": {"id": name, "turns": [_expected(turn) for turn in conversation.turns]},
        },
    )


def _expected(turn: PeerTurn) -> dict[str, Any]:
    return {
        "query": turn.query,
        "reference_response": turn.reference_response or "",
        "expected_function_calls": turn.expected_calls,
        "expected_variable_reads": turn.expected_variable_reads or [],
        "expected_variable_writes": turn.expected_variable_writes or [],
    }


def _turn_record(turn: PeerTurn) -> dict[str, Any]:
    failed = [text.removeprefix(_VALIDATOR) for text in turn.validation_errors if text.startswith(_VALIDATOR)]
    metrics = turn.metrics
    return {
        "query": turn.query,
        "response": turn.actual_response,
        "calls": [
            {"function": call.function, "arguments": encode(call.arguments), "call_id": call.call_id or ""}
            for call in turn.actual_calls
        ],
        "snippets": turn.code_snippets or [],
        "steps": metrics.steps,
        "tokens": [metrics.prompt_tokens, metrics.completion_tokens, metrics.total_tokens],
        "validator": {"success": turn.validator_result is not False, "message": "".join(failed[:1]), "trouble": ""},
    }


def _beside_official(verdict: Verdict, conversation: PeerConversation) -> Verdict:
    official = Outcome.PASSED if all(turn.success for turn in conversation.turns) else Outcome.FAILED
    if official is verdict.outcome:
        return verdict
    return msgspec.structs.replace(verdict, official=official.value)


def _manifest(path: Path, scenarios: dict[str, PeerScenario]) -> Manifest:
    ours = next((scenario.eval_console for scenario in scenarios.values() if scenario.eval_console), OwnFacts())
    model = ours.model or path.stem.split("_cave_")[0].split("_json_")[0]
    mode = ours.mode or ("json" if "_json_" in path.stem else "cave")
    setting = Setting(mode=mode)
    try:
        mode_of(setting)
    except UsageError as error:
        raise UsageError(error.message, where=f"{path}: mode", hint=error.hint) from None
    return Manifest(
        id=new_run_id(FORMAT, model),
        at=time.time(),
        suite=FORMAT,
        model=ModelFacts(name=model, model_id=model, provider="imported", simulated=ours.simulated),
        setting=setting,
        cases=sum(len(scenario.conversations) for scenario in scenarios.values()),
        dataset={"name": "imported"},
        versions={"imported": "cave-bench results"},
        format=FORMAT,
    )
