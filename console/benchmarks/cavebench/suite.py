"""The cave-bench suite: each conversation is a case, each scenario a category."""

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.benchmarks.cavebench.data.dataset import Scenario, read_scenarios
from console.benchmarks.cavebench.options import OPTIONS, mode_of, read_options
from console.config.extras import install_command
from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Verdict
from console.suites.modes import NATIVE, PROMPT
from console.suites.own_row import OwnRow, RecordedCase
from console.suites.suite import (
    AFTER_REPLY,
    Category,
    Estimate,
    LineChecker,
    Mode,
    Report,
    Result,
    Suite,
)

if TYPE_CHECKING:
    from console.suites.stage import Stage

_TOKENS_PER_STEP_IN, _TOKENS_PER_STEP_OUT = 2500.0, 200.0
_STEPS_PER_TURN = {"cave": 2.4, "json": 2.5}
"""Averages of the published runs."""
_STATES = {
    "clock": "starting",
    "describe": "starting",
    "cell": "running code",
    "turn": "running code",
    "invoke": "running code",
    "validate": "validating",
    AFTER_REPLY: "running code",
}


class CaveBenchSuite(Suite):
    """A folder of scenarios: bundled, pulled or the user's own."""

    options = OPTIONS
    grader_sources = ("console.benchmarks.cavebench.rules", "console.benchmarks.cavebench.pyvalue")

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Check the options, and that code can be confined on this machine.

        Raises:
            UsageError: invalid options, or a sandbox that is too weak and was not accepted.
        """
        del roles
        checked = read_options(Setting(options=options))
        if not checked.trusted:
            from console.sandbox.probe import reached_level

            reached_level().require_enough()
        return options

    def notices(self, setting: Setting) -> list[str]:
        """Return notices about accepted weak confinement, and about scenarios whose tools JSON mode cannot send."""
        from console.sandbox.probe import reached_level

        level = reached_level() if read_options(setting).trusted else None
        weak = [level.warning] if level is not None and not level.is_enough else []
        return [*weak, *(self._unsendable() if mode_of(setting) == "json" else ())]

    def _unsendable(self) -> Iterator[str]:
        listed = [f"{item.name} ({item.source.unsendable})" for item in self._scenarios if item.source.unsendable]
        if listed:
            yield f"json mode leaves out scenarios with tools that have no JSON schema: {', '.join(listed)}"

    def check_needs(self, cases: Sequence[Case], setting: Setting) -> None:
        """Check that the package for cave mode is installed.

        Raises:
            UsageError: it is not.
        """
        del cases
        if mode_of(setting) == "cave":
            _insist_on_agent()

    def effect_states(self) -> Mapping[str, str]:
        """Return the words shown while each kind of effect runs."""
        return _STATES

    def modes(self) -> Sequence[Mode]:
        """Return the modes: code in replies, or tool calls."""
        return (
            Mode("cave", "the model writes Python that is run", PROMPT),
            Mode("json", "native tools", NATIVE),
        )

    def categories(self) -> Sequence[Category]:
        """Return one category per scenario; some exist in cave mode only."""
        return [
            Category(
                item.name,
                len(item.conversations),
                modes=("cave",) if item.needs_cave_mode else ("cave", "json"),
                group=item.family,
            )
            for item in self._scenarios
        ]

    def cases(self, categories: Sequence[str], setting: Setting) -> Iterator[Case]:
        """Return the conversations in file order.

        Raises:
            UsageError: damaged files.
        """
        del setting
        for item in self._scenarios:
            if not categories or item.name in categories:
                yield from _cases(item)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Return an estimate from the average steps per turn; each turn sends the history again."""
        steps = _STEPS_PER_TURN[mode_of(setting)] * len(case.data["conversation"]["turns"])
        basis = f"from the averages of the published runs, {_TOKENS_PER_STEP_IN:,.0f} tokens a reply"
        return Estimate(steps, steps * _TOKENS_PER_STEP_IN, steps * _TOKENS_PER_STEP_OUT, basis=basis)

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        from console.benchmarks.cavebench.conversation.play import Dataset, play_case

        return await play_case(case, stage, setting, Dataset(self.entry.folder, self._withheld))

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        from console.benchmarks.cavebench.rules.verdict import judge

        return judge(case, output, read_options(setting).type_rule)

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        return {"types": str(read_options(setting).type_rule)}

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        from console.benchmarks.cavebench.compare import compare_case

        return compare_case(case, output, verdict, read_options(setting).type_rule)

    def own_row(self, recorded: RecordedCase) -> OwnRow:
        """Return a conversation of native calls as a row."""
        from console.benchmarks.cavebench.own_row import own_row

        if mode_of(recorded.setting) == "cave":
            raise UsageError("its answers are code that is run with variables, and a row has only tool calls")
        return own_row(recorded)

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Return the report, with turns as the unit."""
        del setting
        from console.benchmarks.cavebench.rules.report import build_report

        return build_report(results)

    def checks_without_data(self) -> bool:
        """Return True: each row contains both expectations and actions."""
        return True

    def line_checker(self) -> AbstractContextManager[LineChecker]:
        from console.benchmarks.cavebench.conformance import CaveLineChecker
        from console.suites.line_checks import RowChecker

        return RowChecker(CaveLineChecker().check)

    @cached_property
    def _withheld(self) -> list[Path]:
        from console.benchmarks.cavebench.conversation.confined import withheld_files

        return withheld_files(self.entry.folder, {item.file for item in self._scenarios})

    @cached_property
    def _scenarios(self) -> list[Scenario]:
        return read_scenarios(self.entry.folder)


def _cases(scenario: Scenario) -> list[Case]:
    return [
        Case(
            id=f"{scenario.name}/{conversation['id']}",
            category=scenario.name,
            cluster=scenario.name,
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


def _insist_on_agent() -> None:
    if importlib.util.find_spec("cave_agent") is None:
        raise UsageError(
            "cave mode needs the package cave-agent, which is not installed",
            where="--mode",
            hint=f"Use --mode json, or install it: {install_command('cave')}",
        )
