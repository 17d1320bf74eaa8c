"""One case played without an engine: what came of it, judged."""

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
    """A conversation that came to its end."""

    case: Case
    output: Any
    """As a journal gives it back."""
    verdict: Verdict
    stage: MemoryStage
    """With the journal and what the conversation took."""


def usual_setting(suite: Suite, options: Mapping[str, Any] | None = None, mode: str | None = None) -> Setting:
    """Return the setting of a run with these options, and defaults for the others."""
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
        Exception: whatever the suite's code raises.
    """
    stage = MemoryStage(case.id, right=right, outputs=outputs, journal=journal)
    output = as_journaled(await suite.play(case, stage, setting))
    return PlayedCase(case, output, suite.score(deepcopy(case), deepcopy(output), setting), stage)


async def journal_until_cut(
    suite: Suite, case: Case, setting: Setting, effects: int, outputs: Mapping[str, Any] | None = None
) -> list[Effect]:
    """Play a case until so many effects are done, as a killed engine would have; return what is journaled."""
    stage = MemoryStage(case.id, cut_after=effects, outputs=outputs)
    with suppress(CutOff):
        await suite.play(case, stage, setting)
    return stage.journal


def as_journaled(value: Any) -> Any:
    """Return an output as a journal gives it back.

    Raises:
        TypeError: it is no JSON.
    """
    return msgspec.json.decode(msgspec.json.encode(value))
