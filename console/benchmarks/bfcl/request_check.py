"""`check bfcl-templates` and `check bfcl-requests`: the requests of an entry, given recorded answers.

Each line is one step of an entry with the model's answer; lines of an entry are consecutive. The actual conversation
loops run over the recorded answers, so the requests are those of a run.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, cast
from urllib.parse import urlsplit

import msgspec

from console.benchmarks.bfcl.conversation.play import play_entry
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.official_wording import load_wording
from console.benchmarks.bfcl.models.decoding import profile_setting
from console.benchmarks.bfcl.models.handlers.handler import Handler
from console.benchmarks.bfcl.models.handlers.services import SERVICES
from console.benchmarks.bfcl.models.handlers.table import handler_for
from console.benchmarks.bfcl.models.profile import Profile, find_profile
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.host import close_hosts
from console.config.model import ModelConfig
from console.config.redaction import Redactor
from console.core.case import Key, Setting
from console.core.chat import ChatRequest, Message, Reply
from console.core.fault import Fault, UsageError
from console.core.media import content_text
from console.llm.reply import ReplyBuilder
from console.llm.wires.anthropic import anthropic_body, read_message
from console.llm.wires.bedrock import BEDROCK, converse_body, read_converse
from console.llm.wires.chat import ChatAssembly, chat_body
from console.llm.wires.cohere import COHERE, cohere_body, read_cohere
from console.llm.wires.completeness import finish_of
from console.llm.wires.gemini import gemini_body, read_candidates
from console.llm.wires.responses import read_response, responses_body
from console.suites.stage import UnrecordedStage
from console.suites.suite import Row


class SavedExchange(Protocol):
    """Format of answers and requests in one kind of lines."""

    def reply(self, profile: Profile, row: Row) -> Reply:
        """Return the model's answer in a line.

        Raises:
            UsageError: no such answer.
        """
        ...

    def shown(self, profile: Profile, request: ChatRequest) -> Row:
        """Return the output fields that describe a request.

        Raises:
            UsageError: unsupported API.
        """
        ...


class CompletionExchange:
    """Local models: reads `completion`; shows the digest and length of the prompt, and other request fields."""

    def reply(self, profile: Profile, row: Row) -> Reply:
        del profile
        completion = row.get("completion")
        if not isinstance(completion, str):
            raise UsageError("a line needs `completion` (a string)")
        return Reply(completion)

    def shown(self, profile: Profile, request: ChatRequest) -> Row:
        prompt = "".join(content_text(message.get("content")) for message in request.messages)
        fields = {"model": profile.model_id, "temperature": 0.001, "max_tokens": 4096, "timeout": 72000}
        digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()
        return {"sha256": digest, "chars": len(prompt), "request": fields | _extra(request.params)}


class ServiceExchange:
    """Models behind services: reads `reply`, the server's response; shows path and body."""

    def reply(self, profile: Profile, row: Row) -> Reply:
        answer = row.get("reply")
        if not isinstance(answer, dict | list):
            raise UsageError("a line needs `reply` (the server's response)")
        if profile.api in _READERS:
            return _READERS[profile.api](cast(dict[str, Any], answer), "stop")
        builder = ReplyBuilder(ChatAssembly(), lambda kind, text: None, Redactor())
        for chunk in cast(list[Any], answer if isinstance(answer, list) else [answer]):
            builder.add_chunk(_readable(chunk))
        builder.mark_end()
        return builder.reply(0.0, None)

    def shown(self, profile: Profile, request: ChatRequest) -> Row:
        """Return the path and body of a request, without the streaming field."""
        model = ModelConfig(name=profile.name, model_id=profile.model_id, temperature=0.001)
        service = SERVICES[profile.handler]
        base = urlsplit(service.base_url).path
        path = _PATHS.get(profile.api, _CHAT_PATH).format(base=base, model=profile.model_id)
        if profile.api not in _BODIES:
            request = msgspec.structs.replace(request, params={"stream": False, **request.params})
            stream = {} if service.stream is None else {"stream": service.stream}
            return {"path": path, "body": chat_body(model, request) | stream}
        return {"path": path, "body": _BODIES[profile.api](model, request)}


_CHAT_PATH = "{base}/chat/completions"
_PATHS = {
    "responses": "{base}/responses",
    "anthropic": "{base}/messages",
    "gemini": "{base}/models/{model}:generateContent",
    "bedrock": "{base}/model/{model}/converse",
    "cohere": "{base}/chat",
    "writer": "{base}/chat",
}
_BODIES = {
    "responses": responses_body,
    "anthropic": anthropic_body,
    "gemini": gemini_body,
    "bedrock": converse_body,
    "cohere": cohere_body,
}
_READERS: Mapping[str, Callable[[Mapping[str, Any], str], Reply]] = {
    "responses": read_response,
    "anthropic": read_message,
    "gemini": read_candidates,
    "bedrock": lambda body, _: read_converse(body, finish_of(str(body.get("stopReason")), BEDROCK) or "stop"),
    "cohere": lambda body, _: read_cohere(body, finish_of(str(body.get("finish_reason")), COHERE) or "stop"),
}


