"""Small tasks for Inspect, one for each way of playing; read by Inspect in an environment of its own."""

from inspect_ai import Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.scorer import choice, includes, match, model_graded_qa
from inspect_ai.solver import chain_of_thought, generate, multiple_choice, solver
from inspect_ai.tool import tool


@task
def sums():
    return Task([Sample(f"What is {n}+{n}?", target=str(2 * n)) for n in range(6)], solver=generate(), scorer=match())


@task
def choices():
    samples = [Sample(f"Which is {n}?", target="B", choices=["1", str(n), "x"]) for n in range(5)]
    return Task(samples, solver=multiple_choice(), scorer=choice())


@task
def graded():
    samples = [Sample(f"Say {n}", target=str(n)) for n in range(5)]
    return Task(samples, solver=generate(), scorer=model_graded_qa())


@task
def reasons():
    samples = [Sample(f"Think of {n}", target="4") for n in range(5)]
    return Task(samples, solver=[chain_of_thought(), generate()], scorer=includes())


@solver
def several_turns():
    async def solve(state, generate):
        for turn in range(3):
            state = await generate(state)
            state.messages.append(ChatMessageUser(content=f"turn {turn}"))
        return await generate(state)

    return solve


@task
def turns():
    samples = [Sample(f"begin {n}", target="yes", id=f"t{n}") for n in range(4)]
    return Task(samples, solver=several_turns(), scorer=includes())


@tool
def add():
    async def execute(x: str, y: str) -> str:
        """Add two numbers.

        Args:
            x: The first.
            y: The second.
        """
        return str(len(x) + len(y))

    return execute


@solver
def with_a_side_call():
    async def solve(state, generate):
        title = await get_model().generate(f"Name this: {state.input_text}")
        state.metadata["title"] = title.completion
        return state

    return solve


@task
def agents():
    samples = [Sample(f"Add {n} and 2", target="5") for n in range(4)]
    solvers = [with_a_side_call(), react(tools=[add()], attempts=1)]
    return Task(samples, solver=solvers, scorer=includes(), message_limit=14)
