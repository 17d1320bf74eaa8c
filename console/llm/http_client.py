"""Sends single requests over HTTP to a server with one of the APIs in `wires`, streamed.

Guarantees: a reply is proven complete or is a fault; a stream that merely ends is `truncated`; a login page is
`bad_answer`, and an error with status 200 is the error it reports; comments and pings are not progress. If a server
refuses a parameter that does not affect the question, the request is repeated without it, and the user is told once
which lines to add to models.toml.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

from console.config.model import ModelConfig
from console.core.chat import SENT_TWICE, ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.llm.embedding.vectors import VectorReader, embedding_body, tokens_of
from console.llm.endpoint import Watch
from console.llm.limits.limiter import limiter_of
from console.llm.paused_turns import MOST_PAUSES, PAUSED, continued, endless_pause, joined
from console.llm.reply import ReplyBuilder
from console.llm.servers.model_list import served_models_hint
from console.llm.servers.prompt_budget import UNCOUNTED, budget_of
from console.llm.servers.queue import ServerQueue
from console.llm.servers.refused_parameters import RefusedParameter, refused_parameter, what_to_write, without_refused
from console.llm.transport.deadlines import Deadlines, TimeLimits
from console.llm.transport.faults import fault_of, hint_for, read_provider_error
from console.llm.transport.http import LARGEST_BODY, ErrorResponse, HttpSession, read
from console.llm.transport.response_reader import decode, receive
from console.llm.wires.logprobs import asks_logprobs, no_logprobs, without_logprobs
from console.llm.wires.provider_api import api_of
from console.llm.wires.request_body import encode

AnswerT = TypeVar("AnswerT")


class HttpClient:
    """A model at one address, through the API of its provider."""

    def __init__(self, model: ModelConfig) -> None:
        """Look up the key; nothing is sent."""
        self._model = model
        self._api = api_of(model)
        self._path = self._api.path_of(model.model_id)
        self._session = HttpSession(model, self._api.headers)
        self._redact = self._session.redact
        self._budget = budget_of(model, self._session)
        self._limits = TimeLimits(model.limits)
        self._queue = ServerQueue(self._session)
        self.limiter = limiter_of(model, self._session.address, self._session.key)
        self._vectors = VectorReader()
        self.refused: list[RefusedParameter] = []
        """Parameters that the server has refused."""
        self._hinted = False

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        return await self._answered(self._ask_once(request, watch))

    async def embed(self, texts: list[str], watch: Watch) -> list[list[float]]:
        return await self._answered(self._embed_once(texts, watch))

    async def aclose(self) -> None:
        await self._session.aclose()

    async def _answered(self, answer: Awaitable[AnswerT]) -> AnswerT:
        """Await an answer; add details to its fault."""
        try:
            return await answer
        except Fault as fault:
            await self._complete_fault(fault)
            raise
        except Exception as error:  # a hostile body may end this call, never the run
            text = self._redact(f"{type(error).__name__}: {error}")
            raise Fault(FaultKind.INTERNAL, text[:400]) from None

    async def _complete_fault(self, fault: Fault) -> None:
        """Add the hint, the model and the models offered by the server."""
        if fault.kind is FaultKind.NOT_FOUND and fault.status == 404 and not self._hinted:
            self._hinted = True
            fault.message += await served_models_hint(self._session, self._model.model_id)
        if fault.kind is FaultKind.NOT_FOUND and self._model.model_id not in fault.message:
            fault.message += f" [model {self._model.model_id} at {self._session.address}]"
        fault.hint = fault.hint or hint_for(fault.kind, self._model)
        fault.args = (fault.message,)

    async def _ask_once(self, request: ChatRequest, watch: Watch) -> Reply:
        if (has_asked := asks_logprobs(self._model, request)) and not self._api.gives_logprobs:
            raise no_logprobs(self._model.provider)
        while True:
            body = self._api.body(self._model, request)
            try:
                reply = await self._exchange(body, watch)
                if reply.finish == PAUSED:
                    reply = await self._continued(request, reply, watch)
                return reply if has_asked or not (reply.logprobs or reply.flags) else without_logprobs(reply)
            except ErrorResponse as error_response:
                provider_error = read_provider_error(error_response.body, self._redact)
                if provider_error.is_filtered(error_response.status):
                    return Reply(None, finish="content_filter", flags=("refused by the provider's filter",))
                fault = fault_of(provider_error, error_response.status, error_response.headers)
                refused = refused_parameter(provider_error, body) if error_response.status in (400, 422) else None
                if refused is None:
                    raise fault from None
                await self._learn_refused(refused, fault, watch)
                if refused.changes_nothing and refused.name not in self._api.body(self._model, request):
                    continue
                raise fault from None

    async def _continued(self, request: ChatRequest, reply: Reply, watch: Watch) -> Reply:
        """Let a paused turn go on until it ends, and return it as one reply."""
        paid = 0
        try:
            while paid < MOST_PAUSES:
                paid += 1
                body = self._api.body(self._model, continued(request, reply))
                reply = joined(reply, await self._exchange(body, watch))
                if reply.finish != PAUSED:
                    return reply
            raise endless_pause()
        except (Fault, ErrorResponse):
            for _ in range(paid):
                watch.on_resent()
            raise

    async def _learn_refused(self, refused: RefusedParameter, fault: Fault, watch: Watch) -> None:
        """Report a refused parameter once, and drop it from now on if it does not affect the question."""
        fault.hint = what_to_write(self._model, refused)
        if refused in self.refused:
            return
        self.refused.append(refused)
        if refused.changes_nothing:
            fault.message += f"; from now on it is {f'sent as {refused.instead}' if refused.instead else 'omitted'}"
            self._model = without_refused(self._model, [refused])
            await self._complete_fault(fault)
            watch.on_failed_try(fault, 0.0)

    async def _exchange(self, body: dict[str, Any], watch: Watch) -> Reply:
        builder = ReplyBuilder(self._api.assembly(), watch.on_text, self._redact, self._model.accept)
        if self._budget is not None and "max_tokens" not in body:
            body, is_counted = await self._budget.limited(body)
            if not is_counted:
                builder.flag(UNCOUNTED)

        def on_resent() -> None:
            builder.flag(SENT_TWICE)
            watch.on_resent()

        streamed = self._api.is_streamed(body)
        deadlines = Deadlines(self._limits.current, streamed=streamed, partial=lambda: builder.partial)
        try:
            async with (
                deadlines,
                self._session.request("POST", self._path, encode(body), on_resent=on_resent) as response,
            ):
                builder.read_headers(response.headers)
                await receive(response, self._api.events(), builder, deadlines)
        except Fault as fault:
            if fault.is_silent:
                await self._learn_silence(fault)
            if fault.kind not in (FaultKind.STALLED, FaultKind.DEADLINE) or not builder.is_complete:
                fault.partial = fault.partial or builder.partial
                raise
            builder.flag("no end mark")  # the answer is complete, but the server did not hang up
        return builder.reply(deadlines.elapsed_s, deadlines.first_token_s if streamed else None)

    async def _learn_silence(self, fault: Fault) -> None:
        """Lengthen the limits, and find out how many requests the server works on."""
        self._limits.learn(fault)
        fault.at_once = await self._queue.at_once()
        if fault.at_once is not None:
            fault.hint = f"The server works on {fault.at_once} at once: play with -c {fault.at_once}."

    async def _embed_once(self, texts: list[str], watch: Watch) -> list[list[float]]:
        body = embedding_body(self._model, texts)
        try:
            async with (
                Deadlines(self._model.limits, streamed=False),
                self._session.request("POST", "embeddings", encode(body), on_resent=watch.on_resent) as response,
            ):
                raw = await read(response, 8 * LARGEST_BODY)
        except ErrorResponse as error_response:
            raise self._session.fault_of_response(error_response) from None
        answer = decode(raw, self._redact)
        vectors = self._vectors.read(answer, len(texts))
        if (tokens := tokens_of(answer)) is not None:
            watch.on_tokens(tokens)
        return vectors
