"""A suite as another package would offer it, as small as they come: all its cases, whatever is asked of it."""

from collections.abc import Sequence
from typing import Any

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.outcome import Outcome, Verdict
from console.suites.stage import Stage
from console.suites.suite import Category, Estimate, Metric, Option, Report, Result, SuiteEntry


class SumsSuite:
    """Additions, six easy and four hard ones; `broken` names the part that fails."""

    options: tuple[Option, ...] = ()
    broken = ""

    def __init__(self, entry: SuiteEntry) -> None:
        self.entry = entry

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def categories(self) -> Sequence[Category]:
        self._fail("categories")
        return [Category("easy", 6, group="sums"), Category("hard", 4, group="sums")]

    def cases(self, categories: Sequence[str], setting: Setting) -> list[Case]:
        self._fail("cases")
        easy = [Case(f"easy-{n}", "easy", {"a": n, "b": 1}) for n in range(6)]
        hard = [Case(f"hard-{n}", "hard", {"a": n, "b": 1000}, depends_on=("easy-0",)) for n in range(4)]
        return [*easy, *hard]

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        self._fail("estimate")
        return Estimate(1, 10, 10)

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        self._fail("play")
        reply = await stage.ask([{"role": "user", "content": f"{case.data['a']} + {case.data['b']}?"}])
        return reply.content

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        self._fail("score")
        right = str(case.data["a"] + case.data["b"])
        return Verdict(Outcome.PASSED) if output == right else Verdict(Outcome.FAILED, reason="wrong_sum")

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        self._fail("compare")
        return Comparison(verdict.reason or "")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        self._fail("report")
        return Report((Metric("accuracy", 0.5),))

    def _fail(self, part: str) -> None:
        if part == self.broken:
            raise ZeroDivisionError(f"no {part} today")
