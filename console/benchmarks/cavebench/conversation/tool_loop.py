"""A conversation in JSON mode: native tool calls, until the model answers in text or runs out of steps.

Tools run in the worker, and every call is an effect of the stage. A resumed conversation replays recorded effects
without a worker; before its first new call they are executed again to restore the tools' state, as they are after a
worker was killed.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from console.benchmarks.cavebench.conversation.scripted_answers import scripted_answers_for
from console.benchmarks.cavebench.options import CaveOptions
from console.benchmarks.cavebench.rules.json_values import decode, encode, for_peer
from console.benchmarks.cavebench.rules.record import lost_turn
from console.benchmarks.cavebench.rules.schema import ToolSchemaError
from console.core.case import Case
from console.core.chat import Message, Reply, ToolCall
from console.core.fault import Fault, FaultKind
from console.sandbox.worker import Worker, WorkerError, WorkerLost
from console.suites.stage import Stage


class ToolLoop:
    """Plays one conversation."""

    def __init__(self, case: Case, stage: Stage, options: CaveOptions, start: Callable[[], Awaitable[Worker]]) -> None:
        """Prepare the loop; the worker starts with the first tool call that is not recorded."""
        self._data = case.data
        self._stage, self._options = stage, options
        self._tool_worker = _ToolWorker(stage, start)
        self._turns = cast("list[dict[str, Any]]", case.data["conversation"]["turns"])
        self._messages: list[Message] = []
        self._sent: list[dict[str, Any]] = []
        """Calls of the turn, as sent to the worker."""
        self._tools: list[dict[str, Any]] = []

    async def play(self) -> list[dict[str, Any]]:
        """Play the turns in order; a lost worker ends the conversation.

        Raises:
            Fault: a model could not be reached, or a tool cannot be offered natively.
        """
        played: list[dict[str, Any]] = []
        try:
            await self._introduce()
            for number, turn in enumerate(self._turns):
                played.append(await self._play_turn(number, turn))
                self._stage.note("turn", played[-1], turn=number)
                if "lost" in played[-1]:
                    break
        finally:
            await self._tool_worker.close()
        return played

    async def _introduce(self) -> None:
        try:
            facts = await self._tool_worker.do("describe", {}, turn=-1)
        except WorkerError as error:
            kind = FaultKind.DATA if error.type_name == ToolSchemaError.__name__ else FaultKind.SANDBOX
            raise Fault(kind, f"the tools cannot be offered natively: {error.message}") from None
        self._tools = [{"type": "function", "function": schema} for schema in facts["tools"]]
        texts = [self._data.get(key) or facts[key] for key in ("description", "requirements")]
        self._messages = [{"role": "system", "content": system_prompt(*texts)}]

    async def _play_turn(self, number: int, turn: dict[str, Any]) -> dict[str, Any]:
        query = turn.get("query", "")
        self._messages.append({"role": "user", "content": query})
        self._sent = []
        record: dict[str, Any] = {"query": query, "calls": [], "snippets": [], "steps": 0, "tokens": [0, 0, 0]}
        try:
            record["response"] = await self._converse(number, turn, record)
            if turn.get("validator"):
                validator_input = {"turn": number, "response": record["response"], "calls": self._sent}
                record["validator"] = await self._tool_worker.do("validate", validator_input, turn=number)
        except WorkerLost as lost:
            if lost.cause in ("start", "killed"):
                raise
            return record | lost_turn(query, lost.message, lost.cause)
        return record

    async def _converse(self, number: int, turn: dict[str, Any], record: dict[str, Any]) -> str:
        for step in range(self._options.max_steps):
            reply = await self._ask(number, turn, step)
            _count(record, reply)
            self._messages.append(reply.message())
            if not reply.tool_calls:
                return reply.content or ""
            for call in reply.tool_calls:
                arguments, written = _as_stored(call.arguments)
                made = {"function": call.name, "arguments": arguments, "call_id": call.id}
                record["calls"].append(made)
                self._sent.append(made | written)
                await self._answer(number, step, call, {"arguments": arguments, **written})
        return MAX_STEPS_ANSWER

    async def _ask(self, number: int, turn: dict[str, Any], step: int) -> Reply:
        params: dict[str, Any] = {"tool_choice": "auto", "parallel_tool_calls": True} if self._tools else {}
        return await self._stage.ask(
            self._messages,
            tools=self._tools,
            params=params,
            turn=number,
            step=step,
            scripted=lambda: scripted_answers_for(turn, "json", step),
        )

    async def _answer(self, number: int, step: int, call: ToolCall, decoded: dict[str, Any]) -> None:
        request = {"tool": call.name, **decoded}
        text = str((await self._tool_worker.do("invoke", request, turn=number))["text"])
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        shown = {"tool": call.name, "arguments": decoded["arguments"], "text": text, "call_id": call.id}
        self._stage.note("tool", shown, turn=number, step=step)


class _ToolWorker:
    """The worker behind the stage; recorded effects are repeated before the first new one."""

    def __init__(self, stage: Stage, start: Callable[[], Awaitable[Worker]]) -> None:
        self._stage, self._start = stage, start
        self._worker: Worker | None = None
        self._made: list[dict[str, Any]] = []
        """Tool calls of the conversation, in order."""
        self._caught_up = 0
        """Number of calls that this worker has executed."""

    async def do(self, operation: str, arguments: dict[str, Any], *, turn: int) -> Any:
        """Perform an operation once.

        Raises:
            WorkerError: the operation raised.
            WorkerLost: the worker ended during the operation.
        """
        is_new = False

        async def act() -> Any:
            nonlocal is_new
            is_new = True
            return await self._retry_if_killed(operation, arguments)

        result = await self._stage.perform(operation, {"turn": turn, **arguments}, act)
        if operation == "invoke":
            self._made.append(arguments)
            self._caught_up += is_new
        return result

    async def close(self) -> None:
        if self._worker is not None:
            await self._worker.kill()

    async def _retry_if_killed(self, operation: str, arguments: dict[str, Any]) -> Any:
        """Perform an operation; if the worker is killed, repeat it once in a new one."""
        try:
            return await (await self._ready()).call(operation, arguments)
        except WorkerLost as lost:
            if not lost.was_killed:
                raise
        self._worker, self._caught_up = None, 0
        return await (await self._ready()).call(operation, arguments)

    async def _ready(self) -> Worker:
        if self._worker is None:
            self._worker = await self._start()
            self._stage.note("sandbox", self._worker.level.as_json())
        while self._caught_up < len(self._made):
            await self._worker.call("invoke", self._made[self._caught_up])
            self._caught_up += 1
        return self._worker


def read_arguments(text: str) -> Any:
    """Return the arguments that a model wrote; none if they are not JSON, as in the reference."""
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return {}


def _as_stored(text: str) -> tuple[Any, dict[str, str]]:
    """Return a model's arguments as a journal can store them, and their text if that loses something."""
    arguments = read_arguments(text)
    stored = encode(arguments)
    if for_peer(decode(stored)) == arguments:
        return arguments, {}
    return stored, {"written": text}


def _count(record: dict[str, Any], reply: Reply) -> None:
    record["steps"] += 1
    if reply.usage is not None:
        spent = (reply.usage.input, reply.usage.output, reply.usage.input + reply.usage.output)
        record["tokens"] = [before + now for before, now in zip(record["tokens"], spent, strict=True)]


_HEAD = """You are an assistant that fulfils requests by calling the tools it is given.
- Call a tool whenever the request needs it; take arguments from the request and from earlier results.
- Several calls that do not depend on each other may be made at once.
- Do not invent results, and do not ask for what you can look up.
- When everything is done, answer in plain text."""
MAX_STEPS_ANSWER = "The maximum number of steps was reached before the task was finished."
"""The answer recorded for a turn that used up its steps."""


def system_prompt(description: str, requirements: str) -> str:
    """Return the system prompt with the scenario's texts."""
    parts = [_HEAD]
    if description:
        parts.append(f"TASK DESCRIPTION:\n{description}")
    if requirements:
        parts.append(f"TASK REQUIREMENTS:\n{requirements}")
    return "\n\n".join(parts)
