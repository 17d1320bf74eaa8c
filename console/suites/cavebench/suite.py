"""cave-bench as a suite: a folder of scenarios, their conversations as cases, one category per scenario."""

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import Any

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Verdict
from console.core.run import Selection
from console.core.suggestion import nearest
from console.sandbox.probe import reached_level
from console.suites.cavebench.compare import compare_case
from console.suites.cavebench.dataset import Scenario, read_scenarios
from console.suites.cavebench.judge import judge
from console.suites.cavebench.options import MODES, OPTIONS, mode_of, read_options
from console.suites.cavebench.play import play_case
from console.suites.cavebench.report import build_report
from console.suites.stage import Stage
from console.suites.suite import Category, Estimate, Option, Report, Result, RoleModel, SuiteEntry

_TOKENS_PER_STEP_IN, _TOKENS_PER_STEP_OUT = 2500.0, 200.0
_STEPS_PER_TURN = {"cave": 2.4, "json": 2.5}
"""Averages of the published runs."""


class CaveBenchSuite:
    """One folder of scenarios, bundled, pulled or the user's own."""

    def __init__(self, entry: SuiteEntry) -> None:
        """Open a catalogue line; files are read when first needed."""
        self._entry = entry
        self._launching = False

    @property
    def entry(self) -> SuiteEntry:
        """The catalogue line this suite was opened from."""
        return self._entry

    @property
    def options(self) -> tuple[Option, ...]:
        """What a run may set."""
        return OPTIONS

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """No model but the one that is examined."""
        del options
        return ()

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        """No option names a model."""
        del options
        return {}

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Check the options before a launch, and that code can be confined on this machine.

        Raises:
            UsageError: an option makes no sense, or the sandbox is too weak and that is not accepted.
        """
        del roles
        checked = read_options(Setting(options=options))
        if not checked.trusted:
            reached_level().insist()
        self._launching = True
        return options

    def notices(self, setting: Setting) -> list[str]:
        """Say so where the code cannot be confined and that was accepted."""
        level = reached_level() if read_options(setting).trusted else None
        return [level.warning] if level is not None and not level.is_enough else []

    def own_mode(self, mode: str) -> str:
        """Return `cave` for tools in the prompt and `json` for native tools."""
        return MODES.get(mode, mode)

    def categories(self) -> Sequence[Category]:
        """One per scenario; those that need a live runtime are offered in cave mode only."""
        return [
            Category(
                item.name,
                len(item.conversations),
                modes=("cave",) if item.needs_runtime else ("cave", "json"),
                group=item.family,
            )
            for item in self._scenarios
        ]

    def cases(self, selection: Selection, setting: Setting) -> list[Case]:
        """Conversations in file order; without named categories or ids, those of the scenarios offered in the mode.

        Raises:
            UsageError: damaged files, an unknown category or id, or cave mode without the package it needs.
        """
        mode = mode_of(setting)
        if self._launching and mode == "cave":
            _insist_on_agent()
        named = bool(selection.categories or selection.ids)
        offered = [item for item in self._scenarios if named or mode == "cave" or not item.needs_runtime]
        known = [case for item in offered for case in _cases(item)]
        _insist_on_known("category", selection.categories, {item.name for item in self._scenarios})
        _insist_on_known("case", selection.ids, {case.id for case in known})
        chosen = [
            case
            for case in known
            if (not selection.categories or case.category in selection.categories)
            and (not selection.ids or case.id in selection.ids)
        ]
        return _limited(chosen, selection)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Average steps per turn; the history of earlier turns is paid for again with each."""
        steps = _STEPS_PER_TURN[mode_of(setting)] * len(case.data["conversation"]["turns"])
        return Estimate(steps, steps * _TOKENS_PER_STEP_IN, steps * _TOKENS_PER_STEP_OUT)

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        """Hold the conversation; see `play.py`."""
        return await play_case(case, stage, setting, self._entry.folder)

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Judge every turn; see `judge.py`."""
        return judge(case, output, read_options(setting).type_rule)

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Lay expected beside actual; see `compare.py`."""
        return compare_case(case, output, verdict, read_options(setting).type_rule)

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Sum up turns; see `report.py`."""
        del setting
        return build_report(results)

    @cached_property
    def _scenarios(self) -> list[Scenario]:
        return read_scenarios(self._entry.folder)


def _cases(scenario: Scenario) -> list[Case]:
    return [
        Case(
            id=f"{scenario.name}/{conversation['id']}",
            category=scenario.name,
            title=str(next((turn.get("query", "") for turn in conversation["turns"]), "")),
            data={
                "scenario": scenario.name,
                "module": scenario.module,
                "beside": scenario.beside,
                "description": scenario.description,
                "requirements": scenario.requirements,
                "conversation": conversation,
            },
        )
        for conversation in scenario.conversations
    ]


def _limited(cases: list[Case], selection: Selection) -> list[Case]:
    if selection.limit is None or selection.limit >= len(cases):
        return cases
    if selection.seed is None:
        return cases[: selection.limit]
    drawn = Random(selection.seed).sample(range(len(cases)), selection.limit)  # noqa: S311 - a draw, not a secret
    return [cases[index] for index in sorted(drawn)]


def _insist_on_known(what: str, names: Sequence[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            close = nearest(name, sorted(known))
            hint = f"Did you mean {close}?" if close else "See `eval-console suites`."
            raise UsageError(f"no {what} is called {name!r} in this suite and mode", hint=hint)


def _insist_on_agent() -> None:
    if importlib.util.find_spec("cave_agent") is None:
        raise UsageError(
            "cave mode needs the package cave-agent, which is not installed",
            where="--mode",
            hint="Install it with pip install 'eval-console[cave]', or use --mode json.",
        )
