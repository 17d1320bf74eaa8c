"""A server on 127.0.0.1 with the batch APIs of OpenAI and Anthropic.

    with BatchServer(lambda request: "hello") as server:
        ... base_url = server.base_url ...

Each batch takes the next of `fates`: `completed`, or another end. `on_step` hears of every step before and after it is
done, so that a test can end a client in between.
"""

import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from server.api_server import ApiServer, Said, responses_events
from server.http1 import Exchange

Json = dict[str, Any]
_FILE = re.compile(rb"\r\n\r\n(\{.*\})\n\r\n--", re.S)


@dataclass
class Batch:
    """One batch that the server was given."""

    id: str
    requests: list[tuple[str, Json]]
    """Ids and bodies of its requests."""
    fate: str
    metadata: Json
    polls: int = 0
    created_at: float = field(default_factory=time.time)


class BatchServer(ApiServer):
    """See the module's text."""

    def __init__(
        self,
        answer: Callable[[Json], str | Json],
        *,
        fates: list[str] | None = None,
        polls: int = 2,
        on_step: Callable[[str], bool] = lambda step: False,
    ) -> None:
        """Answer each request with a text, or with an error in the API's format; `on_step` returns True to hang up."""
        super().__init__([])
        self.answer, self.polls, self.on_step = answer, polls, on_step
        self.fates = deque(fates or [])
        """`completed`, `expired` or `cancelled` after the first half, `lost` (an answer is missing), `failed`,
        `token_limit_exceeded`, or a number of line that is refused."""
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.lists = 0
        """Requests for the list of batches."""
        self.listed_from: int | None = 0
        """Number of the first request for the list that shows any batch; None: the server has no list."""
        self.refusals: deque[tuple[str, str, str]] = deque()
        """Answers to the next requests that create a batch, in place of one: status, code, seconds to wait."""
        self.gone = ""
        """`poll` or `answers`: answered as if the provider had no such batch, or no results of it."""

    @property
    def asked(self) -> Counter[str]:
        """How often each question was submitted in a batch that did not fail."""
        batches = [batch for batch in self.batches.values() if batch.fate not in ("failed", "token_limit_exceeded")]
        return Counter(json.dumps(body["messages"]) for batch in batches for _, body in batch.requests)

    def _handle(self, exchange: Exchange) -> None:
        path, _, query = exchange.path.removeprefix("/v1/").partition("?")
        if path == "models":
            super()._handle(exchange)
            return
        self.paths.append(f"{exchange.method} {path}")
        self.heads.append(exchange.headers)
        step = self._step(exchange.method, path)
        if self.on_step(f"before {step}"):
            exchange.cut()
            return
        reply = self._do(exchange, step, path, query)
        if self.on_step(f"after {step}"):
            exchange.cut()
        elif isinstance(reply, bytes):
            exchange.answer(reply)
        elif reply is not None:
            exchange.answer_json(reply)

    @staticmethod
    def _step(method: str, path: str) -> str:
        if method == "POST":
            return "upload" if path == "files" else "create"
        if path.endswith(("content", "results")):
            return "answers"
        return "list" if path in ("batches", "messages/batches") else "poll"

    def _do(self, exchange: Exchange, step: str, path: str, query: str) -> object:
        is_openai, word = not path.startswith("messages/"), path.rpartition("/")[2]
        if step == self.gone:
            exchange.error("404 Not Found", f"No {word} was found", "not_found_error")
            return None
        match step:
            case "upload":
                lines = _FILE.search(exchange.raw)
                assert lines is not None
                self.files[f"file-{len(self.files)}"] = lines[1]
                return {"id": f"file-{len(self.files) - 1}", "object": "file", "purpose": "batch"}
            case "create" if self.refusals:
                status, code, wait = self.refusals.popleft()
                exchange.error(status, "not now", code, retry_after=wait)
                return None
            case "create":
                batch = self._create(exchange.json, is_openai)
                return self._state(batch, is_openai)
            case "list":
                self.lists += 1
                if self.listed_from is None:
                    exchange.error("404 Not Found", "no such path", "not_found")
                    return None
                return self._page(query, is_openai) if self.lists >= self.listed_from else {"data": []}
            case "poll":
                self.batches[word].polls += 1
                return self._state(self.batches[word], is_openai)
            case _:
                return self.files[path.split("/")[1]] if is_openai else self._results(self.batches[path.split("/")[-2]])

    def _create(self, body: Json, is_openai: bool) -> Batch:
        if is_openai:
            rows = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
            assert {row["url"] for row in rows} == {body["endpoint"]}
            requests = [(row["custom_id"], row["body"]) for row in rows]
        else:
            requests = [(row["custom_id"], row["params"]) for row in body["requests"]]
        assert len(dict(requests)) == len(requests), "two requests of a batch have the same id"
        fate = self.fates.popleft() if self.fates else "completed"
        batch = Batch(f"batch_{len(self.batches)}", requests, fate, body.get("metadata") or {})
        self.batches[batch.id] = batch
        return batch

    def _page(self, query: str, is_openai: bool) -> Json:
        newest = list(reversed(self.batches.values()))
        after = re.search(r"after(?:_id)?=(\w+)", query)
        start = [batch.id for batch in newest].index(after[1]) + 1 if after else 0
        page = newest[start : start + 2]
        rows = [self._state(batch, is_openai) for batch in page]
        return {"data": rows, "has_more": start + 2 < len(newest)}

    def _parts(self, batch: Batch) -> tuple[list[tuple[str, Json]], list[tuple[str, Json]]]:
        """Return the requests that are answered and those that are not."""
        count = len(batch.requests)
        answered = {"expired": count // 2, "cancelled": count // 2, "lost": count - 1}.get(batch.fate, count)
        return batch.requests[:answered], batch.requests[answered:]

    def _state(self, batch: Batch, is_openai: bool) -> Json:
        is_ended, total = batch.polls >= self.polls, len(batch.requests)
        answered, _ = self._parts(batch)
        done = len(answered) if is_ended else total * batch.polls // (self.polls + 1)
        state: Json = {"id": batch.id, "metadata": batch.metadata}
        if not is_openai:
            created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(batch.created_at))
            counts = {"processing": total - done, "succeeded": done, "errored": 0, "canceled": 0, "expired": 0}
            if is_ended:
                counts |= {"processing": 0, "expired": total - done}
            cancelled_at = created if batch.fate == "cancelled" else None
            state |= {"created_at": created, "request_counts": counts, "cancel_initiated_at": cancelled_at}
            return state | {"processing_status": "ended" if is_ended else "in_progress"}
        state |= {"created_at": int(batch.created_at), "status": "in_progress"}
        state["request_counts"] = {"total": total, "completed": done, "failed": 0}
        if not is_ended:
            return state
        if batch.fate in ("failed", "token_limit_exceeded") or batch.fate.isdigit():
            line = int(batch.fate) if batch.fate.isdigit() else None
            error = {"code": batch.fate, "message": f"refused: {batch.fate}", "line": line}
            return state | {"status": "failed", "errors": {"data": [error]}}
        self.files[f"out-{batch.id}"], self.files[f"err-{batch.id}"] = self._files(batch)
        ended = batch.fate if batch.fate in ("expired", "cancelled") else "completed"
        return state | {"status": ended, "output_file_id": f"out-{batch.id}", "error_file_id": f"err-{batch.id}"}

    def _files(self, batch: Batch) -> tuple[bytes, bytes]:
        answered, missing = self._parts(batch)
        output: list[Json] = []
        for call, body in answered:
            said = self.answer(body)
            whole = said if isinstance(said, dict) else response(said) if "input" in body else chat_reply(said)
            status = said.get("status", 400) if isinstance(said, dict) else 200
            output.append({"custom_id": call, "response": {"status_code": status, "body": whole}, "error": None})
        errors = [
            {"custom_id": call, "response": None, "error": {"code": f"batch_{batch.fate}", "message": "it ended"}}
            for call, _ in (missing if batch.fate != "lost" else ())
        ]
        return as_lines(output), as_lines(errors)

    def _results(self, batch: Batch) -> bytes:
        answered, missing = self._parts(batch)
        rows: list[Json] = []
        for call, body in answered:
            said = self.answer(body)
            result = (
                {"type": "errored", "error": {"type": "error", **said}}
                if isinstance(said, dict)
                else {"type": "succeeded", "message": anthropic_reply(said)}
            )
            rows.append({"custom_id": call, "result": result})
        word = "canceled" if batch.fate == "cancelled" else "expired"
        rows += [{"custom_id": call, "result": {"type": word}} for call, _ in missing if batch.fate != "lost"]
        return as_lines(rows)


def as_lines(rows: list[Json]) -> bytes:
    """Return one JSON value a line."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def response(text: str) -> Json:
    """Return a whole answer of the Responses API."""
    return responses_events(Said(text))[-1]["response"]


def chat_reply(text: str) -> Json:
    """Return a whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c1", "model": "m-1", "choices": [choice], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}


def anthropic_reply(text: str) -> Json:
    """Return a whole message of the Anthropic API."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "stop_reason": "end_turn"}
    usage = {"input_tokens": 1000, "output_tokens": 100}
    return {**message, "content": [{"type": "text", "text": text}], "usage": usage}
