"""Export to one JSON object without conversations: manifest, counts, report and every rollout.

ASCII only, without control characters except line feeds: those in untrusted text are escaped, so that they can neither
reach a terminal nor break a reader.
"""

import json
from typing import Any

import msgspec

from console.exchange.document import Item, RunDocument
from console.exchange.json_kind import JsonKind
from console.insight.judging import judging_object

RUN_DOCUMENT = JsonKind(
    "run_document",
    "export --format json",
    "A run without its conversations.",
    {
        "run": "its name",
        "simulated": "whether the model was simulated",
        "manifest": "the plan of the run",
        "summary": "state, counts, tokens, cost",
        "report": "metrics by the suite's own formula, with intervals",
        "corrected": "optional: scores as graded, without contested cases, with corrected keys, corrected by people",
        "judging": "optional: undecided share and agreement of the judges",
        "rollouts": "outcome, reason, output, time, tokens, cost and annotations of each rollout",
    },
)


def run_fields(document: RunDocument) -> dict[str, Any]:
    """Return the fields of a `run_document`."""
    return {
        "run": document.manifest.id,
        "simulated": document.simulated,
        "manifest": msgspec.to_builtins(document.manifest),
        "summary": msgspec.to_builtins(document.summary),
        "report": msgspec.to_builtins(document.report),
        **({"corrected": document.columns.fields} if document.columns is not None else {}),
        **({"judging": judging_object(document.judging)} if document.judging is not None else {}),
        "rollouts": [_rollout(item) for item in document.items],
    }


def json_text(document: RunDocument) -> str:
    """Return the JSON file."""
    return json.dumps(RUN_DOCUMENT.as_object(run_fields(document)), indent=1, default=str) + "\n"


def _rollout(item: Item) -> dict[str, Any]:
    rollout, finished = item.rollout, item.finished
    verdict = finished.verdict if finished else None
    return {
        "case": rollout.key.case,
        "rollout": rollout.key.rollout,
        "attempt": rollout.key.attempt,
        "category": rollout.category,
        "title": rollout.title,
        "outcome": item.outcome,
        "reason": rollout.reason,
        "subject": rollout.subject,
        "messages": list(verdict.messages) if verdict else [],
        "scores": rollout.scores,
        "official": verdict.official if verdict else None,
        "output": finished.output if finished else None,
        "seconds": rollout.seconds,
        "input_tokens": rollout.input_tokens,
        "output_tokens": rollout.output_tokens,
        "cost_usd": rollout.cost_usd,
        "calls": rollout.calls,
        "failed_tries": rollout.tries,
        "remarks": dict(item.annotations or {}),
    }
