"""`Chat`: a conversation for user-written suites, with Python functions as tools and an optional simulated user.

All nondeterministic steps go through the stage, so an interrupted conversation can be resumed.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec

from console.core.chat import Message, ScriptedAnswers, ToolCall, Utterance
from console.core.fault import UsageError
from console.core.media import media_part, media_type_of
from console.core.ready_type import ready_type
from console.suites.environment import Environment
from console.suites.simulated_user import SCRIPTED_END, SimulatedUser, UserTools, lead
from console.suites.stage import Stage

Tool = Callable[..., Any]
Said = str | Utterance
OUTSIDE_TOOL = "tool "
"""Prefix of the effect kind of tools whose calls are journaled, before the tool's name."""
STEP_LIMIT = "step_limit"
"""Kind of the journal note, and reason of a failure, when a model used up its replies to a user message."""
STEPS_SPENT = "it still called tools after"
"""First words of the reason when the limit of replies ended the conversation."""


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON tool schema of a function, from its name, docstring and parameter types.

    Describe a parameter with `Annotated[str, msgspec.Meta(description="…")]`.

    Raises:
        UsageError: a parameter has no type, or one that JSON cannot express.
    """
    code = inspect.unwrap(tool).__code__
    place = f"{code.co_filename}:{code.co_firstlineno}"
    types = _types(tool, place)
    properties: dict[str, Any] = {}
    for name, kind in types.items():
        try:
            properties[name] = _without_references(msgspec.json.schema(kind))
        except (TypeError, RecursionError) as error:
            raise UsageError(f"`{name}` of the tool {tool.__name__}: {error}", where=place) from error
    required = [name for name, part in inspect.signature(tool).parameters.items() if part.default is part.empty]
    parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    description = inspect.getdoc(tool) or tool.__name__
    return {
        "type": "function",
        "function": {"name": tool.__name__, "description": description, "parameters": parameters},
    }


class Chat:
    """One conversation. `messages` is the history; a suite may append to it."""

    def __init__(
        self,
        stage: Stage,
        *,
        system: str = "",
        tools: Sequence[Tool] = (),
        most_steps: int = 10,
        script: Sequence[Said] = (),
        wrong: Sequence[Said] = (),
        environment: Environment[Any] | None = None,
    ) -> None:
        """Start a conversation without sending anything.

        Args:
            stage: the stage given to `play`.
            system: instructions for the model.
            tools: functions with typed parameters. A plain function must be deterministic; the result of an `async`
                one is journaled. `LookupError` and `ValueError` are sent to the model as the call's error.
            most_steps: maximum model replies per user message; a message that would need more ends there, as noted
                in the transcript, `stopped` and the reason of a failure.
            script: right answers in order, for the simulated models; if there are none, they answer at random.
            wrong: wrong answers that a simulated model may give instead.
            environment: the world that the `async` tools act on, as `environment.world`.
        """
        self._stage, self._most_steps = stage, most_steps
        self._tools = _Toolbox(stage, tools, environment=environment)
        self._environment = environment
        self._script, self._wrong = [_utterance(said) for said in script], tuple(_utterance(said) for said in wrong)
        self.messages: list[Message] = [{"role": "system", "content": system}] if system else []
        self.calls = self._tools.calls
        """Calls made so far: `name`, `arguments`, and `result` or `error`."""
        self.user_calls: list[dict[str, Any]] = []
        """Calls of the simulated user so far, in the same format."""
        self.turns = self.replies = 0
        self.text = ""
        """Text of the model's last reply."""
        self.stopped = ""
        """Reason why the simulated user, or the limit of replies, ended the conversation; empty if nothing did."""

    async def say(self, text: str, *, files: Sequence[Path | tuple[str, bytes]] = ()) -> str:
        """Send a user message, execute the model's tool calls, and return its answer.

        Args:
            text: the message.
            files: pictures, sound and other files that are sent with it, as paths, or as names and bytes; the
                suffix of the name determines the kind.
        """
        named = [(file.name, file.read_bytes()) if isinstance(file, Path) else file for file in files]
        parts = [media_part(data, media_type_of(name), name) for name, data in named]
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}, *parts] if parts else text})
        for step in range(self._most_steps):
            reply = await self._stage.ask(
                self.messages,
                tools=self._tools.schemas,
                turn=self.turns,
                step=step,
                scripted=self._scripted if self._script or self._wrong else None,
            )
            self.replies += 1
            self.messages.append(reply.message())
            self.text = reply.content or ""
            if not reply.tool_calls:
                break
            for call in reply.tool_calls:
                self.messages.append(await self._tools.execute(call))
        else:
            self.stopped = note_step_limit(self._stage, self._most_steps, self.turns)
        self.turns += 1
        return self.text

    async def with_user(
        self, user: str | SimulatedUser, *, lines: Sequence[Said] = (), tools: Sequence[Tool] = ()
    ) -> str:
        """Let a model in the role `user` write the user messages until it stops; return the last answer.

        Args:
            user: the goal, or a full description of the user; only the role `user` sees it.
            lines: messages or calls of a simulated model in the role `user`, one per reply, before it stops; by
                default the goal.
            tools: functions that the user calls itself, which may change the same world as the model's; the model
                sees neither them nor their results.
        """

        def scripted(number: int) -> ScriptedAnswers:
            return ScriptedAnswers(_utterance(written[number]) if number < len(written) else SCRIPTED_END)

        who = SimulatedUser(user) if isinstance(user, str) else user
        written = lines or [f"Hello! {who.goal}"]
        box = _Toolbox(self._stage, tools, self.user_calls, environment=self._environment)
        own = UserTools(box.schemas, box.execute, self._most_steps) if tools else None
        stopped = await lead(who, self._stage, self.say, scripted=scripted, turn=self.turns, tools=own)
        self.stopped = self.stopped or stopped
        return self.text

    @property
    def output(self) -> dict[str, Any]:
        """Output for `play`: the last `text`, `calls`, any `user_calls`, number of `turns`, and why it `stopped`."""
        own = {"user_calls": self.user_calls} if self.user_calls else {}
        return {"text": self.text, "calls": self.calls, **own, "turns": self.turns, "stopped": self.stopped}

    def _scripted(self) -> ScriptedAnswers:
        if not self._script:
            return ScriptedAnswers(Utterance("I do not know."), self._wrong)
        return ScriptedAnswers(self._script[min(self.replies, len(self._script) - 1)], self._wrong)


