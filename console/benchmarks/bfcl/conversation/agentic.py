"""Playing memory and web search: the turn loop of multi-turn, with a memory or the web in place of simulators."""

from typing import Any

from console.benchmarks.bfcl.conversation.agentic_answers import scripted_agentic_turn
from console.benchmarks.bfcl.conversation.memory.backend import core_of
from console.benchmarks.bfcl.conversation.memory.chain import memory_after
from console.benchmarks.bfcl.conversation.memory.embedding import embedding
from console.benchmarks.bfcl.conversation.memory.play import MemoryExecution
from console.benchmarks.bfcl.conversation.multi_turn import Execution, MultiTurnConversation
from console.benchmarks.bfcl.conversation.web_search.choice import choose_web
from console.benchmarks.bfcl.conversation.web_search.play import WebSearchExecution
from console.benchmarks.bfcl.conversation.wording import Wording
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.models.decoding import family_of
from console.benchmarks.bfcl.models.handlers.handler import Handler
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.core.case import Setting
from console.suites.stage import Stage


async def play_agentic(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Hold the conversation and return the official result form.

    A memory entry starts with what the conversations it depends on have left behind; without any of them it starts
    empty, as officially.

    Raises:
        Fault: a model, the search service or the embedding failed.
        UsageError: recorded answers cannot be read.
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
