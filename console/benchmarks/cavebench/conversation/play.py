"""Plays a conversation: led by the agent in the worker in cave mode, by a loop here in JSON mode.

Each conversation has one worker. Everything nondeterministic goes through the stage; a resumed conversation rebuilds
its runtime by repeating the same steps with the journaled replies, outputs and clock readings. Provider faults are
raised; if the model's code ends its worker, the conversation ends.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from console.benchmarks.cavebench.conversation.confined import confined_turn, named_functions
from console.benchmarks.cavebench.conversation.scripted_answers import scripted_answers_for
from console.benchmarks.cavebench.conversation.tool_loop import ToolLoop
from console.benchmarks.cavebench.conversation.worker_reports import ReportGuard
from console.benchmarks.cavebench.options import CaveOptions, read_options
from console.benchmarks.cavebench.rules.record import (
    BadRecord,
    CellJson,
    Question,
    lost_turn,
    read_cell,
    read_question,
    read_turn,
)
from console.config.extras import install_command
from console.core.case import Case, Setting
from console.core.chat import Message
from console.core.fault import Fault, FaultKind
from console.sandbox.exchange import OnAsk
from console.sandbox.limits import MEBIBYTE, WorkerLimits
from console.sandbox.worker import Worker, WorkerError, WorkerLost
from console.suites.stage import Stage

_CAVE_PROGRAM = "console.benchmarks.cavebench.inside.agent"
_JSON_PROGRAM = "console.benchmarks.cavebench.inside.tools"
_SCENARIO_ERROR = "ScenarioError"
"""Exception class that the worker's programs raise for faults in the scenario."""
_NEW_SPAN = ("model",)
"""Kinds of questions whose waiting time does not count against the code's time limit: only the model's replies."""
SPARE_S = 10.0
"""Seconds by which the engine's limit exceeds that of a cell."""
_KEPT_OF_EXCESS = 2000
"""Maximum number of characters kept of an output that is too long for the model."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A folder of scenarios."""

    folder: Path
    withheld: Sequence[Path]
    """Files that no worker may read, because they contain expectations."""


async def play_case(case: Case, stage: Stage, setting: Setting, dataset: Dataset) -> dict[str, Any]:
    """Play the conversation of a case and return its output.

    Raises:
        Fault: a model could not be reached, the scenario's module does not load, or the sandbox failed.
        UsageError: the sandbox is too weak on this machine, and that was not accepted.
    """
    options = read_options(setting)
    start = _WorkerFactory(case, options, dataset)
    if options.mode == "json":
        turns = await ToolLoop(case, stage, options, start.worker).play()
    else:
        turns = await _AgentPlay(case, stage, options).play(start)
    return {"mode": options.mode, "turns": turns}


class _WorkerFactory:
    """Starts the worker of a conversation."""

    def __init__(self, case: Case, options: CaveOptions, dataset: Dataset) -> None:
        self._data, self._options, self._dataset = case.data, options, dataset

    async def worker(self) -> Worker:
        """Start the worker.

        Raises:
            Fault: `data` if the scenario's module does not load; `sandbox` for anything else.
        """
        options = self._options
        try:
            return await Worker.start(
                _CAVE_PROGRAM if options.mode == "cave" else _JSON_PROGRAM,
                setup=self._setup(),
                read_only=[self._dataset.folder],
                hidden=self._dataset.withheld,
                limits=WorkerLimits(
                    call_s=options.cell_s + SPARE_S,
                    start_s=60.0,
                    frame_bytes=16 * MEBIBYTE,
                    call_bytes=64 * MEBIBYTE,
                ),
                allow_weaker=options.trusted,
            )
        except WorkerLost as lost:
            kind = FaultKind.DATA if lost.type_name == _SCENARIO_ERROR else FaultKind.SANDBOX
            raise Fault(kind, f"{self._data['scenario']}: {lost.message}", hint=_hint(lost.message)) from None

    def _setup(self) -> dict[str, Any]:
        data, options = self._data, self._options
        enters = (
            named_functions if options.mode == "cave" else confined_turn
        )  # in JSON mode no code written by the model runs
        return {
            "root": str(self._dataset.folder.resolve()),
            "module": data["module"],
            "beside": data.get("beside", ""),
            "turns": [enters(turn) for turn in data["conversation"]["turns"]],
            "description": data.get("description", ""),
            "requirements": data.get("requirements", ""),
            "max_steps": options.max_steps,
            "max_history": options.max_history,
            "max_output": options.max_output,
            "cell_s": options.cell_s,
        }


@dataclass(slots=True)
class _TurnAnswers:
    """Answers given to the worker in a turn, from which a new worker's state can be restored."""

    now: str
    answers: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])


