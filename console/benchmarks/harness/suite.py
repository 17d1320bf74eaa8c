"""The suite of a task that another harness plays."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from console.benchmarks.harness.definition import Definition, read_definition
from console.benchmarks.harness.listing import Listing, check_versions, find_listing
from console.benchmarks.harness.verdict import decide
from console.core.case import Case, Setting
from console.core.outcome import Verdict
from console.suites.metrics import first_scores
from console.suites.simple import SimpleSuite
from console.suites.stage import Stage
from console.suites.suite import AFTER_REPLY, BEFORE_FIRST, EarlierOutput, Result, SuiteEntry

if TYPE_CHECKING:
    from console.benchmarks.harness.driver_process import HarnessSession


class HarnessSuite(SimpleSuite):
    """Suite of one task; the harness plays and scores, and calls our models."""

    forks = True
    waits_for_batches = False
    grader_sources = ("console.benchmarks.harness.verdict",)

    def __init__(self, entry: SuiteEntry) -> None:
        """Open a catalog entry; files are read lazily, and no process is started."""
        self._entry = entry
        self._session: HarnessSession | None = None

    @property
    def entry(self) -> SuiteEntry:
        """The catalog entry, with the versions of the packages once the cases are listed."""
        listing = self.__dict__.get("listing")
        if not isinstance(listing, Listing):
            return self._entry
        identity = {"task": listing.name, "list": listing.digest}
        return replace(self._entry, source={**self._entry.source, **identity, **listing.versions})

    @cached_property
    def definition(self) -> Definition:
        return read_definition(self._entry)

    @cached_property
    def listing(self) -> Listing:
        """The cases as the harness lists them."""
        return find_listing(self._entry.folder, self.definition)

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return our roles that play roles of the task."""
        return self.definition.needed_roles

    def cases(self, categories: Sequence[str], setting: Setting) -> Sequence[Case]:
        """Return all cases in the harness's order."""
        return self.listing.as_cases()

    def check_needs(self, cases: Sequence[Case], setting: Setting) -> None:
        """Check that the environment is the one that listed the cases."""
        check_versions(self._entry.folder, self.definition, self.listing)

    def effect_states(self) -> Mapping[str, str]:
        """Return the status words shown while the harness itself is working."""
        harness = self.definition.format
        return {BEFORE_FIRST: f"{harness} starting", AFTER_REPLY: f"{harness} at work"}

    def external_states(self) -> Collection[str]:
        """Return all statuses, because only the harness knows how long it will take."""
        return self.effect_states().values()

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        """Let the driver play the case."""
        from console.benchmarks.harness.driver_process import HarnessSession
        from console.benchmarks.harness.play import Rollout

        if self._session is None:
            self._session = HarnessSession(self._entry.folder, self.definition)
        return await Rollout(case, stage, self.definition).play(self._session)

    async def play_again(self, case: Case, stage: Stage, setting: Setting, earlier: EarlierOutput) -> Any:
        """Replay the recorded answers for another judge to grade; without a judge, return the recorded output."""
        return await self.play(case, stage, setting) if "judge" in self.definition.needed_roles else earlier.output

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.aclose()

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Return the harness's own verdict."""
        result = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
        return decide(case, result, self.definition.score, self.definition.threshold)

    def _rates(self, graded: Sequence[Result]) -> Collection[str]:
        """Return the deciding score: the harness's other numbers may be counts, such as turns."""
        return {self.definition.score, *first_scores(graded)}

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        """Return the deciding score and its threshold."""
        return {"score": self.definition.score, "threshold": self.definition.threshold}
