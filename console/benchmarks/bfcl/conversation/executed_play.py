"""Plays entries whose calls are executed: with simulators, a memory, or web search."""

from typing import Any

from console.benchmarks.bfcl.conversation.memory.backend import core_of, memory_after
from console.benchmarks.bfcl.conversation.memory.embedding import embedding
from console.benchmarks.bfcl.conversation.memory.play import MemoryExecution
from console.benchmarks.bfcl.conversation.multi_turn import Execution, MultiTurnConversation, Simulation
from console.benchmarks.bfcl.conversation.scripted_answers import scripted_agentic_turn
from console.benchmarks.bfcl.conversation.web_search.choice import choose_web
from console.benchmarks.bfcl.conversation.web_search.play import WebSearchExecution
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.models.handlers.handler import Handler
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.simulators.host import host_of
from console.core.case import Setting
from console.suites.stage import Stage


async def play_executed(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Run the conversation and return the result in the official format.

    The memory starts with the content left by the prerequisites; without their outputs it is empty, as in the official
    code.

    Raises:
        Fault: a model, the simulators, the search service or the embedding failed.
        UsageError: unreadable recorded answers.
    """
    docs, withheld = dataset.functions(entry)
    offered = entry.with_functions(docs)
    if names.is_multi_turn(entry.category):
        simulation = Simulation(entry, host_of(dataset), f"{stage.key}/{id(stage)}")
        return await MultiTurnConversation(offered, stage, handler, wording, simulation, withheld).play()
    memory = None
    if names.is_memory(entry.id):
        before = memory_after(entry.depends_on, stage.output_of, family_of(setting))
        memory = core_of(before)
        embed = embedding(dataset.embedding, dataset.folder, dataset.weights)
        execution: Execution = MemoryExecution(entry.id, before, embed)
    else:
        execution = WebSearchExecution(entry.id, entry.initial_config, choose_web(setting.options, dataset))
    return await MultiTurnConversation(
        offered, stage, handler, wording, execution, {}, memory, scripted_agentic_turn
    ).play()
