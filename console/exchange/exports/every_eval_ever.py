"""Export to Every Eval Ever, schema 0.3.0: the aggregate as JSON, and a JSON line per sample and score.

    <root>/data/<suite>/<provider>/<model>/<uuid>.json            a result for passing, and one for each named score
    <root>/data/<suite>/<provider>/<model>/<uuid>_samples.jsonl   the graded rollouts

Broken and undecided rollouts have no score there; the aggregate's details have their number.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from console import __version__
from console.core.names import slug
from console.core.outcome import Outcome
from console.core.run import reroll_words
from console.core.statistics.intervals import Interval, rate_interval, score_interval
from console.core.statistics.sample import Observation, sample_of
from console.exchange.document import Item, RunDocument
from console.exchange.document_reader import read_document
from console.exchange.exports.files import write_file
from console.exchange.exports.inspect_messages import target_of
from console.insight.conversation import Conversation
from console.insight.message import NormalizedMessage, normalized_message, normalized_reply
from console.store.journal_line import scrub
from console.store.runs import RunFolder
from console.suites.headline import PASSED
from console.suites.leaderboard_rules import is_count
from console.suites.metrics import is_yes_or_no

VERSION = "0.3.0"
_LEVEL = 0.95

Json = dict[str, Any]
Scale = tuple[float, float]


def export_run(run: RunFolder, root: Path, data: Path | None) -> list[Path]:
    """Write both files below `root` and return them.

    Raises:
        UsageError: the run cannot be read, or a file cannot be written.
    """
    document, _ = read_document(run, data, with_conversations=True)
    graded = [item for item in document.items if item.graded and item.finished is not None]
    lines = [line for item in graded for line in _instances(item, document)]
    samples = "".join(json.dumps(scrub(line), allow_nan=False) + "\n" for line in lines).encode()
    place = _place(document)
    paths = [root / f"{place}.json", root / f"{place}_samples.jsonl"]
    detailed = {
        "format": "jsonl",
        "file_path": f"{place}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(samples).hexdigest(),
        "total_rows": len(lines),
    }
    aggregate = _aggregate(document, graded) | {"detailed_evaluation_results": detailed}
    write_file(paths[1], samples)
    write_file(paths[0], json.dumps(scrub(aggregate), indent=1, allow_nan=False).encode())
    return paths


def _place(document: RunDocument) -> str:
    """Return the path of a run's records without extension; deterministic."""
    manifest = document.manifest
    digest = hashlib.sha256(manifest.id.encode("utf-8", "surrogatepass")).digest()
    name = str(UUID(bytes=digest[:16], version=4))
    folders = (manifest.suite, manifest.model.provider, _model(document))
    return "/".join(("data", *(slug(folder, 80) or "unknown" for folder in folders), name))


def _evaluation_id(document: RunDocument) -> str:
    manifest = document.manifest
    return f"{slug(manifest.suite)}/{slug(_model(document), 80)}/{manifest.at:.0f}"


def _model(document: RunDocument) -> str:
    return document.manifest.model.model_id or document.manifest.model.name


def _details(values: Json) -> dict[str, str]:
    """Convert details to strings, which the schema requires."""
    return {name: value if isinstance(value, str) else json.dumps(value, default=str) for name, value in values.items()}


# The aggregate --------------------------------------------------------------------------------------------------------


def _aggregate(document: RunDocument, graded: Sequence[Item]) -> Json:
    manifest = document.manifest
    started = datetime.fromtimestamp(manifest.at, UTC).isoformat(timespec="seconds")
    counts = Counter(item.outcome for item in document.items)
    return {
        "schema_version": VERSION,
        "evaluation_id": _evaluation_id(document),
        "evaluation_timestamp": started,
        "retrieved_timestamp": f"{time.time():.0f}",
        "source_metadata": {
            "source_name": "eval-console",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": _details(
                {
                    "run": manifest.id,
                    "outcomes": dict(counts),
                    "state": document.summary.state,
                    **({"basis": words} if (words := reroll_words(document.summary.rerolled)) else {}),
                }
            ),
        },
        "eval_library": {
            "name": "eval-console",
            "version": __version__,
            "additional_details": _details({"mode": manifest.setting.mode, **manifest.versions}),
        },
        "model_info": _model_info(document),
        "evaluation_results": [_result(document, *part) for part in _intervals(graded, document)],
    }


def _model_info(document: RunDocument) -> Json:
    model = document.manifest.model
    details = {"deployment_type": "unknown", "model_availability": "unknown", "provider": model.provider}
    judges = {f"{role} model": facts.model_id or facts.name for role, facts in document.manifest.roles.items()}
    return {
        "name": model.name,
        "id": _model(document),
        "additional_details": details | judges | ({"simulated": "true"} if document.simulated else {}),
    }


