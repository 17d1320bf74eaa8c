"""`check_suite`: what every suite must keep, tried out without a network, a key or an engine."""

import asyncio
import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from console.core.case import Case, Setting
from console.core.fault import Fault, UsageError
from console.core.outcome import Verdict
from console.core.run import Selection
from console.suites.guard import describe_error, guard
from console.suites.selection import select_cases
from console.suites.suite import Result, Suite
from console.testing.case_play import PlayedCase, journal_until_cut, play_case, usual_setting

_MOST_CUTS = 40
"""Effects of one conversation at which it is cut off, at most; spread out over it."""


class SuiteProblems(AssertionError):
    """What a suite does not keep, a line each."""

    def __init__(self, suite: str, problems: Sequence[str]) -> None:
        """Take the problems."""
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

    Cases have ids of their own and are the same when read twice. Of the first `cases`, or those of `ids`: they ask no
    role that the suite does not name; a journal gives back what `play` returned; played again from its journal, a case
    asks nothing anew and returns the same, also when it was cut off before any of its effects; `score` is the same
    twice and leaves its arguments alone; `compare` and `report` answer.

    Raises:
        SuiteProblems: something of that does not hold; lists everything that does not.
    """
    guarded = guard(suite)
    setting = usual_setting(guarded, options, mode)
    check = _Check(guarded, setting)
    check.cases_are_the_same_twice()
    if not check.problems:
        selection = Selection(categories=tuple(categories), ids=tuple(ids), limit=None if ids else cases)
        asyncio.run(check.cases(select_cases(guarded, selection, setting)))
    if check.problems:
        raise SuiteProblems(suite.entry.name, check.problems)


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
            self.problems.append("`cases` returns other cases when it is called again")
        unnamed = {case.category for case in first} - counted.keys()
        if unnamed:
            self.problems.append(f"`categories` does not name {sorted(unnamed)[0]!r}, the category of a case")
        for case in first:
            if not _is_given_back(case):
                self.problems.append(f"{case.id}: a journal does not give the case back: its data is not all JSON")
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
        """Check that a run would have had a model for each role that was asked."""
        case, options = played.case, self.setting.options
        named = {"roles": self.suite.roles(options)}
        if (by_case := self.suite.roles_of([case], self.setting)) is not None:
            named["roles_of"] = by_case
        for method, roles in named.items():
            for role in sorted(played.stage.roles - {"model", *roles}):
                self.problems.append(f"{case.id}: it asks the role {role}, which `{method}` does not name")

    async def _replays(self, whole: PlayedCase) -> None:
        """Check that a case goes on from each of its effects as if it had not been cut off."""
        case, count = whole.case, whole.stage.new
        outputs = {need: self._outputs.get(need) for need in case.depends_on}
        for effects in _spread(count):
            where = f"cut off after {effects} of {count} effects and played again"
            try:
                journal = await journal_until_cut(self.suite, case, self.setting, effects, outputs)
                again = await play_case(self.suite, case, self.setting, outputs=outputs, journal=journal)
            except (Exception, SystemExit) as error:
                self._failed(case, where, error)
                return
            if again.stage.unused or again.stage.new != count - effects:
                self.problems.append(
                    f"{case.id}, {where}: it asks other things than before, so what was paid is lost; "
                    "what is not deterministic goes through the stage"
                )
                return
            if again.output != whole.output or again.verdict != whole.verdict:
                self.problems.append(f"{case.id}, {where}: it returns something else than in one go")
                return

    def _scores(self, played: PlayedCase) -> None:
        case, output = played.case, played.output
        kept = copy.deepcopy((case, output))
        again = self._score(case, output)
        if again is not None and again != played.verdict:
            self.problems.append(f"{case.id}: `score` gives another verdict when it is called again")
        if (case, output) != kept:
            self.problems.append(f"{case.id}: `score` changes the case or the output it is given")
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
        if not _is_given_back(verdict):
            self.problems.append(f"{case.id}: a journal does not give the verdict back: it is not all JSON")
            return None
        return verdict

    def _failed(self, case: Case, where: str, error: BaseException) -> None:
        text = str(error) if isinstance(error, UsageError | Fault) else describe_error(error, self.suite)
        self.problems.append(f"{case.id}{', ' if where else ''}{where}: {text}")


def _spread(count: int) -> Sequence[int]:
    """Return at how many effects a conversation is cut off, the whole of it included."""
    if count <= _MOST_CUTS:
        return range(count + 1)
    return sorted({round(index * count / _MOST_CUTS) for index in range(_MOST_CUTS + 1)})


def _is_given_back(value: Case | Verdict) -> bool:
    read: Callable[[bytes], Any] = msgspec.json.Decoder(type(value)).decode
    try:
        return read(msgspec.json.encode(value)) == value
    except (TypeError, ValueError, RecursionError):
        return False
