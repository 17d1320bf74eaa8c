"""Plays an entry of any category, for runs and for checks of requests."""

from typing import Any

from console.benchmarks.bfcl.conversation.single_turn import play_single_turn
from console.benchmarks.bfcl.data.dataset import Dataset
from console.benchmarks.bfcl.data.wording import Wording
from console.benchmarks.bfcl.models.handlers.handler import Handler, UnreadableAnswer
from console.benchmarks.bfcl.rules import categories as names
from console.benchmarks.bfcl.rules.entry import Entry
from console.benchmarks.bfcl.rules.inference_error import broken_handler
from console.core.case import Setting
from console.suites.stage import Stage


async def play_entry(
    entry: Entry, stage: Stage, setting: Setting, handler: Handler, wording: Wording, dataset: Dataset
) -> Any:
    """Run the conversation and return the result in the official format.

    An answer that crashes the handler ends the entry; as in the official code, its error text is the result to score.

    Raises:
        Fault: a model, the simulators, the search service or the embedding failed.
        UsageError: unreadable recorded answers of web search.
    """
    try:
        if names.is_single_turn(entry.category):
            return await play_single_turn(entry, stage, handler, wording)
        from console.benchmarks.bfcl.conversation.executed_play import play_executed  # loads sandbox and simulators

        return await play_executed(entry, stage, setting, handler, wording, dataset)
    except UnreadableAnswer as error:
        return broken_handler(error)
