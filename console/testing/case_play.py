"""Playing and judging one case without an engine."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import msgspec

from console.core.case import Case, Setting
from console.core.outcome import Verdict
from console.suites.modes import find_mode
from console.suites.suite import Suite
from console.testing.stage import CutOff, Effect, MemoryStage


@dataclass(frozen=True, slots=True)
class PlayedCase:
    """A finished conversation."""

    case: Case
    output: Any
    """Output in the form in which a journal returns it."""
    verdict: Verdict
    stage: MemoryStage
    """Stage with the journal and the counts of the conversation."""


def usual_setting(suite: Suite, options: Mapping[str, Any] | None = None, mode: str | None = None) -> Setting:
    """Return the setting of a run with these options and defaults for the others."""
    values = {option.name: option.default for option in suite.options} | dict(options or {})
    return Setting(mode=find_mode(suite, mode), options=suite.settle(values, {}))


async def play_case(
    suite: Suite,
    case: Case,
    setting: Setting,
    *,
    right: bool = True,
    outputs: Mapping[str, Any] | None = None,
    journal: Sequence[Effect] = (),
) -> PlayedCase:
    """Play a case with a model that always answers right, or always wrong, and judge it.

    Raises:
        Exception: any exception of the suite's code.
    """
    stage = MemoryStage(case.id, right=right, outputs=outputs, journal=journal)
    output = as_journaled(await suite.play(case, stage, setting))
    return PlayedCase(case, output, suite.score(deepcopy(case), deepcopy(output), setting), stage)


async def journal_until_cut(
    suite: Suite, case: Case, setting: Setting, effects: int, outputs: Mapping[str, Any] | None = None
) -> list[Effect]:
    """Play a case until a number of effects is done, like a killed engine, and return the journal."""
    stage = MemoryStage(case.id, cut_after=effects, outputs=outputs)
    with suppress(CutOff):
        await suite.play(case, stage, setting)
    return stage.journal


def as_journaled(value: Any) -> Any:
    """Return an output in the form in which a journal returns it.

    Raises:
        TypeError: the output is not JSON.
    """
    return msgspec.json.decode(msgspec.json.encode(value))
