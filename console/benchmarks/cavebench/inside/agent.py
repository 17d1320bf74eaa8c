"""Worker program of cave mode: the real cave-agent with a live runtime, whose model is reached through the engine.

The agent's loop, prompts and history are the package's own. Differences: replies and clock come from the engine, each
cell has a time limit and its calls are tracked, and the agent sees the output recorded by the engine, so that a resumed
conversation continues identically.
"""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast

# pyright: reportMissingTypeStubs=false
import cave_agent
import cave_agent.agent as agent_module
from cave_agent.models import Model, ModelResponse, TokenUsage
from cave_agent.runtime import Function, PythonRuntime, Type, Variable
from cave_agent.runtime.executor import ExecutionResult

from console.benchmarks.cavebench.inside import stubs
from console.benchmarks.cavebench.inside.scenario import ScenarioModule, coded_calls, first_calls, load
from console.benchmarks.cavebench.inside.tracker import CallTracker
from console.benchmarks.cavebench.rules.access import access_of
from console.benchmarks.cavebench.rules.json_values import CALLS_BYTES, SHOWN, sendable
from console.sandbox.serve import Operation, Port

_ERROR = 200
"""Maximum length of an exception's name."""


class CellTimeout(BaseException):
    """A cell exceeded its time limit; the conversation continues."""


class ProxyModel(Model):
    """A model whose replies come from the engine."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.step = -1

    async def call(self, messages: list[dict[str, str]]) -> ModelResponse:
        """Ask the engine for the next reply."""
        self.step += 1
        sent = [{"role": str(item["role"]), "content": sendable(item["content"])} for item in messages]
        answer = self._port.ask("model", {"messages": sent, "step": self.step})
        return ModelResponse(answer["content"], TokenUsage(*answer["tokens"]))

    async def stream(self, messages: list[dict[str, str]]) -> Any:
        """Raise an error: the engine streams to its viewers, and the agent gets whole replies."""
        raise RuntimeError("replies are not streamed")


class WatchedRuntime(PythonRuntime):
    """The agent's runtime, with tracked and time-limited cells."""

    def watch(self, port: Port, tracker: CallTracker, model: ProxyModel, cell_s: float) -> None:
        """Set the receiver of cell reports."""
        self._port, self._tracker, self._model, self._cell_s = port, tracker, model, cell_s

    async def execute(self, code: str) -> ExecutionResult:
        """Run one cell and return the output recorded by the engine."""
        already = len(self._tracker.calls)
        with _alarm(self._cell_s), self._tracker:
            result = await super().execute(code)
        output = result.stdout or ""
        if isinstance(result.error, CellTimeout):
            output += f"\nThe cell was stopped after {self._cell_s:g} s."
        access = access_of(code)
        numbered = [(name, values, str(n)) for n, (name, values) in enumerate(self._tracker.calls, start=1)]
        answer = self._port.ask(
            "cell",
            {
                "code": sendable(code),
                "output": sendable(output[:SHOWN]),
                "length": len(output),
                "error": "" if result.error is None else type(result.error).__name__[:_ERROR],
                "calls": first_calls(coded_calls(numbered[already:]), CALLS_BYTES),
                "reads": list(access.reads),
                "writes": list(access.writes),
                "step": self._model.step,
            },
        )
        shown, length = answer["output"], answer["length"]
        return ExecutionResult(error=result.error, stdout=shown if len(shown) == length else "x" * length)


class ValidatorRuntime:
    """The runtime under the names that validators and hooks used in past versions."""

    def __init__(self, runtime: PythonRuntime) -> None:
        self._runtime = runtime

    def retrieve(self, name: str) -> Any:
        """Return a variable's current value; raises KeyError for undeclared names."""
        return self._runtime.retrieve(name)

    def update_variable(self, name: str, value: Any) -> None:
        self._runtime.update_variable(name, value)

    get_variable = get_variable_value = retrieve


