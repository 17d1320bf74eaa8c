"""Playing an entry of any category: the one dispatch that runs and checks of requests share."""

from typing import Any

from console.core.case import Setting
from console.suites.bfcl import categories as names
from console.suites.bfcl.agentic_play import play_agentic
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.entry import Entry
from console.suites.bfcl.handlers.handler import Handler, UnreadableAnswer
from console.suites.bfcl.inference_error import broken_handler
from console.suites.bfcl.multi_turn_play import MultiTurnConversation, Simulation
from console.suites.bfcl.play import play_single_turn
from console.suites.bfcl.simulator_host import host_of
from console.suites.bfcl.wording import Wording
from console.suites.stage import Stage


async def play_entry(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Hold the conversation and return the official result form.

    An answer that breaks the handler ends the entry as officially: the result is the text of an error, and is scored.

    Raises:
        Fault: a model, the simulators, the search service or the embedding failed.
        UsageError: recorded answers of web search cannot be read.
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
