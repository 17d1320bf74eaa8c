"""Simulated models: no key, no network, and the same answer to the same question every time.

They use the same interface, limiter and retries as real models, and raise real faults. They take the suite's scripted
answers, one right and several plausible wrong ones, and vary them by persona. Every reply is marked as simulated.
"""

import asyncio
import hashlib
import json
import os
import re
import time
from collections.abc import Sequence
from random import Random

import msgspec

from console.config.model import Limits, ModelConfig
from console.core.chat import ChatRequest, Reply, ScriptedAnswers, ToolCall, Usage, Utterance
from console.core.fault import Fault, FaultKind
from console.core.live import EndpointState
from console.llm.balancer import Balancer
from console.llm.embedding.bag_of_words import vector_of
from console.llm.endpoint import Watch
from console.llm.limits.limiter import LIMITERS
from console.llm.retry import Try, ask_until_answered
from console.llm.simulated.logprobs import simulated_logprobs
from console.llm.simulated.personas import PERSONAS, PlannedReply, plan_reply

_TOKENS_PER_S = 60.0
_FIRST_TOKEN_S = (0.25, 0.9)
_TOKENS_A_STEP = 2
_TOKEN = re.compile(r"\s*\w{1,6}|\s*[^\w\s]{1,3}|\s+")
_FLAT_BACKOFF_S = 0.01


class SimulatedEndpoint:
    """An endpoint with made-up answers, behind a real limiter and real retries."""

    def __init__(self, model: ModelConfig) -> None:
        """Choose the persona named by the model's `model_id`."""
        self._model = model
        self._persona = PERSONAS.get(model.model_id, PERSONAS["careful"])
        self._flat = "flat" in (model.params.get("pace"), os.environ.get("EVAL_CONSOLE_SIM_PACE"))
        self._limits = _limits(model.limits, flat=self._flat)
        limiter = LIMITERS.limiter(
            model.name, "simulated", model.name, ceiling=None, rpm=None, backoff_s=self._limits.backoff_s
        )
        self._balancer = Balancer([("", limiter)])

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        async def once(this_try: Try) -> Reply:
            rng = Random(_seed(self._model.model_id, request))  # noqa: S311
            return await self._stream_reply(
                request, plan_reply(self._persona, request, rng, this_try.number), watch, rng
            )

        reply, tries = await ask_until_answered(once, self._balancer, self._limits, watch)
        return msgspec.structs.replace(reply, tries=tries)

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        """Return bag-of-words vectors."""
        del watch
        await asyncio.sleep(0 if self._flat else 0.05)
        return [vector_of(text) for text in texts]

    def states(self) -> list[EndpointState]:
        return self._balancer.states()

    def retry_now(self) -> None:
        self._balancer.retry_now()

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""

    async def _stream_reply(self, request: ChatRequest, planned: PlannedReply, watch: Watch, rng: Random) -> Reply:
        """Stream a planned reply at the chosen pace, up to its fault if it has one."""
        started = time.monotonic()
        if planned.fault is not None and planned.fault_after == 0:
            await self._pause(rng.uniform(*_FIRST_TOKEN_S) / 2)
            raise self._fault(planned, "")
        await self._pause(rng.uniform(*_FIRST_TOKEN_S))
        first = time.monotonic() - started
        calls = tuple(
            ToolCall(f"call_{number}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for number, (name, arguments) in enumerate(planned.calls)
        )
        shown = [("reasoning", planned.reasoning), ("text", planned.content or "")]
        shown += [("tool", f"{call.name} {call.arguments}") for call in calls]
        for kind, text in shown:
            if planned.fault is not None and kind != "reasoning" and text:
                text = text[: int(len(text) * planned.fault_after)]
                await self._stream(kind, text, watch)
                raise self._fault(planned, text)
            await self._stream(kind, text, watch)
        return Reply(
            content=planned.content,
            tool_calls=calls,
            reasoning=planned.reasoning,
            finish=planned.finish or ("tool_calls" if calls else "stop"),
            usage=_usage(request, shown),
            model=self._model.model_id,
            latency_s=time.monotonic() - started,
            first_token_s=first,
            simulated=True,
            logprobs=simulated_logprobs(request, _tokens(planned.content), _other_answers(request), rng),
        )

    async def _stream(self, kind: str, text: str, watch: Watch) -> None:
        if self._flat:
            if text:
                watch.on_text(kind, text)
            return
        tokens = _tokens(text)
        for start in range(0, len(tokens), _TOKENS_A_STEP):
            piece = "".join(tokens[start : start + _TOKENS_A_STEP])
            watch.on_text(kind, piece)
            await asyncio.sleep(_TOKENS_A_STEP / _TOKENS_PER_S)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(0 if self._flat else seconds)

    def _fault(self, planned: PlannedReply, partial: str) -> Fault:
        kind = planned.fault or FaultKind.INTERNAL
        wait = (_FLAT_BACKOFF_S if self._flat else 2.0) if kind is FaultKind.RATE_LIMIT else None
        return Fault(kind, f"simulated: {_FAULT_TEXTS.get(kind, kind.value)}", partial=partial, retry_after_s=wait)


_FAULT_TEXTS = {
    FaultKind.RATE_LIMIT: "too many requests (HTTP 429)",
    FaultKind.SERVER: "internal error (HTTP 500)",
    FaultKind.TRUNCATED: "the stream ended before the answer did",
    FaultKind.BROKEN_STREAM: "the connection broke off",
    FaultKind.BAD_ANSWER: "the answer is not JSON",
    FaultKind.STALLED: "no new text",
}


def _limits(limits: Limits, *, flat: bool) -> Limits:
    return msgspec.structs.replace(limits, backoff_s=_FLAT_BACKOFF_S) if flat else limits


def _seed(name: str, request: ChatRequest) -> int:
    """Return the random seed of a question, the same in every process and run."""
    seed_text = request.seed or json.dumps(request.messages, sort_keys=True)
    return int.from_bytes(hashlib.blake2b(f"{name}\0{seed_text}".encode("utf-8", "replace"), digest_size=8).digest())


def _tokens(text: str | None) -> list[str]:
    return _TOKEN.findall(text or "")


def _other_answers(request: ChatRequest) -> list[list[str]]:
    """Return the tokens of all scripted answers to a question."""
    answers = request.scripted() if request.scripted is not None else ScriptedAnswers(Utterance())
    return [_tokens(answer.content) for answer in (answers.right, *answers.wrong)]


def _usage(request: ChatRequest, shown: list[tuple[str, str]]) -> Usage:
    """Return the usage, at about four characters per token."""
    sent = len(json.dumps(request.messages)) + (len(json.dumps(request.tools)) if request.tools else 0)
    written = {kind: 0 for kind, _ in shown}
    for kind, text in shown:
        written[kind] += -(-len(text) // 4)
    return Usage(input=sent // 4, output=sum(written.values()), reasoning=written.get("reasoning", 0))