class AgentSession:
    """The operations of cave mode."""

    def __init__(self, port: Port, scenario: ScenarioModule, setup: dict[str, Any]) -> None:
        self._scenario = scenario
        self._tracker = CallTracker(tool.__name__ for tool in scenario.tools)
        self._model = ProxyModel(port)
        self._runtime = WatchedRuntime(
            functions=[_function(tool) for tool in scenario.tools],
            variables=[Variable(item.name, item.value, item.description) for item in scenario.variables],
            types=[_type(item) for item in scenario.types],
        )
        self._runtime.watch(port, self._tracker, self._model, setup["cell_s"])
        self._agent = cave_agent.CaveAgent(
            self._model,
            self._runtime,
            instructions=_instructions(setup, scenario),
            max_steps=setup["max_steps"],
            max_history=setup["max_history"],
            max_exec_output=setup["max_output"],
            log_level=cave_agent.LogLevel.ERROR,
        )

    async def play(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Play one turn (hook, agent, validator) and return its record."""
        turn = arguments["turn"]
        query, trouble = self._run_hook(turn)
        if trouble:
            return {"query": sendable(turn.get("query", "")), "trouble": trouble}
        self._tracker.forget()
        self._model.step = -1
        _Clock.moment = datetime.fromisoformat(arguments["now"])
        response = await self._agent.run(query)
        calls = [(name, values, str(number)) for number, (name, values) in enumerate(self._tracker.calls, start=1)]
        usage = response.token_usage
        return {
            "query": sendable(query),
            "response": sendable(response.content),
            "calls": coded_calls(calls),
            "snippets": [sendable(snippet) for snippet in response.code_snippets],
            "steps": response.steps_taken,
            "tokens": [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
            "status": response.status.value,
            "validator": self._scenario.validate(turn, response.content, ValidatorRuntime(self._runtime), calls),
        }

    def _run_hook(self, turn: dict[str, Any]) -> tuple[str, str]:
        """Return the query after the turn's hook, and the hook's exception."""
        query, hook = turn.get("query", ""), turn.get("pre_turn_hook")
        if not hook:
            return query, ""
        try:
            changed = self._scenario.hooks[hook](ValidatorRuntime(self._runtime), stubs.Turn(**turn))
        except BaseException as error:
            return query, sendable(f"hook {hook} raised {type(error).__name__}: {error}")[:4000]
        return query if changed is None else str(changed), ""


class _Clock(datetime):
    """The clock of the agent's prompt: the time recorded for the turn."""

    moment = datetime.fromtimestamp(0)  # noqa: DTZ006 - only its text is shown

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        """Return the turn's time."""
        del tz
        return cls.moment


@contextmanager
def _alarm(seconds: float) -> Generator[None]:
    def stop(number: int, frame: Any) -> None:
        raise CellTimeout(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _instructions(setup: dict[str, Any], scenario: ScenarioModule) -> str:
    """Return the agent's instructions with the scenario's texts, whose braces are doubled."""
    text = agent_module.DEFAULT_INSTRUCTIONS
    for title, key in (("TASK DESCRIPTION", "description"), ("TASK REQUIREMENTS", "requirements")):
        part = setup[key] or getattr(scenario, key)
        if part:
            text += f"\n\n{title}:\n" + part.replace("{{", "{").replace("}}", "}")
    return text


def _function(tool: Any) -> Function:
    if isinstance(tool, stubs.Function):
        return Function(tool.func, tool.description, tool.include_doc)
    return Function(tool)


def _type(item: Any) -> Type:
    if isinstance(item, type):
        return Type(item)
    return Type(item.value, item.description, include_schema=item.include_schema, include_doc=item.include_doc)


def start(port: Port, setup: dict[str, Any]) -> dict[str, Operation]:
    """Import the scenario, create the agent and offer to play its turns."""
    agent_module.datetime = _Clock  # pyright: ignore[reportAttributeAccessIssue,reportPrivateImportUsage]
    scenario = load(setup["root"], setup["module"], setup["beside"])
    scenario.check(setup["turns"])
    session = AgentSession(port, scenario, setup)
    return {"play": cast("Operation", session.play)}
