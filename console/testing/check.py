"""`check_suite`: tests the contract of a suite without network, key or engine."""

import asyncio
import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from console.core.case import Case, Setting
from console.core.fault import Fault, UsageError
from console.core.outcome import Verdict
from console.core.ready_type import ready_type
from console.core.run import Selection
from console.suites.guard import describe_error, guard
from console.suites.selection import select_cases
from console.suites.suite import Result, Suite
from console.testing.case_play import PlayedCase, journal_until_cut, play_case, usual_setting

_MOST_CUTS = 40
"""Maximum number of points, spread over one conversation, at which it is cut off."""


class SuiteProblems(AssertionError):
    """Violations of a suite's contract, one per line."""

    def __init__(self, suite: str, problems: Sequence[str]) -> None:
        super().__init__(f"the suite {suite}:\n" + "\n".join(f"  {problem}" for problem in problems))
        self.problems = tuple(problems)


def check_suite(
    suite: Suite,
    *,
    cases: int = 3,
    ids: Sequence[str] = (),
    categories: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> None:
    """Check a suite in a test: `check_suite(MySuite(entry))`.

    Cases must have unique ids and be the same when read twice. For the first `cases`, or those in `ids`: they use no
    role that the suite does not name; a journal preserves the output of `play`; replaying a case from its journal
    requests nothing new and returns the same, even if cut off before any effect; `score` is repeatable and does not
    change its arguments; `compare` and `report` work.

    Raises:
        SuiteProblems: any of that fails; lists all failures.
    """
    guarded = guard(suite)
    setting = usual_setting(guarded, options, mode)
    check = _Check(guarded, setting)
    check.cases_are_the_same_twice()
    if not check.problems:
        selection = Selection(categories=tuple(categories), ids=tuple(ids), limit=None if ids else cases)
        asyncio.run(_checked(check, select_cases(guarded, selection, setting)))
    if check.problems:
        raise SuiteProblems(suite.entry.name, check.problems)


async def _checked(check: "_Check", cases: Sequence[Case]) -> None:
    try:
        await check.cases(cases)
    finally:
        await check.suite.aclose()


class _Check:
    def __init__(self, suite: Suite, setting: Setting) -> None:
        self.suite, self.setting = suite, setting
        self.problems: list[str] = []
        self._outputs: dict[str, Any] = {}

    def cases_are_the_same_twice(self) -> None:
        try:
            first, second = (list(self.suite.cases((), self.setting)) for _ in range(2))
            counted = {category.name: category.cases for category in self.suite.categories()}
        except UsageError as error:
            self.problems.append(str(error))
            return
        doubled = [case_id for case_id, count in Counter(case.id for case in first).items() if count > 1]
        if doubled:
            self.problems.append(f"two cases have the id {doubled[0]!r}")
        if first != second:
            self.problems.append("`cases` returns different cases when called again")
        unnamed = {case.category for case in first} - counted.keys()
        if unnamed:
            self.problems.append(f"`categories` does not name {sorted(unnamed)[0]!r}, the category of a case")
        for case in first:
            if not _survives_journal(case):
                self.problems.append(f"{case.id}: the case does not survive the journal: its data is not all JSON")
                break

    async def cases(self, cases: Sequence[Case]) -> None:
        results: list[Result] = []
        for case in cases:
            played = await self._play_case(case)
            if played is not None:
                self._names_its_roles(played)
                await self._replays(played)
                self._scores(played)
                results.append(Result(case.id, case.category, 0, played.verdict, case.cluster, case.graded))
        report = self.suite.report(results, self.setting)
        if report.fault:
            self.problems.append(report.fault)

    async def _play_case(self, case: Case) -> PlayedCase | None:
        outputs = {need: self._outputs.get(need) for need in case.depends_on}
        try:
            played = await play_case(self.suite, case, self.setting, outputs=outputs)
        except (Exception, SystemExit) as error:
            self._failed(case, "", error)
            return None
        self._outputs[case.id] = played.output
        return played

    def _names_its_roles(self, played: PlayedCase) -> None:
        """Check that a run would have a model for each role that was used."""
        case, options = played.case, self.setting.options
        named = {"roles": self.suite.roles(options)}
        if (by_case := self.suite.roles_of([case], self.setting)) is not None:
            named["roles_of"] = by_case
        for method, roles in named.items():
            for role in sorted(played.stage.roles - {"model", *roles}):
                self.problems.append(f"{case.id}: it uses the role {role}, which `{method}` does not name")

    async def _replays(self, whole: PlayedCase) -> None:
        """Check that a case continues from each of its effects as if it had not been cut off."""
        case, count = whole.case, whole.stage.new
        outputs = {need: self._outputs.get(need) for need in case.depends_on}
        for effects in _spread(count):
            where = f"cut off after {effects} of {count} effects and replayed"
            try:
                journal = await journal_until_cut(self.suite, case, self.setting, effects, outputs)
                again = await play_case(self.suite, case, self.setting, outputs=outputs, journal=journal)
            except (Exception, SystemExit) as error:
                self._failed(case, where, error)
                return
            if again.stage.unused or again.stage.new != count - effects:
                self.problems.append(
                    f"{case.id}, {where}: it makes other requests than before, so paid replies are lost; "
                    "everything that is not deterministic must go through the stage"
                )
                return
            if again.output != whole.output or again.verdict != whole.verdict:
                self.problems.append(f"{case.id}, {where}: it returns a different output than without the interruption")
                return

    def _scores(self, played: PlayedCase) -> None:
        case, output = played.case, played.output
        kept = copy.deepcopy((case, output))
        again = self._score(case, output)
        if again is not None and again != played.verdict:
            self.problems.append(f"{case.id}: `score` gives another verdict when called again")
        if (case, output) != kept:
            self.problems.append(f"{case.id}: `score` changes its case or output argument")
            return
        comparison = self.suite.compare(case, output, played.verdict, self.setting)
        if comparison.fault:
            self.problems.append(f"{case.id}: {comparison.fault}")

    def _score(self, case: Case, output: Any) -> Verdict | None:
        try:
            verdict = self.suite.score(case, output, self.setting)
        except (UsageError, Fault) as error:
            self._failed(case, "", error)
            return None
        if not _survives_journal(verdict):
            self.problems.append(f"{case.id}: the verdict does not survive the journal: it is not all JSON")
            return None
        return verdict

    def _failed(self, case: Case, where: str, error: BaseException) -> None:
        text = str(error) if isinstance(error, UsageError | Fault) else describe_error(error, self.suite)
        self.problems.append(f"{case.id}{', ' if where else ''}{where}: {text}")


def _spread(count: int) -> Sequence[int]:
    """Return the numbers of effects after which to cut off, including after the last one."""
    if count <= _MOST_CUTS:
        return range(count + 1)
    return sorted({round(index * count / _MOST_CUTS) for index in range(_MOST_CUTS + 1)})


def _survives_journal(value: Case | Verdict) -> bool:
    read: Callable[[bytes], Any] = msgspec.json.Decoder(ready_type(type(value))).decode
    try:
        return read(msgspec.json.encode(value)) == value
    except (TypeError, ValueError, RecursionError):
        return False
