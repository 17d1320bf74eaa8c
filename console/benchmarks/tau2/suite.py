"""The suite of τ²-bench."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from console.benchmarks.tau2.data.editions import (
    CHECKOUT,
    DOMAINS,
    WHEEL,
    Edition,
    domain_of,
    editions,
    find_edition,
    regraded,
    tasks_of,
)
from console.benchmarks.tau2.data.prompts import GROUND_TRUTH
from console.benchmarks.tau2.options import OPTIONS, OWN, read_options
from console.benchmarks.tau2.rules.domain import Domain
from console.benchmarks.tau2.rules.task import Task
from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Verdict
from console.core.ready_type import ready_type
from console.suites.modes import NATIVE
from console.suites.suite import Category, Estimate, LineChecker, Mode, Report, Result, Suite

if TYPE_CHECKING:
    from console.suites.stage import Stage

_MEASURED = {"airline": (14.0, 80_000.0, 5.0), "retail": (16.0, 90_000.0, 6.0), "telecom": (20.0, 200_000.0, 15.0)}
"""Typical calls and input tokens of the agent, and calls of the user."""
_REPLY_TOKENS = 90.0
_USER_TOKENS = 4_000.0


class Tau2Suite(Suite):
    """τ²-bench with all pulled editions."""

    options = OPTIONS
    grader_sources = ("console.benchmarks.tau2.rules",)

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the user role, and the judge role for retail in edition 1.0.1."""
        read = read_options(options)
        if read.limits.solo:
            return ()
        edition = read.edition or next(iter(editions(self.entry.folder)), "")
        edition = edition if read.criteria == OWN else read.criteria
        return ("user", "judge") if edition == CHECKOUT else ("user",)

    def roles_of(self, cases: Sequence[Case], setting: Setting) -> tuple[str, ...]:
        if read_options(setting.options).limits.solo:
            return ()
        return ("user", "judge") if any(_task(case).needs_judge for case in cases) else ("user",)

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Validate options, and store the edition.

        Raises:
            UsageError: an invalid option, or an edition that was not pulled.
        """
        read_options(options)
        return {**options, "edition": self._edition(options).name}

    def modes(self) -> Sequence[Mode]:
        return (Mode(NATIVE, "native tools", NATIVE),)

    def categories(self) -> Sequence[Category]:
        """Return the domains with the tasks of the base split."""
        edition = find_edition(self.entry.folder)
        return [Category(name, len(edition.splits(name).get("base", ()))) for name in DOMAINS]

    def category_of(self, case_id: str) -> str | None:
        """Return the domain, which is the prefix of an id."""
        name = case_id.partition("_")[0]
        return name if name in DOMAINS else None

    def cases(self, categories: Sequence[str], setting: Setting) -> Sequence[Case]:
        """Return the tasks of a split, in official order.

        Raises:
            UsageError: no such split, or corrupt data.
        """
        options = read_options(setting.options)
        edition = self._edition(setting.options)
        domains = [name for name in DOMAINS if not categories or name in categories]
        if options.limits.solo:
            domains = [name for name in domains if name == "telecom"]
        cases: list[Case] = []
        for domain in domains:
            chosen = set(edition.splits(domain).get(options.split, ()))
            tasks: Mapping[str, Task] = tasks_of(edition, domain) if chosen else {}
            if options.criteria != OWN:
                tasks = regraded(tasks, tasks_of(find_edition(self.entry.folder, options.criteria), domain))
            cases += [_case(edition, domain, task) for name, task in tasks.items() if name in chosen]
        if options.agent == GROUND_TRUTH:
            cases = [case for case in cases if _task(case).criteria.actions]
        if not cases:
            raise UsageError(f"no task of {', '.join(domains) or 'these domains'} in the split {options.split}")
        return cases

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Estimate calls and tokens from usual conversations of the domain."""
        calls, tokens, user_calls = _MEASURED[case.category]
        user = Estimate(user_calls, user_calls * _USER_TOKENS, user_calls * _REPLY_TOKENS)
        by_role = {"user": user, "judge": Estimate(1, tokens / calls, _REPLY_TOKENS)}
        roles = {role: by_role[role] for role in self.roles_of([case], setting)}
        basis = "from usual conversations of the domain"
        return Estimate(calls, tokens, calls * _REPLY_TOKENS, roles, basis=basis)

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        from console.benchmarks.tau2.conversation.play import Player

        options = read_options(setting.options)
        player = Player(self._edition(setting.options), case.category, _task(case), stage, options)
        return msgspec.to_builtins(await player.play())

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        from console.benchmarks.tau2.rules.score import score

        solo = read_options(setting.options).limits.solo
        return score(self._domain(case, setting), _task(case), output, solo=solo)

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        from console.benchmarks.tau2.compare import compare

        solo = read_options(setting.options).limits.solo
        return compare(self._domain(case, setting), _task(case), output, verdict, solo=solo)

    def contradiction(self, case: Case, setting: Setting) -> str:
        """Return the expected call that fails when executed, or an empty string."""
        from console.benchmarks.tau2.rules.blame import task_signs

        return next((sign.text for sign in task_signs(self._domain(case, setting), _task(case))), "")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        from console.benchmarks.tau2.rules.report import report

        options = read_options(setting.options)
        is_official = self.entry.comparable and options.edition != WHEEL
        why = [*([] if is_official else ["not data and wording of 1.0.1"]), *options.differs]
        return report(results, f"not comparable with published numbers: {', '.join(why)}" if why else "")

    def line_checker(self) -> AbstractContextManager[LineChecker]:
        """Play and judge rows of conformance files."""
        from console.benchmarks.tau2.conformance import line_checker

        return line_checker(self.entry.folder)

    def _edition(self, options: dict[str, Any]) -> Edition:
        return find_edition(self.entry.folder, read_options(options).edition)

    def _domain(self, case: Case, setting: Setting) -> Domain:
        return domain_of(self._edition(setting.options), case.category)


def _task(case: Case) -> Task:
    return msgspec.convert(case.data["task"], ready_type(Task))


def _case(edition: Edition, domain: str, task: Task) -> Case:
    title = " ".join(task.request.split())[:200]
    data = {"task": msgspec.to_builtins(task), "edition": edition.name}
    return Case(f"{domain}_{task.id}", domain, data, title)