def _readable(chunk: Any) -> Any:
    """Replace a chunk's condensed strings (digest and length) with real strings, so that it can be parsed."""
    if isinstance(chunk, dict):
        fields = cast(dict[str, Any], chunk)
        if fields.keys() == {"sha256", "chars"}:
            return json.dumps(fields)
        return {key: _readable(value) for key, value in fields.items()}
    return [_readable(item) for item in cast(list[Any], chunk)] if isinstance(chunk, list) else chunk


def _extra(params: Mapping[str, Any]) -> Row:
    return {"extra_body": dict(params)} if params else {}


class RequestChecker:
    """Shows the request of each step of the entries in a file, with one open entry at a time."""

    def __init__(self, folder: Path, exchange: SavedExchange) -> None:
        """Store the dataset folder and the format of the lines."""
        self._dataset = Dataset(folder)
        self._exchange = exchange
        self._runner = asyncio.Runner()
        self._open: OpenEntry | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self._runner.close()
        close_hosts()

    def check(self, rows: Sequence[Row]) -> list[Row | UsageError]:
        """Return the request fields for each line, and the `result` for the last step of an entry."""
        return [self._answer(row) for row in rows]

    def _answer(self, row: Row) -> Row | UsageError:
        try:
            return self._step(row)
        except UsageError as error:
            self._close()
            return error
        except Fault as fault:
            self._close()
            return UsageError(fault.message, hint=fault.hint)

    def _step(self, row: Row) -> Row:
        name, entry_id, step = row.get("model"), row.get("id"), row.get("step", 0)
        if not isinstance(name, str) or not isinstance(entry_id, str) or not isinstance(step, int):
            raise UsageError("a line needs `model`, `id` (strings) and `step` (a number)")
        if step == 0:
            self._close()
            profile = find_profile(name)
            handler = handler_for(profile, self._dataset)
            self._open = OpenEntry(profile, entry_id, RecordedStage(Key(entry_id)))
            entry = self._dataset.entry(entry_id)
            self._runner.run(self._open.begin(lambda stage: self._play(entry, handler, profile, stage)))
        current = self._open
        if current is None or (current.profile.name, current.entry_id) != (name, entry_id):
            handler_for(find_profile(name), self._dataset)  # raises at every step if the row is not supported
            raise UsageError(f"step {step} of {entry_id} does not follow its other steps")
        request = current.stage.request
        if request is None:
            raise UsageError(f"{entry_id} ends before step {step}: there are no further requests")
        answer = {key: row[key] for key in ("model", "category", "id", "step") if key in row}
        answer |= self._exchange.shown(current.profile, request)
        self._runner.run(current.proceed(self._exchange.reply(current.profile, row)))
        return answer if current.stage.request is not None else answer | {"result": current.result()}

    def _play(self, entry: Entry, handler: Handler, profile: Profile, stage: "RecordedStage") -> Awaitable[Any]:
        wording = load_wording(self._dataset)
        mode = "fc" if handler.native else "prompt"
        setting = Setting(mode=mode, extras=profile_setting(profile).extras)
        return play_entry(entry, stage, setting, handler, wording, self._dataset)

    def _close(self) -> None:
        if self._open is not None:
            self._runner.run(self._open.aclose())
            self._open = None


class RecordedStage(UnrecordedStage):
    """A stage with a recorded model: each request waits for `answer`."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.request: ChatRequest | None = None
        """The waiting request, if any."""
        self._asked = asyncio.Event()
        self._reply: asyncio.Future[Reply] | None = None

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        params: dict[str, Any] | None = None,
        **_: Any,
    ) -> Reply:
        self.request = ChatRequest(list(messages), list(tools), params or {})
        self._reply = asyncio.get_running_loop().create_future()
        self._asked.set()
        return await self._reply

    def answer(self, reply: Reply) -> None:
        assert self._reply is not None
        self.request = None
        self._asked.clear()
        self._reply.set_result(reply)

    async def next_question(self) -> None:
        await self._asked.wait()


@dataclass(slots=True)
class OpenEntry:
    """An entry played with recorded answers."""

    profile: Profile
    entry_id: str
    stage: RecordedStage
    task: asyncio.Task[Any] | None = None

    async def begin(self, play: Callable[[RecordedStage], Awaitable[Any]]) -> None:
        """Start playing; return at the first request or the end."""
        self.task = asyncio.ensure_future(_settled(play(self.stage)))
        await self._until_asked()

    async def proceed(self, reply: Reply) -> None:
        """Answer the request; return at the next request or the end."""
        self.stage.answer(reply)
        await self._until_asked()

    def result(self) -> Any:
        """Return the output.

        Raises:
            Fault: the simulators or the data failed.
        """
        assert self.task is not None
        return self.task.result()

    async def aclose(self) -> None:
        """Stop playing."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            await asyncio.wait([self.task])

    async def _until_asked(self) -> None:
        assert self.task is not None
        asked = asyncio.ensure_future(self.stage.next_question())
        await asyncio.wait([self.task, asked], return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            asked.cancel()


async def _settled(play: Awaitable[Any]) -> Any:
    return await play
