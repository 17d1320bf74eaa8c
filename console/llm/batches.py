"""Batch APIs: many requests submitted at once and answered within a day, at a lower price.

Sources: the published batch APIs of OpenAI (`/files`, `/batches`) and Anthropic (`/messages/batches`). A request has
the body of an ordinary call and an id of ours, by which its answer is found. Answers are read like those of ordinary
calls, with the same proof of completeness.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote
from uuid import uuid4

import aiohttp

from console.config.model import ModelConfig
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind
from console.core.json_text import as_object, as_objects
from console.core.provider import PROVIDERS
from console.core.ranges import LARGEST_COUNT
from console.llm.limits.limiter import limiter_of
from console.llm.paused_turns import PAUSED, pause_in_batch
from console.llm.reply import ReplyBuilder
from console.llm.servers.refused_parameters import refused_parameter, what_to_write
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.faults import ProviderError, fault_of, hint_for, provider_error_of, reports_error
from console.llm.transport.http import LARGEST_BODY, ErrorResponse, HttpSession, read, too_large
from console.llm.transport.response_reader import decode
from console.llm.wires.logprobs import asks_logprobs, without_logprobs
from console.llm.wires.provider_api import api_of, load
from console.llm.wires.request_body import encode

_NAME = "eval_console_batch"
"""Key of a batch's name in OpenAI's metadata."""
_CLOCKS_APART_S = 600.0
"""Maximum difference between the clocks of provider and machine."""
_TOKEN_LIMIT = "token_limit_exceeded"  # noqa: S105
_NO_BATCHES = "This address may have no batch API: omit --batch."


class BatchState(NamedTuple):
    """State of a submitted batch."""

    id: str
    created_at: float
    total: int
    done: int
    """Number of requests with an answer or an error."""
    ended: str = ""
    """`completed`, `expired`, `cancelled` or `failed`; empty while the provider works on it."""
    files: tuple[str, ...] = ()
    """Ids of the files with answers and errors, if the API has such files."""
    name: str = ""
    """Our name for the batch, if the API stores names."""
    errors: tuple[tuple[int | None, ProviderError], ...] = ()
    """Reasons why a batch failed, with the number of the line that caused it."""

    @property
    def is_over_token_limit(self) -> bool:
        """True if the batch was refused because too many tokens are queued in the account's batches."""
        return any(_TOKEN_LIMIT in error.codes for _, error in self.errors)


class BatchAnswer(NamedTuple):
    """The answer to one request of a batch: a body with its HTTP status, or the reason why there is none."""

    call: str
    body: object = None
    status: int | None = 200
    missing: str = ""
    """`expired` or `cancelled`."""


class BatchApi(Protocol):
    """The paths and formats of one provider's batches."""

    most_requests: int
    most_bytes: int

    def line(self, call: str, path: str, body: bytes) -> bytes: ...

    def file(self, lines: Sequence[bytes]) -> tuple[bytes, str] | None:
        """Return the body and content type of the file to upload before the batch; None if the API needs none."""
        ...

    def body(self, name: str, path: str, file: str, lines: Sequence[bytes]) -> bytes:
        """Return the body of the request that creates a batch."""
        ...

    @property
    def path(self) -> str: ...

    def state(self, fields: Mapping[str, Any]) -> BatchState: ...

    def next_page(self, last: str) -> str:
        """Return the query for the page that follows a batch, or for the first page if no batch is given."""
        ...

    def answer_paths(self, state: BatchState) -> Sequence[str]:
        """Return the paths of the answers to an ended batch."""
        ...

    def answer(self, fields: Mapping[str, Any]) -> BatchAnswer: ...


