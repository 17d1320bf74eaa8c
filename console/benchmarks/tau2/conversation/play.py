"""Plays a task on a stage: requests as the official program sends them, calls on the world, and the judge.

The world is rebuilt by a replay, as tools are deterministic and each reply is journaled.
"""

import json
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, cast

from console.benchmarks.tau2.conversation.scripted_answers import agent_answers, judge_answers, user_answers
from console.benchmarks.tau2.conversation.talk import DONE, GREETING, Silent, Talk, checked, seen_by
from console.benchmarks.tau2.data.editions import Edition, domain_of
from console.benchmarks.tau2.data.prompts import agent_prompt, judge_messages, user_prompt
from console.benchmarks.tau2.data.schemas import tool_schemas
from console.benchmarks.tau2.options import Tau2Options
from console.benchmarks.tau2.rules.domains.world import AGENT, USER
from console.benchmarks.tau2.rules.evaluate import EVALUATED, UnreadableJudge, read_judge
from console.benchmarks.tau2.rules.task import Call, Message, Output, Task
from console.core.chat import Message as Sent
from console.core.chat import Reply
from console.core.record import GREETING as GREETED
from console.suites.stage import Stage

JUDGE = "judge"
ROLES = {AGENT: "model", USER: "user"}
"""Role of each party's model."""
TRIES = 2
"""Attempts of the judge."""
MALFORMED = "malformed_call"
_FIRST_SEED, _SEEDS = 300, 1_000_000
_DONE_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": DONE,
        "description": "Call this function when you are done with the task.",
        "parameters": {"properties": {}, "title": "parameters", "type": "object"},
    },
}


class Player:
    """Plays one task."""

    def __init__(self, edition: Edition, domain: str, task: Task, stage: Stage, options: Tau2Options) -> None:
        """Prepare prompts and tools.

        Raises:
            UsageError: texts are missing.
        """
        self._edition, self._domain, self._task = edition, domain, task
        self._stage, self._options = stage, options
        solo = options.limits.solo
        user_tools = tool_schemas(edition, domain, USER)
        self.tools = {AGENT: agent_tools(edition, domain, solo=solo), USER: user_tools}
        self.system = {AGENT: agent_prompt(edition, domain, task, variant=options.policy, agent=options.agent)}
        if not solo:
            self.system[USER] = user_prompt(edition, task, has_tools=bool(user_tools))
        self._turn = self._step = 0

    async def play(self) -> Output:
        """Play to the end, and ask the judge if there is one."""
        talk = Talk(domain_of(self._edition, self._domain), self._task, self._options.limits)
        if talk.messages == [GREETING]:
            self._stage.note(GREETED, GREETING.content)
        try:
            await talk.play(self._ask)
        except Silent as error:
            party = ROLES[error.party]
            return Output(talk.messages, "", talk.steps, talk.errors, party, error.reason)
        judge, problem = await self._judge(talk)
        return Output(talk.messages, talk.reason, talk.steps, talk.errors, judge=judge, judge_problem=problem)

    async def _ask(self, party: str, messages: Sequence[Message]) -> Message:
        """Ask a party's model; a user whose reply is not a message is asked once more."""
        if party == USER and messages[-1].role == AGENT and len(messages) > 1:
            self._turn, self._step = self._turn + 1, 0
        try:
            return await self._asked(party, messages)
        except Silent:
            if party == AGENT:
                raise
        return await self._asked(party, messages)

    async def _asked(self, party: str, messages: Sequence[Message]) -> Message:
        tools = self.tools[party]
        params: dict[str, Any] = {"temperature": 0.0, "seed": _seed(self._stage.key.rollout)}
        if tools:
            params["tool_choice"] = "required" if self._options.limits.solo else "auto"
        task, solo = self._task, self._options.limits.solo
        reply = await self._stage.ask(
            self._request(party, messages),
            tools=tools,
            role=ROLES[party],
            params=params,
            turn=self._turn,
            step=self._step,
            scripted=lambda: (
                agent_answers(task, messages, solo=solo) if party == AGENT else user_answers(task, messages)
            ),
        )
        self._step += 1
        return _message(party, reply)

    def _request(self, party: str, messages: Sequence[Message]) -> list[Sent]:
        """Return the messages for a party's model, with the other party's texts in the user role."""
        sent: list[Sent] = [{"role": "system", "content": self.system[party]}]
        for message in seen_by(party, messages):
            if message.role == "tool":
                sent.append({"role": "tool", "content": message.content, "tool_call_id": message.id})
            elif message.role == party:
                sent.append(self._own(message))
            else:
                sent.append({"role": "user", "content": message.content})
        return sent

    def _own(self, message: Message) -> Sent:
        out: Sent = {"role": "assistant"}
        if message.content is not None:
            out["content"] = message.content
        if message.tool_calls:
            out["tool_calls"] = [self._call(call) for call in message.tool_calls]
        return out

    def _call(self, call: Call) -> Any:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        name = {"name": call.name} if self._options.official_calls else {}
        return {"id": call.id, **name, "type": "function", "function": function}

    async def _judge(self, talk: Talk) -> tuple[str | None, str]:
        """Return the judge's reply, or the error in the last one."""
        if talk.reason not in EVALUATED or not self._task.needs_judge:
            return None, ""
        messages = cast(list[Sent], judge_messages(self._edition, self._task, talk.messages))
        assertion_count = len(self._task.criteria.nl_assertions or ())
        text, problem = "", ""
        for step in range(TRIES):
            reply = await self._stage.ask(
                messages,
                role=JUDGE,
                params={"temperature": 0.0},
                turn=self._turn,
                step=step,
                scripted=lambda: judge_answers(self._task, talk.messages),
            )
            text = reply.content or ""
            try:
                verdict_count = len(read_judge(text))
            except UnreadableJudge as error:
                problem = str(error)
                continue
            if verdict_count == assertion_count:
                return text, ""
            problem = f"{verdict_count} verdicts for {assertion_count} assertions"
        return text, problem


def _message(party: str, reply: Reply) -> Message:
    """Return a reply as a message of a party."""
    calls: list[Call] = []
    for call in reply.tool_calls:
        try:
            arguments: Any = json.loads(call.arguments)
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            raise Silent(party, MALFORMED)
        calls.append(Call(call.id, call.name, cast(dict[str, Any], arguments), party))
    return checked(Message(party, reply.content, calls or None))


def agent_tools(edition: Edition, domain: str, *, solo: bool) -> list[dict[str, Any]]:
    """Return the schemas of the agent's tools, including the user's if there is no user."""
    own = tool_schemas(edition, domain, AGENT)
    return [*own, *tool_schemas(edition, domain, USER), _DONE_SCHEMA] if solo else own


@cache
def _seed(rollout: int) -> int:
    """Draw the official seed of a trial."""
    random = Random(_FIRST_SEED)  # noqa: S311 - official
    return [random.randint(0, _SEEDS) for _ in range(rollout + 1)][-1]