class _Toolbox:
    """Functions that one side of a conversation calls, and its calls so far."""

    def __init__(
        self,
        stage: Stage,
        tools: Sequence[Tool],
        calls: list[dict[str, Any]] | None = None,
        *,
        environment: Environment[Any] | None,
    ) -> None:
        self._stage, self._environment = stage, environment
        self._tools = {tool.__name__: tool for tool in tools}
        self.schemas = [tool_schema(tool) for tool in tools]
        self.calls = [] if calls is None else calls

    async def execute(self, call: ToolCall) -> Message:
        """Execute a call, record it, and build the message with its result or error."""
        entry: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
        try:
            entry["arguments"] = arguments = _arguments(self._tools.get(call.name), call)
            entry["result"] = await self._call(call.name, arguments)
        except (LookupError, ValueError) as error:
            entry["error"] = f"{type(error).__name__}: {error}"
        self.calls.append(entry)
        result = entry.get("result", f"Error: {entry.get('error')}")
        content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content}

    async def _call(self, name: str, arguments: dict[str, Any]) -> Any:
        tool = self._tools[name]
        if inspect.iscoroutinefunction(tool) and self._environment is not None:
            return await self._environment.act(
                f"{OUTSIDE_TOOL}{name}", arguments, lambda world: cast(Awaitable[Any], tool(**arguments))
            )
        if inspect.iscoroutinefunction(tool):
            return await self._stage.perform(
                f"{OUTSIDE_TOOL}{name}", arguments, lambda: cast(Awaitable[Any], tool(**arguments))
            )
        return tool(**arguments)


def note_step_limit(stage: Stage, most: int, turn: int) -> str:
    """Note in the transcript that a model still called tools with its last reply; return that as a reason."""
    stage.note(STEP_LIMIT, {"most": most}, turn=turn, step=most - 1)
    return f"{STEPS_SPENT} {most} replies"


def _utterance(said: Said) -> Utterance:
    return Utterance(said) if isinstance(said, str) else said


def call(name: str, /, **arguments: Any) -> Utterance:
    """Return a tool call as a scripted answer."""
    return Utterance(calls=((name, arguments),))


def _types(tool: Tool, place: str) -> dict[str, Any]:
    try:
        hints = get_type_hints(tool, include_extras=True)
    except Exception as error:  # arbitrary suite code, such as an undefined name
        raise UsageError(f"the types of the tool {tool.__name__} cannot be read: {error}", where=place) from error
    untyped = [name for name in inspect.signature(tool).parameters if name not in hints]
    if untyped:
        raise UsageError(
            f"`{untyped[0]}` of the tool {tool.__name__} has no type", where=place, hint="Write one, such as `: str`."
        )
    return {name: hints[name] for name in inspect.signature(tool).parameters}


def _without_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Inline the `$ref` definitions of a schema."""
    definitions = schema.pop("$defs", {})

    def resolved(value: Any) -> Any:
        if isinstance(value, dict):
            table = cast(dict[str, Any], value)
            name = str(table.get("$ref", "")).removeprefix("#/$defs/")
            return resolved(definitions[name]) if name in definitions else {k: resolved(v) for k, v in table.items()}
        return [resolved(item) for item in cast(list[Any], value)] if isinstance(value, list) else value

    return resolved(schema)


def _arguments(tool: Tool | None, call: ToolCall) -> dict[str, Any]:
    """Parse the arguments of a call and convert them to the parameter types."""
    if tool is None:
        raise ValueError(f"there is no tool {call.name!r}")
    arguments = msgspec.json.decode(call.arguments or "{}", type=dict[str, Any])
    types = get_type_hints(tool, include_extras=True)
    parameters = inspect.signature(tool).parameters
    for name in arguments:
        if name not in parameters:
            raise ValueError(f"{call.name} has no parameter {name!r}")
    for name, parameter in parameters.items():
        if name not in arguments and parameter.default is parameter.empty:
            raise ValueError(f"the parameter {name!r} is missing")
    return {name: msgspec.convert(value, ready_type(types[name])) for name, value in arguments.items()}
