"""The dialogue format as a suite: rows in, conversations played, checks applied."""

from collections.abc import Sequence
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
from console.suites.modes import NATIVE
from console.suites.simulated_user import USER
from console.suites.stage import SECOND_JUDGE
from console.suites.suite import Category, Estimate, Mode, Report, Result, RoleModel, Suite, SuiteEntry

if TYPE_CHECKING:
    from console.suites.stage import Stage


class DialogueSuite(Suite):
    """One folder with rows."""

    options = OPTIONS

    def __init__(self, entry: SuiteEntry) -> None:
        """Open a catalogue line; files are read when first needed."""
        self._entry = entry

    @property
    def entry(self) -> SuiteEntry:
        """The catalogue line; once the rows have been read with their digest, so that a resumed run has the same."""
        if not self.dataset.is_read:
            return self._entry
        return replace(self._entry, source={**self._entry.source, "digest": self.dataset.digest})

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """A judge where a check needs one, a second one where it is named, a user where one is simulated.

        Rows that cannot be read need nobody: what is wrong with them is said where they are read.
        """
        try:
            judged, has_user = self._needs
        except UsageError:
            return ()
        return _roles(judged, has_user, options)

    def roles_of(self, cases: Sequence[Case], setting: Setting) -> tuple[str, ...]:
        """A judge where a check of these cases needs one, a user where one of them has one."""
        return _roles(any(map(needs_judge, cases)), any(map(_has_user, cases)), setting.options)

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        """Return the second judge, if the options name one."""
        second = options.get("second_judge_model")
        return {SECOND_JUDGE: RoleModel(second, is_entry=True)} if second else {}

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Check the options, read the versions of a text in, and keep the name of a second judge.

        Raises:
            UsageError: an option is wrong, a file cannot be read, or a second judge has nothing to judge.
        """
        read_options(options)
        settled = {**options, "vary": settled_vary(options.get("vary"))}
        if SECOND_JUDGE in roles:
            settled["second_judge_model"] = roles[SECOND_JUDGE]
        return settled

    def notices(self, setting: Setting) -> list[str]:
        """Say how many rows are played as they are while a text is varied."""
        variants = read_options(setting.options).variants
        if variants is None:
            return []
        plain = sum(not script_of(case).variant for case in self.dataset.cases(variants))
        words = "row has" if plain == 1 else "rows have"
        return [f"{plain} {words} no prompt that could be varied, and count for no version"] if plain else []

    def modes(self) -> Sequence[Mode]:
        """Tools are always native: a row's checks are of calls, not of how they are written."""
        return (Mode(NATIVE, "native tools", NATIVE),)

    def categories(self) -> Sequence[Category]:
        """The categories in the order of the rows."""
        counts: dict[str, int] = {}
        for case in self.dataset.cases():
            counts[case.category] = counts.get(case.category, 0) + 1
        return [Category(name, count) for name, count in counts.items()]

    def cases(self, categories: Sequence[str], setting: Setting) -> Sequence[Case]:
        """All cases in the order of the rows."""
        del categories
        return self.dataset.cases(read_options(setting.options).variants)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Expected calls and tokens of one case, and of the judges and the user beside them."""
        from console.benchmarks.dialogue.conversation.estimate import estimate

        return estimate(script_of(case), read_options(setting.options))

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        """Hold the conversation."""
        from console.benchmarks.dialogue.conversation.play import Player

        options = read_options(setting.options)
        player = Player(script_of(case), stage, max_steps=options.max_steps, has_second_judge=options.has_second_judge)
        return await player.play()

    def scores_slowly(self, case: Case) -> bool:
        """Expressions and schemas may take up to their limits."""
        return has_check(case, "regex", "json")

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Apply the checks."""
        del setting
        from console.benchmarks.dialogue.rules.score import score

        return score(script_of(case), output)

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare expected with actual."""
        del setting
        from console.benchmarks.dialogue.compare import compare

        return compare(script_of(case), output, verdict)

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Aggregate."""
        from console.benchmarks.dialogue.rules.report import report

        return report(results, read_options(setting.options).variants)

    def row_schema(self) -> dict[str, Any]:
        """The schema of one row."""
        from console.benchmarks.dialogue.data.schema import row_schema

        return row_schema()

    @cached_property
    def _needs(self) -> tuple[bool, bool]:
        """Whether any case needs a judge, and whether any has a simulated user."""
        cases = self.dataset.cases()
        return any(map(needs_judge, cases)), any(map(_has_user, cases))

    @cached_property
    def dataset(self) -> Dataset:
        """The files of the suite's folder."""
        return Dataset(self._entry.folder)


def _has_user(case: Case) -> bool:
    return "user" in case.data


def _roles(is_judged: bool, has_user: bool, options: dict[str, Any]) -> tuple[str, ...]:
    judges = ("judge", SECOND_JUDGE) if options.get("second_judge_model") else ("judge",)
    return (*(judges if is_judged else ()), *((USER,) if has_user else ()))