def _intervals(graded: Sequence[Item], document: RunDocument) -> Iterator[tuple[str, Interval, Scale | None]]:
    """Yield each score with its mean and scale, passing first; cases have equal weight."""
    passing = rate_interval(sample_of(_observation(item, float(item.graded is Outcome.PASSED)) for item in graded))
    if passing is not None:
        yield PASSED, passing, (0.0, 1.0)
    manifest, report = document.manifest, document.report
    units = {metric.name: metric.unit for metric in report.metrics} if report is not None else dict[str, str]()
    for name in _score_names(graded):
        having = [item for item in graded if name in item.rollout.scores]
        sample = sample_of(_observation(item, item.rollout.scores[name]) for item in having)
        scale = manifest.scales.get(name)
        values = [item.rollout.scores[name] for item in having]
        is_rate = (units[name] == "rate") if name in units else is_yes_or_no(values, scale)
        is_rate = is_rate and not is_count(manifest.format, name)
        interval = rate_interval(sample) if is_rate else score_interval(sample, scale)
        if interval is not None:
            yield name, interval, (0.0, 1.0) if is_rate else scale


def _score_names(graded: Sequence[Item]) -> list[str]:
    return [name for name in dict.fromkeys(name for item in graded for name in item.rollout.scores) if name != PASSED]


def _observation(item: Item, value: float) -> Observation:
    return Observation(item.rollout.key.case, value, item.rollout.category, item.rollout.cluster)


def _result(document: RunDocument, name: str, interval: Interval, scale: Scale | None) -> Json:
    metric: Json = {
        "metric_id": f"eval-console/{slug(name)}",
        "metric_name": name,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": scale[0] if scale else "-Infinity",
        "max_score": scale[1] if scale else "Infinity",
    }
    if name == PASSED:
        metric |= {"metric_kind": "accuracy", "metric_unit": "proportion"}
    elif unit := document.manifest.units.get(name):
        metric["metric_unit"] = unit
    score: Json = {"score": interval.value}
    if interval.low is not None and interval.high is not None:
        bounds = {"lower": interval.low, "upper": interval.high, "confidence_level": _LEVEL, "method": interval.method}
        score["uncertainty"] = {"confidence_interval": bounds, "num_samples": interval.rollouts}
    return {
        "evaluation_result_id": _result_id(name),
        "evaluation_name": document.manifest.suite,
        "source_data": {
            "dataset_name": document.manifest.dataset.get("name", document.manifest.suite),
            "source_type": "other",
            "additional_details": _details({**document.manifest.dataset}),
        },
        "metric_config": metric,
        "score_details": score,
    }


def _result_id(name: str) -> str:
    return f"{slug(name) or 'score'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


# Samples --------------------------------------------------------------------------------------------------------------


def _instances(item: Item, document: RunDocument) -> Iterator[Json]:
    """Yield a rollout once per score."""
    passed = item.graded is Outcome.PASSED
    messages = _messages(item.conversation)
    calls = sum(len(message.calls) for message in messages)
    turns = sum(message.role == "assistant" for message in messages)
    kind = "agentic" if calls else "multi_turn" if turns > 1 else "single_turn"
    answer = messages[-1].text if messages else ""
    question = next((message.text for message in messages if message.role == "user"), item.rollout.title)
    target = target_of(item)
    is_single = kind == "single_turn"
    turn = 0 if is_single else max(len(messages) - 1, 0)
    for name, value in ((PASSED, float(passed)), *((n, v) for n, v in item.rollout.scores.items() if n != PASSED)):
        yield {
            "schema_version": VERSION,
            "evaluation_id": _evaluation_id(document),
            "model_id": _model(document),
            "evaluation_name": document.manifest.suite,
            "evaluation_result_id": _result_id(name),
            "sample_id": item.rollout.key.case,
            "sample_hash": hashlib.sha256((question + target).encode("utf-8", "surrogatepass")).hexdigest(),
            "interaction_type": kind,
            "input": {"raw": question, "reference": [target] if target else []},
            "output": {"raw": [answer]} if is_single else None,
            "messages": None if is_single else [_turn(place, shown) for place, shown in enumerate(messages)],
            "answer_attribution": [_attribution(answer, turn, kind)],
            "evaluation": {
                "score": value,
                "is_correct": passed,
                "num_turns": max(turns, 1),
                "tool_calls_count": calls,
            },
            "token_usage": _usage(item),
            "performance": {"latency_ms": max(item.rollout.seconds, 0.0) * 1000},
            "metadata": _details(
                {"category": item.rollout.category, "rollout": item.rollout.key.rollout, "reason": item.rollout.reason}
            ),
        }


def _usage(item: Item) -> Json:
    sent, got = item.rollout.input_tokens, item.rollout.output_tokens
    return {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}


def _attribution(answer: str, turn: int, kind: str) -> Json:
    return {
        "turn_idx": turn,
        "source": "output.raw" if kind == "single_turn" else "messages[turn_idx].content",
        "extracted_value": answer,
        "extraction_method": "custom",
        "is_terminal": True,
    }


def _messages(conversation: Conversation | None) -> list[NormalizedMessage]:
    """Return the conversation with the model: its last request and the reply."""
    exchanges = conversation.exchanges if conversation else []
    asked = [exchange for exchange in exchanges if exchange.asked.role == "model"]
    if not asked:
        return []
    return [*map(normalized_message, asked[-1].messages), normalized_reply(asked[-1].asked.reply)]


def _turn(place: int, message: NormalizedMessage) -> Json:
    turn: Json = {"turn_idx": place, "role": message.role or "user", "content": message.text}
    if message.calls:
        turn["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": {"arguments": call.arguments}} for call in message.calls
        ]
    if message.answers:
        turn["tool_call_id"] = [message.answers]
    return turn
