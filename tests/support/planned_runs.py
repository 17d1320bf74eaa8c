"""Runs that their looks may end, of the dialogue suite: prepared as `prepare` would, with a baseline made up."""

import dataclasses
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from support.dialogue_suite import DialogueSuite
from support.killable_run import prepared

from console.core.case import Case, Setting, Slot
from console.core.looks import Rule, Until
from console.core.outcome import Outcome, Verdict
from console.engine.looks import plan_looks
from console.engine.plan import PreparedRun
from console.suites.planned_order import planned_order
from console.suites.suite import Metric, Report, Result

PASSED, FAILED = Verdict(Outcome.PASSED), Verdict(Outcome.FAILED, reason="wrong_number")


class TalkSuite(DialogueSuite):
    """One turn a case, in three categories, and optionally in clusters."""

    def __init__(self, cases: int, cluster: int = 1) -> None:
        super().__init__(cases, 1, judged=False)
        self.cluster = cluster

    def cases(self, categories: object, setting: Setting) -> list[Case]:
        return [
            Case(
                f"d{n}-1",
                ("short", "middle", "long")[n * 3 // self.count],
                {"turns": 1},
                cluster=str(n // self.cluster) if self.cluster > 1 else "",
            )
            for n in range(self.count)
        ]

    def report(self, results: object, setting: Setting) -> Report:
        listed: list[Result] = list(results)  # pyright: ignore
        return Report((Metric("accuracy", None, count=len(listed)),))


def passes(share: float, salt: str) -> Callable[[str], bool]:
    """Return who passes: each case with this probability, always the same for a salt."""
    return lambda case: random.Random(f"{salt} {case}").random() < share


def results(suite: TalkSuite, passed: Callable[[str], bool], rollouts: int = 1) -> dict[Slot, Verdict]:
    """Return the results of a baseline."""
    cases = suite.cases((), Setting())
    return {(case.id, n): PASSED if passed(case.id) else FAILED for case in cases for n in range(rollouts)}


def planned(
    folder: Path,
    suite: TalkSuite,
    until: Until | None = None,
    baseline: Mapping[Slot, Verdict] | None = None,
    *,
    at_once: int = 16,
    rollouts: int = 1,
    base_url: str = "http://127.0.0.1:9/v1",
) -> PreparedRun:
    """Prepare a run that its looks may end; without a rule it is only looked at."""
    ready = prepared(folder, base_url, suite, at_once)
    seed = None if until is None else 0
    cases = planned_order(ready.cases, seed)
    manifest = msgspec.structs.replace(
        ready.manifest,
        rollouts=rollouts,
        cases=len(cases) * rollouts,
        looks=plan_looks(cases, rollouts, seed, until),
    )
    return dataclasses.replace(ready, manifest=manifest, cases=cases, baseline=dict(baseline or {}))


DECIDED = Until(Rule.DECIDED, margin=0.01, baseline="a")