class OpenAIBatches:
    """OpenAI's batches: `/files` and `/batches`."""

    most_requests, most_bytes, path = 50_000, 190 << 20, "batches"

    def line(self, call: str, path: str, body: bytes) -> bytes:
        return b'{"custom_id":"%b","method":"POST","url":"/v1/%b","body":%b}' % (call.encode(), path.encode(), body)

    def file(self, lines: Sequence[bytes]) -> tuple[bytes, str]:
        mark = uuid4().hex.encode()
        head = b'--%b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--%b\r\n' % (mark, mark)
        head += b'Content-Disposition: form-data; name="file"; filename="batch.jsonl"\r\n'
        head += b"Content-Type: application/jsonl\r\n\r\n"
        content = b"\n".join(lines)
        return head + content + b"\n\r\n--%b--\r\n" % mark, f"multipart/form-data; boundary={mark.decode()}"

    def body(self, name: str, path: str, file: str, lines: Sequence[bytes]) -> bytes:
        del lines
        window = {"endpoint": f"/v1/{path}", "completion_window": "24h", "metadata": {_NAME: name}}
        return encode({"input_file_id": file, **window})

    def state(self, fields: Mapping[str, Any]) -> BatchState:
        counts, status = as_object(fields.get("request_counts")), str(fields.get("status"))
        files = (fields.get("output_file_id"), fields.get("error_file_id"))
        errors = as_objects(as_object(fields.get("errors")).get("data"))
        return BatchState(
            id=str(fields.get("id") or ""),
            created_at=float(_count(fields, "created_at")),
            total=_count(counts, "total"),
            done=_count(counts, "completed", "failed"),
            ended=status if status in ("completed", "expired", "cancelled", "failed") else "",
            files=tuple(file for file in files if isinstance(file, str) and file),
            name=str(as_object(fields.get("metadata")).get(_NAME) or ""),
            errors=tuple((_line_number(error), provider_error_of(error)) for error in errors),
        )

    def next_page(self, last: str) -> str:
        return f"limit=100&after={quote(last, safe='')}" if last else "limit=100"

    def answer_paths(self, state: BatchState) -> Sequence[str]:
        return [f"files/{quote(file, safe='')}/content" for file in state.files]

    def answer(self, fields: Mapping[str, Any]) -> BatchAnswer:
        call, answered = str(fields.get("custom_id")), as_object(fields.get("response"))
        if answered and not reports_error(fields, in_answer=True):
            status = answered.get("status_code")
            return BatchAnswer(call, answered.get("body"), status if isinstance(status, int) else None)
        error = fields.get("error")
        code = str(as_object(error).get("code"))
        missing = {"batch_expired": "expired", "batch_cancelled": "cancelled"}.get(code, "")
        return BatchAnswer(call, {"error": error}, None, missing)


class AnthropicBatches:
    """Anthropic's batches: `/messages/batches`.

    They have no names: a lost batch is identified by the ids in its answers.
    """

    most_requests, most_bytes, path = 100_000, 240 << 20, "messages/batches"

    def line(self, call: str, path: str, body: bytes) -> bytes:
        del path
        return b'{"custom_id":"%b","params":%b}' % (call.encode(), body)

    def file(self, lines: Sequence[bytes]) -> None:
        del lines

    def body(self, name: str, path: str, file: str, lines: Sequence[bytes]) -> bytes:
        del name, path, file
        return b'{"requests":[%b]}' % b",".join(lines)

    def state(self, fields: Mapping[str, Any]) -> BatchState:
        counts = as_object(fields.get("request_counts"))
        done = _count(counts, "succeeded", "errored")
        is_ended = fields.get("processing_status") == "ended"
        return BatchState(
            id=str(fields.get("id") or ""),
            created_at=_moment(fields.get("created_at")),
            total=done + _count(counts, "processing", "canceled", "expired"),
            done=done,
            ended=("cancelled" if fields.get("cancel_initiated_at") else "completed") if is_ended else "",
        )

    def next_page(self, last: str) -> str:
        return f"limit=100&after_id={quote(last, safe='')}" if last else "limit=100"

    def answer_paths(self, state: BatchState) -> Sequence[str]:
        return [f"{self.path}/{quote(state.id, safe='')}/results"]  # the key is not sent to `results_url`

    def answer(self, fields: Mapping[str, Any]) -> BatchAnswer:
        call, result = str(fields.get("custom_id")), as_object(fields.get("result"))
        match result.get("type"):
            case "succeeded" if not any(reports_error(part, in_answer=True) for part in (fields, result)):
                return BatchAnswer(call, result.get("message"))
            case "expired" | "canceled" as missing:
                return BatchAnswer(call, None, None, missing="expired" if missing == "expired" else "cancelled")
            case _:
                error = result.get("error") or fields.get("error")
                kind = as_object(as_object(error).get("error")).get("type")
                is_refused = str(kind).startswith("invalid_request")
                return BatchAnswer(call, error, 400 if is_refused else None)