class _AgentPlay:
    """A conversation in cave mode: answers the requests of the agent in the worker."""

    def __init__(self, case: Case, stage: Stage, options: CaveOptions) -> None:
        self._turns = cast("list[dict[str, Any]]", case.data["conversation"]["turns"])
        self._stage, self._options = stage, options
        self._turn = 0
        self._guard = ReportGuard(options.max_steps, options.max_output)
        self._answers_by_turn: list[_TurnAnswers] = []

    async def play(self, start: _WorkerFactory) -> list[dict[str, Any]]:
        """Play the turns in order; a lost worker ends the conversation."""
        if not self._turns:
            return []
        self._start = start
        self._worker = await start.worker()
        self._stage.note("sandbox", self._worker.level.as_json())
        played: list[dict[str, Any]] = []
        try:
            for number in range(len(self._turns)):
                self._turn = number
                played.append(await self._play_turn())
                if "lost" in played[-1]:
                    break
        finally:
            await self._worker.kill()
        return played

    async def _play_turn(self) -> dict[str, Any]:
        number = self._turn
        self._guard.begin_turn()
        self._answers_by_turn.append(_TurnAnswers(await self._stage.perform("clock", {"turn": number}, _now)))
        query = self._turns[number].get("query", "")
        try:
            record = await self._retry_if_killed()
            self._guard.turn(record, read_turn(record))
        except BadRecord as error:
            await self._worker.kill()
            record = lost_turn(query, f"the worker sent no record of the turn: {error}", "protocol")
        except WorkerLost as lost:
            if lost.cause in ("start", "killed") or not self._guard.is_answered:
                raise
            record = lost_turn(query, lost.message, lost.cause)
        except WorkerError as error:
            if not self._guard.is_answered:  # no code written by the model has run yet
                raise Fault(FaultKind.SANDBOX, f"the agent cannot run: {error}") from None
            record = {"query": query, "trouble": f"the agent failed: {error}"}

        async def done() -> Any:
            return record

        kept = await self._stage.perform("turn", {"turn": number}, done)
        self._stage.note("turn", kept, turn=number)
        return cast("dict[str, Any]", kept)

    async def _retry_if_killed(self) -> Any:
        """Play the turn; if the worker is killed, restore its state in a new one and continue, once per turn.

        Code that kills its own worker will do so again, and that is the model's fault.
        """
        try:
            return await self._call(self._turn, self._answer)
        except WorkerLost as lost:
            if not lost.was_killed:
                raise
        self._worker = await self._start.worker()
        for number in range(self._turn):
            with contextlib.suppress(WorkerError):  # a turn that failed fails again
                await self._call(number, self._replay_answers(number, _unexpected_question))
        return await self._call(self._turn, self._replay_answers(self._turn, self._answer))

    async def _call(self, turn: int, on_ask: OnAsk) -> Any:
        arguments = {"turn": confined_turn(self._turns[turn]), "now": self._answers_by_turn[turn].now}
        return await self._worker.call("play", arguments, on_ask=on_ask, new_span=_NEW_SPAN)

    def _replay_answers(self, turn: int, next_answer: OnAsk) -> OnAsk:
        """Repeat the recorded answers of a turn, and pass all later requests to `next_answer`."""
        earlier_answers = iter(list(self._answers_by_turn[turn].answers))

        async def answer(kind: str, data: Any) -> Any:
            answered_kind, result = next(earlier_answers, ("", None))
            return result if answered_kind == kind else await next_answer(kind, data)

        return answer

    async def _answer(self, kind: str, data: Any) -> Any:
        try:
            if kind not in ("model", "cell"):
                raise BadRecord("there is no such request")
            answer = await (self._ask(read_question(data)) if kind == "model" else self._cell(read_cell(data)))
        except BadRecord as error:
            raise WorkerLost(
                "protocol", f"the worker sent an invalid {kind[:40]!r}: {error}; it was terminated"
            ) from None
        self._answers_by_turn[self._turn].answers.append((kind, answer))
        return answer

    async def _ask(self, question: Question) -> dict[str, Any]:
        messages = _messages(question)
        self._guard.question(question)
        turn, step = self._turns[self._turn], self._guard.step
        reply = await self._stage.ask(
            messages,
            turn=self._turn,
            step=step,
            scripted=lambda: scripted_answers_for(turn, "cave", step),
        )
        usage = reply.usage
        tokens = [usage.input, usage.output, usage.input + usage.output] if usage else [0, 0, 0]
        self._guard.reply(reply.content or "", tokens[2])
        return {"content": reply.content or "", "tokens": tokens}

    async def _cell(self, cell: CellJson) -> dict[str, Any]:
        self._guard.cell(cell)
        step = self._guard.step
        seen = cell.output if cell.length <= self._options.max_output else cell.output[:_KEPT_OF_EXCESS]

        async def done() -> Any:
            return {"output": seen, "length": cell.length}

        kept = await self._stage.perform("cell", {"turn": self._turn, "step": step, "code": cell.code}, done)
        shown = cast("dict[str, Any]", msgspec.to_builtins(cell)) | cast("dict[str, Any]", kept)
        self._stage.note("cell", shown, turn=self._turn, step=step)
        return cast("dict[str, Any]", kept)


def _messages(question: Question) -> list[Message]:
    """Return the messages that the agent sends; only text and role are taken from the worker."""
    messages: list[Message] = []
    for item in question.messages:
        if item.role not in ("system", "user", "assistant"):
            raise BadRecord("a message of unknown role")
        messages.append({"role": item.role, "content": item.content})
    return messages


async def _unexpected_question(kind: str, data: Any) -> Any:
    raise WorkerLost("protocol", "a restored worker diverged from its predecessor; it was terminated")


async def _now() -> str:
    return datetime.fromtimestamp(int(time.time()), UTC).replace(tzinfo=None).isoformat()


def _hint(message: str) -> str:
    if "cave_agent" in message or "IPython" in message:
        return f"Install the extra for cave mode: {install_command('cave')}"
    if "pandas" in message:
        return f"This scenario needs pandas, which is in the extra for cave mode: {install_command('cave')}"
    return ""
