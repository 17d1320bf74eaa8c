"""Asks a model once with tools and once without, to find the parameters that its server refuses."""

from dataclasses import dataclass
from typing import Any

import msgspec

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault
from console.llm.endpoint import Endpoint, Watch
from console.llm.http_client import HttpClient
from console.llm.providers import open_endpoint
from console.llm.remote_endpoint import RemoteEndpoint
from console.llm.servers.refused_parameters import RefusedParameter, without_refused

_MOST_REFUSALS = 8
_LONGEST_S = 120.0
"""Seconds for an answer of a few words; a local server may load the model first."""
_SENT_BY_SUITES: dict[str, Any] = {"temperature": 0.7, "max_tokens": 200, "store": False}
"""Parameters that suites send, regardless of models.toml."""
_SENT_WITH_TOOLS: dict[str, Any] = {"tool_choice": "auto", "parallel_tool_calls": True}
_TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks a number up.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer", "description": "The number."}},
            "required": ["number"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class Trial:
    """Outcome of one question."""

    name: str
    """`without tools` or `with tools`."""
    reply: Reply | None
    fault: Fault | None = None

    @property
    def text(self) -> str:
        """Short description of the outcome."""
        if self.fault is not None:
            return f"{self.fault.kind.value}: {self.fault.message}"
        calls = len(self.reply.tool_calls) if self.reply is not None else 0
        return f"answers{f', with {calls} call' if calls == 1 else f', with {calls} calls' if calls else ''}"


async def try_model(model: ModelConfig) -> tuple[ModelConfig, list[Trial]]:
    """Ask without and with tools, again after each refused parameter; return the accepted settings and the outcomes.

    Raises:
        UsageError: the model has no key.
    """
    longest_s = min(model.limits.timeout_s, _LONGEST_S)
    limits = msgspec.structs.replace(model.limits, max_tries=1, max_wait_s=0.0, timeout_s=longest_s)
    adapted, trials = msgspec.structs.replace(model, limits=limits), list[Trial]()
    for name, tools, more in (("without tools", [], {}), ("with tools", [_TOOL], _SENT_WITH_TOOLS)):
        question = "Look up number 7." if tools else "Say yes."
        params = {key: value for key, value in (_SENT_BY_SUITES | more).items() if key not in model.params}
        request = ChatRequest([{"role": "user", "content": question}], tools, params)
        adapted, trial = await _ask(adapted, request, name)
        trials.append(trial)
    return msgspec.structs.replace(adapted, limits=model.limits), trials


async def _ask(model: ModelConfig, request: ChatRequest, name: str) -> tuple[ModelConfig, Trial]:
    fault: Fault | None = None
    for _ in range(_MOST_REFUSALS):
        endpoint = open_endpoint(model)
        try:
            reply, fault = await endpoint.ask(request, Watch()), None
        except Fault as refusal:
            reply, fault = None, refusal
        finally:
            await endpoint.aclose()
        learned = without_refused(model, _refused(endpoint))
        if fault is None or learned == model:
            return learned, Trial(name, reply, fault)
        model = learned
    return model, Trial(name, None, fault)


def _refused(endpoint: Endpoint) -> list[RefusedParameter]:
    """Return the parameters refused by any of the endpoint's servers."""
    clients = endpoint.clients if isinstance(endpoint, RemoteEndpoint) else []
    return [refused for client in clients if isinstance(client, HttpClient) for refused in client.refused]