OPENAI, ANTHROPIC = OpenAIBatches(), AnthropicBatches()


def is_gone(fault: Fault) -> bool:
    """Return True if the provider itself says that it does not have what was asked for.

    A redirect, a refused key or a web page says nothing about that.
    """
    return fault.status in (404, 410)


def _count(counts: Mapping[str, Any], *names: str) -> int:
    return sum(value for name in names if isinstance(value := counts.get(name), int) and 0 <= value <= LARGEST_COUNT)


def _line_number(error: Mapping[str, Any]) -> int | None:
    return error["line"] if isinstance(error.get("line"), int) else None


def _moment(text: object) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0


class BatchClient:
    """Batches of one model at its address. Every method sends one request; retries are the caller's."""

    def __init__(self, model: ModelConfig) -> None:
        """Look up the key; nothing is sent."""
        self._model, self._api = model, api_of(model)
        self.api: BatchApi = load(PROVIDERS[model.provider].batches)
        self._session = HttpSession(model, self._api.headers)
        self._redact = self._session.redact
        self._path = self._api.path_of(model.model_id)
        self.limiter = limiter_of(model, self._session.address, self._session.key)

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the body of a request, which is not streamed.

        Raises:
            Fault: `bad_request`, if the API cannot express the conversation.
        """
        body = self._api.body(self._model, request)
        return {name: value for name, value in body.items() if name not in ("stream", "stream_options")}

    def line(self, call: str, body: dict[str, Any]) -> bytes:
        """Return one request of a batch.

        Raises:
            Fault: `bad_request`, if it cannot be written as JSON.
        """
        return self.api.line(call, self._path, encode(body))

    async def upload(self, lines: Sequence[bytes]) -> str:
        """Upload the requests, if the API takes them as a file; return its id.

        Raises:
            Fault: the upload failed.
        """
        if (upload := self.api.file(lines)) is None:
            return ""
        fields = await self._json("POST", "files", *upload)
        return str(fields.get("id") or "")

    async def create(self, name: str, file: str, lines: Sequence[bytes]) -> BatchState:
        """Create a batch.

        Raises:
            Fault: the provider did not confirm the batch, which may exist nevertheless.
        """
        body = self.api.body(name, self._path, file, lines)
        state = self.api.state(await self._json("POST", self.api.path, body, is_sent_once=True))
        if not state.id:
            raise Fault(FaultKind.BAD_ANSWER, "the batch that the server created has no id")
        return state

    async def state(self, batch: str) -> BatchState:
        state = self.api.state(await self._json("GET", f"{self.api.path}/{quote(batch, safe='')}"))
        if not state.id:
            raise Fault(FaultKind.BAD_ANSWER, "the server's answer describes no batch")
        return state

    async def candidates(self, name: str, planned_at: float, total: int) -> list[BatchState]:
        """Return the batches that may be a planned one, by name or, where the server keeps no name, by age and size."""
        since, last, similar = planned_at - _CLOCKS_APART_S, "", list[BatchState]()
        while True:
            page = await self._json("GET", f"{self.api.path}?{self.api.next_page(last)}")
            if not isinstance(page.get("data"), list):
                raise Fault(FaultKind.BAD_ANSWER, "the server's answer lists no batches")
            states = [self.api.state(row) for row in as_objects(page["data"])]
            for state in states:
                is_similar = not state.name and state.created_at >= since and state.total == total
                if state.name == name or is_similar:
                    similar.append(state)
            if not page.get("has_more") or not states or states[-1].created_at < since or states[-1].id == last:
                return similar
            last = states[-1].id

    async def answers(self, state: BatchState) -> AsyncIterator[BatchAnswer | None]:
        """Yield the answers of an ended batch; None for an unreadable line.

        Raises:
            Fault: reading failed before the end.
        """
        for path in self.api.answer_paths(state):
            async with self._faults(), self._session.request("GET", path) as response:
                async for line in _lines(response, self._model.limits.idle_s):
                    try:
                        fields = as_object(decode(line, self._redact))
                    except Fault:
                        fields = {}
                    yield self.api.answer(fields) if isinstance(fields.get("custom_id"), str) else None

    def reply(self, answer: BatchAnswer, request: ChatRequest, seconds: float) -> Reply:
        """Return the reply in an answer.

        Args:
            answer: an answer to a request of a batch.
            request: the request.
            seconds: time from submission to answer.

        Raises:
            Fault: the answer is an error, incomplete or unreadable; `deadline` for an expired request.
        """
        if answer.missing:
            raise Fault(FaultKind.DEADLINE, f"the batch {answer.missing} before this request was answered")
        if answer.status != 200:
            return self._refused(answer, request)
        builder = ReplyBuilder(self._api.assembly(), lambda kind, text: None, self._redact, self._model.accept)
        try:
            builder.add_chunk(answer.body)
            builder.mark_end_of_body()
            reply = builder.reply(seconds, None)
            if reply.finish == PAUSED:
                raise pause_in_batch()
        except Fault as fault:
            fault.partial = fault.partial or builder.partial
            raise
        return reply if asks_logprobs(self._model, request) else without_logprobs(reply)

    def _refused(self, answer: BatchAnswer, request: ChatRequest) -> Reply:
        """Return the reply if the provider's filter refused the prompt; otherwise raise the fault of an error."""
        error = provider_error_of(self._redact.value(answer.body))
        if error.is_filtered(answer.status):
            return Reply(None, finish="content_filter", flags=("refused by the provider's filter",))
        fault = fault_of(error, answer.status)
        refused = refused_parameter(error, self.body(request))
        fault.hint = what_to_write(self._model, refused) if refused else hint_for(fault.kind, self._model)
        raise fault

    async def aclose(self) -> None:
        await self._session.aclose()

    async def _json(
        self, method: str, path: str, body: bytes | None = None, content_type: str = "", *, is_sent_once: bool = False
    ) -> dict[str, Any]:
        async with (
            self._faults(),
            Deadlines(self._model.limits, streamed=False),
            self._session.request(method, path, body, content_type, is_sent_once=is_sent_once) as response,
        ):
            return as_object(self._redact.value(decode(await read(response), self._redact)))

    @asynccontextmanager
    async def _faults(self) -> AsyncGenerator[None]:
        """Raise error responses as faults, with hints."""
        try:
            yield
        except ErrorResponse as response:
            fault = self._session.fault_of_response(response)
            fault.hint = fault.hint or (_NO_BATCHES if is_gone(fault) else hint_for(fault.kind, self._model))
            raise fault from None


async def _lines(response: aiohttp.ClientResponse, idle_s: float) -> AsyncIterator[bytes]:
    """Yield the lines of a body of any length."""
    rest = b""
    while True:
        try:
            async with asyncio.timeout(idle_s):
                piece = await response.content.readany()
        except TimeoutError:
            raise Fault(FaultKind.STALLED, f"no further answers from the batch for {idle_s:g} s") from None
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > LARGEST_BODY:
            raise too_large()
        for line in lines if piece else [*lines, rest]:
            if line.strip():
                yield line
        if not piece:
            return
