"""The suite of the dialogue format."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from console.benchmarks.dialogue.data.dataset import Dataset
from console.benchmarks.dialogue.options import OPTIONS, read_options, settled_vary
from console.benchmarks.dialogue.rules.script import has_check, needs_judge, script_of
from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Verdict
from console.suites.headline import headlines_of
from console.suites.modes import NATIVE
from console.suites.own_row import OwnRow, RecordedCase
from console.suites.simulated_user import USER
from console.suites.stage import SECOND_JUDGE
from console.suites.suite import Category, Estimate, Mode, Report, Result, RoleModel, Suite, SuiteEntry

if TYPE_CHECKING:
    from console.suites.stage import Stage


class DialogueSuite(Suite):
    """Suite with one folder of rows."""

    options = OPTIONS
    has_independent_rows = True
    grader_sources = (
        "console.benchmarks.dialogue.rules",
        "console.suites.judging",
        "console.suites.code_run",
        "console.suites.call_matching",
    )

    def __init__(self, entry: SuiteEntry) -> None:
        self._entry = entry

    @property
    def entry(self) -> SuiteEntry:
        """The catalog entry, with the digest of the rows once they are read, so that a resumed run can be compared."""
        if not self.dataset.is_read:
            return self._entry
        return replace(self._entry, source={**self._entry.source, "digest": self.dataset.digest})

    @property
    def headline(self) -> Sequence[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Headlines in suite.toml; empty for an invalid file, which is reported elsewhere."""
        try:
            return self.dataset.defaults.headlines
        except UsageError:
            return ""

    @property
    def units(self) -> Mapping[str, str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Units in suite.toml; empty for an invalid file."""
        try:
            return self.dataset.defaults.units
        except UsageError:
            return {}

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the judge, second judge and simulated user that the rows and options need; none for invalid rows."""
        try:
            judged, has_user = self._needs
        except UsageError:
            return ()
        return _roles(judged, has_user, options)

    def roles_of(self, cases: Sequence[Case], setting: Setting) -> tuple[str, ...]:
        return _roles(any(map(needs_judge, cases)), any(map(_has_user, cases)), setting.options)

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        """Return the second judge if the options name one."""
        second = options.get("second_judge_model")
        return {SECOND_JUDGE: RoleModel(second, is_entry=True)} if second else {}

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Validate the options, inline the texts of variants, and store the name of the second judge.

        Raises:
            UsageError: an invalid option or unreadable file.
        """
        read_options(options)
        self._check_headlines()
        settled = {**options, "vary": settled_vary(options.get("vary"))}
        if SECOND_JUDGE in roles:
            settled["second_judge_model"] = roles[SECOND_JUDGE]
        return settled

    def notices(self, setting: Setting) -> list[str]:
        """Warn about rows that lack the headline, or do not use the varied text."""
        variants = read_options(setting.options).variants
        if variants is None:
            return self._headline_gaps()
        plain = sum(not script_of(case).variant for case in self.dataset.cases(variants))
        words = "row has" if plain == 1 else "rows have"
        gaps = [f"{plain} {words} no prompt to vary, so no variant includes them"] if plain else []
        return [*self._headline_gaps(), *gaps]

    def _headline_gaps(self) -> list[str]:
        """Warn if the score that runs are ranked by exists only in some rows."""
        name = headlines_of(self.headline)[0]
        if not name:
            return []
        from console.benchmarks.dialogue.rules.score import score_names

        names = [score_names([script_of(case)]) for case in self.dataset.cases()]
        lacking = sum(name not in of_row for of_row in names)
        others = ", ".join(sorted({other for of_row in names for other in of_row} - {name})) or "none"
        words = f"headline: {lacking} of {len(names)} rows have no score {name!r}, so runs are not ranked by it"
        return [f"{words}; other scores: {others}"] if lacking else []

    def modes(self) -> Sequence[Mode]:
        """Return only the native mode, because checks apply to calls, not to their format."""
        return (Mode(NATIVE, "native tools", NATIVE),)

    def categories(self) -> Sequence[Category]:
        """Return the categories in row order, with their counts."""
        counts: dict[str, int] = {}
        for case in self.dataset.cases():
            counts[case.category] = counts.get(case.category, 0) + 1
        return [Category(name, count) for name, count in counts.items()]

    def cases(self, categories: Sequence[str], setting: Setting) -> Sequence[Case]:
        """Return all cases in row order."""
        del categories
        return self.dataset.cases(read_options(setting.options).variants)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Estimate calls and tokens of one case, including judges and user."""
        from console.benchmarks.dialogue.conversation.estimate import estimate

        return estimate(script_of(case), read_options(setting.options))

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        from console.benchmarks.dialogue.conversation.play import Player

        options = read_options(setting.options)
        player = Player(
            script_of(case),
            stage,
            max_steps=options.max_steps,
            has_second_judge=options.has_second_judge,
            judge_repeats=options.judge_repeats,
            folder=self._entry.folder,
        )
        return await player.play()

    def scores_slowly(self, case: Case) -> bool:
        """Return whether a case has a regular expression or schema, which may take long."""
        return has_check(case, "regex", "json")

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        del setting
        from console.benchmarks.dialogue.rules.score import score

        return score(script_of(case), output)

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare expected with actual for each check."""
        del setting
        from console.benchmarks.dialogue.compare import compare

        return compare(script_of(case), output, verdict)

    def own_row(self, recorded: RecordedCase) -> OwnRow:
        """Return the case as a row, with its suite's defaults."""
        from console.benchmarks.dialogue.rules.own_row import own_row

        return OwnRow(own_row(script_of(recorded.case), recorded))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Report accuracy, mean scores and the comparison of variants."""
        from console.benchmarks.dialogue.rules.report import report

        graded = any(value not in (0.0, 1.0) for result in results for value in result.verdict.scores.values())
        scales = self.scales if graded else dict[str, tuple[float, float]]()
        return report(results, read_options(setting.options).variants, scales, self.units)

    def row_schema(self) -> dict[str, Any]:
        from console.benchmarks.dialogue.data.schema import row_schema

        return row_schema()

    def _check_headlines(self) -> None:
        """Check that each score named in suite.toml is possible in at least one row."""
        named = {name: "headline" for name in headlines_of(self.headline) if name} | dict.fromkeys(self.units, "units")
        if not named:
            return
        from console.benchmarks.dialogue.rules.score import score_names

        names = score_names(map(script_of, self.dataset.cases()))
        for name, place in named.items():
            if name not in names:
                hint = f"Scores of its checks: {', '.join(sorted(names)) or 'none'}."
                where = str(self._entry.folder / "suite.toml")
                raise UsageError(f"{place}: no case has the score {name!r}", where=where, hint=hint)

    @cached_property
    def _needs(self) -> tuple[bool, bool]:
        """Two flags: whether any case needs a judge, and whether any needs a simulated user."""
        cases = self.dataset.cases()
        return any(map(needs_judge, cases)), any(map(_has_user, cases))

    @cached_property
    def scales(self) -> Mapping[str, tuple[float, float]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Lowest and highest value by score; empty if the rows are missing."""
        from console.benchmarks.dialogue.rules.judging import scales_of

        try:
            return scales_of(script_of(case) for case in self.dataset.cases() if needs_judge(case))
        except UsageError:
            return {}

    @cached_property
    def dataset(self) -> Dataset:
        """Reader of the suite's folder."""
        return Dataset(self._entry.folder)


def _has_user(case: Case) -> bool:
    return "user" in case.data


def _roles(is_judged: bool, has_user: bool, options: dict[str, Any]) -> tuple[str, ...]:
    judges = ("judge", SECOND_JUDGE) if options.get("second_judge_model") else ("judge",)
    return (*(judges if is_judged else ()), *((USER,) if has_user else ()))
