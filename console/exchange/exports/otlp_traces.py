"""Export to OpenTelemetry traces by the GenAI semantic conventions: OTLP JSON, one rollout's trace per line.

The root span is the rollout, with its verdict and scores as attributes and `gen_ai.evaluation.result` events. Its
children are a span for each model call, retries included, and one for each tool call whose result was returned to the
model; a tool's span lasts from the reply that calls it to the request that carries its result. Ids are digests, so that
the same run gives the same traces. Attributes missing from the conventions begin with `eval_console.`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from console import __version__
from console.core.chat import ToolCall
from console.core.outcome import Outcome
from console.core.provider import provider_of
from console.core.record import Asked, Tried
from console.core.run import Manifest, ModelFacts
from console.exchange.document import Item, RunDocument
from console.exchange.exports.genai_messages import input_messages, output_messages, tool_definitions
from console.insight.conversation import Exchange
from console.insight.message import normalized_message
from console.store.journal_line import scrub

PASSED = "passed"
_ROOT = "rollout"
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_PARAMETERS = {
    "temperature": ("gen_ai.request.temperature", float),
    "top_p": ("gen_ai.request.top_p", float),
    "top_k": ("gen_ai.request.top_k", float),
    "frequency_penalty": ("gen_ai.request.frequency_penalty", float),
    "presence_penalty": ("gen_ai.request.presence_penalty", float),
    "max_tokens": ("gen_ai.request.max_tokens", int),
    "max_completion_tokens": ("gen_ai.request.max_tokens", int),
    "seed": ("gen_ai.request.seed", int),
}

Json = dict[str, Any]
Value = str | bool | int | float | list[str] | None


def otlp_lines(document: RunDocument) -> bytes:
    """Return the file."""
    lines = (json.dumps(scrub(_request(item, document)), allow_nan=False) for item in document.items)
    return "".join(line.replace("\x7f", "\\u007f") + "\n" for line in lines).encode()


def _request(item: Item, document: RunDocument) -> Json:
    manifest = document.manifest
    resource = {
        "service.name": "eval-console",
        "service.version": __version__,
        "eval_console.run": manifest.id,
        "eval_console.suite": manifest.suite,
        "eval_console.simulated": document.simulated,
        "eval_console.imported": manifest.versions.get("imported"),
    }
    spans = _Trace(item, manifest).spans()
    scope = {"scope": {"name": "eval-console", "version": __version__}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}]}


class _Trace:
    """The spans of one rollout."""

    def __init__(self, item: Item, manifest: Manifest) -> None:
        self._item = item
        self._manifest = manifest
        key = item.rollout.key
        self._name = f"{manifest.id}/{key}"
        self._seed = json.dumps([manifest.id, key.case, key.rollout, key.attempt])
        conversation = item.conversation
        self._exchanges: Sequence[Exchange] = conversation.exchanges if conversation else ()
        self._tries: dict[int, list[Tried]] = {}
        for tried in conversation.tries if conversation else ():
            self._tries.setdefault(tried.n, []).append(tried)

    def spans(self) -> list[Json]:
        """Return the root span, then its children by number."""
        children = [self._call(exchange) for exchange in self._exchanges]
        answered = {exchange.asked.n for exchange in self._exchanges}
        children += [self._failed_call(tries) for n, tries in self._tries.items() if n not in answered]
        children += self._tools()
        return [self._rollout(children), *children]

    def _rollout(self, children: Sequence[Json]) -> Json:
        item, rollout = self._item, self._item.rollout
        start = min([_ns(rollout.started_at), *(int(child["startTimeUnixNano"]) for child in children)])
        ended = rollout.ended_at or rollout.started_at + max(rollout.seconds, 0.0)
        end = max([start, _ns(ended), *(int(child["endTimeUnixNano"]) for child in children)])
        attributes: dict[str, Value] = {
            "gen_ai.conversation.id": self._name,
            "eval_console.case": rollout.key.case,
            "eval_console.rollout": rollout.key.rollout,
            "eval_console.attempt": rollout.key.attempt,
            "eval_console.category": rollout.category,
            "eval_console.outcome": item.outcome,
            "eval_console.reason": rollout.reason,
            "eval_console.input_tokens": rollout.input_tokens,
            "eval_console.output_tokens": rollout.output_tokens,
            "eval_console.cost_usd": rollout.cost_usd,
            "eval_console.calls": rollout.calls,
            "eval_console.simulated": self._manifest.simulated,
            "eval_console.imported": self._manifest.versions.get("imported"),
        }
        attributes |= {f"eval_console.score.{name}": float(value) for name, value in rollout.scores.items()}
        attributes |= {f"eval_console.{kind}": text for kind, text in (item.annotations or {}).items()}
        span = self._span(f"rollout {self._manifest.suite}", _ROOT, _INTERNAL, start, end, attributes)
        del span["parentSpanId"]
        span["events"] = [_event(end, "gen_ai.evaluation.result", values) for values in self._evaluations()]
        if rollout.outcome in (None, Outcome.BROKEN, Outcome.UNDECIDED):
            _fail(span, rollout.reason or item.outcome, self._explanation)
        return span

    @property
    def _explanation(self) -> str:
        finished = self._item.finished
        return "\n".join(finished.verdict.messages) if finished is not None else ""

    def _evaluations(self) -> Iterator[dict[str, Value]]:
        """Yield the grades: passing first, then each named score."""
        item = self._item
        passing: dict[str, Value] = {"gen_ai.evaluation.name": PASSED}
        if item.graded is not None:
            yield passing | {
                "gen_ai.evaluation.score.value": float(item.graded is Outcome.PASSED),
                "gen_ai.evaluation.score.label": item.graded.value,
                "gen_ai.evaluation.explanation": self._explanation or item.rollout.reason,
            }
        elif item.rollout.outcome is Outcome.UNDECIDED:
            yield passing | {"error.type": item.rollout.reason or item.outcome}
        for name, value in item.rollout.scores.items():
            if name != PASSED:
                yield {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": float(value)}

    def _call(self, exchange: Exchange) -> Json:
        asked, reply = exchange.asked, exchange.asked.reply
        tries = self._tries.get(asked.n, [])
        end = _ns(asked.at)
        start = min([_call_start(asked), *(_ns(tried.at) for tried in tries)])
        attributes = self._request_attributes(asked.role, asked.params)
        attributes |= {
            "gen_ai.response.model": reply.model,
            "gen_ai.response.finish_reasons": [reply.finish],
            "gen_ai.response.time_to_first_chunk": reply.first_token_s,
            "gen_ai.input.messages": input_messages(exchange.messages),
            "gen_ai.output.messages": output_messages(reply),
            "gen_ai.tool.definitions": tool_definitions(exchange.tools) if exchange.tools else None,
            "eval_console.turn": asked.turn,
            "eval_console.step": asked.step,
            "eval_console.simulated": reply.simulated or self._facts(asked.role).simulated,
        }
        if reply.usage is not None:
            attributes |= {
                "gen_ai.usage.input_tokens": reply.usage.input,
                "gen_ai.usage.output_tokens": reply.usage.output,
                "gen_ai.usage.cache_read.input_tokens": reply.usage.cached or None,
                "gen_ai.usage.reasoning.output_tokens": reply.usage.reasoning or None,
            }
        return self._call_span(asked.role, asked.n, start, end, attributes, tries)

    def _failed_call(self, tries: Sequence[Tried]) -> Json:
        """Return the span of a call whose tries all failed."""
        role, last = tries[0].role, tries[-1]
        attributes = self._request_attributes(role, {})
        span = self._call_span(role, last.n, _ns(tries[0].at), _ns(last.at), attributes, tries)
        return _fail(span, last.kind, last.message)

    def _call_span(
        self, role: str, n: int, start: int, end: int, attributes: dict[str, Value], tries: Sequence[Tried]
    ) -> Json:
        facts = self._facts(role)
        kind = _INTERNAL if provider_of(facts.provider).is_free else _CLIENT
        name = f"{attributes['gen_ai.operation.name']} {attributes['gen_ai.request.model']}"
        span = self._span(name, f"call {n}", kind, start, end, attributes)
        span["events"] = [
            _event(_ns(tried.at), "eval_console.failed_try", {"error.type": tried.kind, "error.message": tried.message})
            for tried in tries
        ]
        return span

    def _request_attributes(self, role: str, params: Mapping[str, Any]) -> dict[str, Value]:
        facts = self._facts(role)
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "text_completion" if facts.provider == "completions" else "chat",
            "gen_ai.provider.name": provider_of(facts.provider).vendor or facts.provider or "unknown",
            "gen_ai.request.model": facts.model_id or facts.name,
            "gen_ai.conversation.id": self._name,
            "eval_console.role": role,
        }
        for name, value in {**facts.params, **params}.items():
            if name in _PARAMETERS and isinstance(value, int | float) and not isinstance(value, bool):
                attribute, number = _PARAMETERS[name]
                attributes[attribute] = number(value)
        return attributes

    def _facts(self, role: str) -> ModelFacts:
        return self._manifest.roles.get(role, self._manifest.model)

    def _tools(self) -> Iterator[Json]:
        latest: dict[str, Exchange] = {}
        for exchange in self._exchanges:
            before = latest.get(exchange.asked.role)
            latest[exchange.asked.role] = exchange
            if before is None or not before.asked.reply.tool_calls:
                continue
            results = _results(exchange)
            for place, call in enumerate(before.asked.reply.tool_calls):
                if call.id in results:
                    yield self._tool(call, results[call.id], before.asked, exchange.asked, place)

    def _tool(self, call: ToolCall, result: str, called: Asked, returned: Asked, place: int) -> Json:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.call.arguments": call.arguments,
            "gen_ai.tool.call.result": result,
            "gen_ai.conversation.id": self._name,
        }
        start = _ns(called.at)
        end = max(start, _call_start(returned))
        return self._span(
            f"execute_tool {call.name}", f"call {called.n} tool {place}", _INTERNAL, start, end, attributes
        )

    def _span(self, name: str, path: str, kind: int, start: int, end: int, attributes: Mapping[str, Value]) -> Json:
        return {
            "traceId": _digest(self._seed, 16),
            "spanId": _digest(self._seed + path, 8),
            "parentSpanId": _digest(self._seed + _ROOT, 8),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(max(start, end)),
            "attributes": _attributes(attributes),
        }


def _results(exchange: Exchange) -> dict[str, str]:
    """Return the tool results that follow the last reply in a request, by call id."""
    results: dict[str, str] = {}
    for message in map(normalized_message, exchange.messages):
        if message.role == "assistant":
            results.clear()
        elif message.role == "tool":
            results[message.answers] = message.text
    return results


def _call_start(asked: Asked) -> int:
    return _ns(asked.at - max(asked.reply.latency_s, 0.0))


def _ns(seconds: float) -> int:
    """Convert seconds to nanoseconds since 1970; negative times, which OTLP does not allow, become 0."""
    return max(round(seconds * 1e6), 0) * 1000


def _digest(text: str, size: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * size]


def _fail(span: Json, kind: str, message: str) -> Json:
    span["status"] = {"code": _ERROR, "message": message}
    span["attributes"] += _attributes({"error.type": kind})
    return span


def _event(at: int, name: str, values: Mapping[str, Value]) -> Json:
    return {"timeUnixNano": str(at), "name": name, "attributes": _attributes(values)}


def _attributes(values: Mapping[str, Value]) -> list[Json]:
    """Return attributes in order, without empty ones."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None and value != ""]


def _value(value: str | bool | int | float | list[str]) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [{"stringValue": text} for text in value]}}
