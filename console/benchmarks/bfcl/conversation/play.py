"""Plays an entry of any category, for runs and for checks of requests."""

from typing import Any

from console.benchmarks.bfcl.conversation.memory.backend import core_of, memory_after
from console.benchmarks.bfcl.conversation.memory.embedding import embedding
from console.benchmarks.bfcl.conversation.memory.play import MemoryExecution
from console.benchmarks.bfcl.conversation.multi_turn import Execution, MultiTurnConversation, Simulation
from console.benchmarks.bfcl.conversation.scripted_answers import scripted_agentic_turn
from console.benchmarks.bfcl.conversation.single_turn import play_single_turn
from console.benchmarks.bfcl.conversation.web_search.choice import choose_web
from console.benchmarks.bfcl.conversation.web_search.play import WebSearchExecution
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.models.handlers.handler import Handler, UnreadableAnswer
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.inference_error import broken_handler
from console.benchmarks.bfcl.simulators.host import host_of
from console.core.case import Setting
from console.suites.stage import Stage


async def play_entry(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Run the conversation and return the result in the official format.

    An answer that crashes the handler ends the entry; as officially, the error text becomes the result to score.

    Raises:
        Fault: a model, the simulators, the search service or the embedding failed.
        UsageError: unreadable recorded answers of web search.
    """
    try:
        return await _played(entry, stage, setting, handler, wording, dataset)
    except UnreadableAnswer as error:
        return broken_handler(error)


async def _played(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    if names.is_single_turn(entry.category):
        return await play_single_turn(entry, stage, handler, wording)
    if not names.is_multi_turn(entry.category):
        return await play_agentic(entry, stage, setting, handler, wording, dataset)
    docs, withheld = dataset.functions(entry)
    simulation = Simulation(entry, host_of(dataset), f"{stage.key}/{id(stage)}")
    return await MultiTurnConversation(entry.with_functions(docs), stage, handler, wording, simulation, withheld).play()


async def play_agentic(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Run a memory or web-search conversation and return the result in the official format.

    The memory starts with the content left by the prerequisites; without their outputs it is empty, as in the official
    code.

    Raises:
        Fault: a model, the search service or the embedding failed.
        UsageError: unreadable recorded answers.
    """
    docs, _ = dataset.functions(entry)
    memory = None
    if names.is_memory(entry.id):
        before = memory_after(entry.depends_on, stage.output_of, family_of(setting))
        memory = core_of(before)
        embed = embedding(dataset.embedding, dataset.folder, dataset.weights)
        execution: Execution = MemoryExecution(entry.id, before, embed)
    else:
        execution = WebSearchExecution(entry.id, entry.initial_config, choose_web(setting.options, dataset))
    offered = entry.with_functions(docs)
    return await MultiTurnConversation(
        offered, stage, handler, wording, execution, {}, memory, scripted_agentic_turn
    ).play()
