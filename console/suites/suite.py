"""`Suite`: one benchmark format over one dataset folder, and the only interface of suites for engine and views."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.stage import Stage

if TYPE_CHECKING:
    from console.config.model import ModelConfig
    from console.suites.leaderboard import LeaderboardRules
    from console.suites.own_row import OwnRow, RecordedCase


class Option(msgspec.Struct, frozen=True):
    """One option of a suite: validated before the first paid call, shown as a field in the launch form."""

    name: str
    kind: str
    """`int`, `float`, `bool`, `text`, `choice` or `json`."""
    default: Any
    meaning: str
    choices: tuple[str, ...] = ()


class Mode(msgspec.Struct, frozen=True):
    """One way in which a suite prompts a model, such as with native tools."""

    name: str
    meaning: str = ""
    like: str = ""
    """Equivalent mode of models.toml: `prompt` (tools described in the prompt) or `fc` (native tools)."""


class Category(msgspec.Struct, frozen=True):
    """A part of a dataset that can be run separately."""

    name: str
    cases: int
    modes: tuple[str, ...] = ()
    """Names of supported modes; empty for all modes of the suite."""
    group: str = ""
    """Name for selecting it together with other categories."""
    scored: bool = True


class DemoRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A short run by a simulated model that introduces a suite; a `[[demo]]` table in its suite.toml."""

    order: int
    """Position among the demo runs of all suites; the first is shown live."""
    model: str
    """A simulated model, which needs no key and costs nothing."""
    cases: int
    categories: tuple[str, ...] = ()
    """Categories to play; empty for all."""
    other_mode: str = ""
    """Mode in which all categories that have it are played where the usual mode lacks its extra."""


class SuiteEntry(msgspec.Struct, frozen=True):
    """One entry of the catalog: a folder with a suite.toml."""

    name: str
    format: str
    """A built-in format or an installed entry point; `python` for a suite with a module."""
    folder: Path
    title: str
    module: str = ""
    """File in the folder that implements the suite (`suite.py` or `suite.py:Class`); empty if its format does."""
    origin: str = "bundled"
    """`bundled`, `pulled` or `user`."""
    comparable: bool = False
    """True if results may be called comparable with published ones."""
    source: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Name, version, digest and license of the data."""
    data: Path | None = None
    """Folder given with --data, searched first for pulled weights."""
    demo: tuple[DemoRun, ...] = ()
    """Runs of this suite in the demo."""


class Estimate(msgspec.Struct, frozen=True):
    """Expected cost of one case; mean values, not bounds."""

    calls: float
    input_tokens: float
    output_tokens: float
    roles: dict[str, "Estimate"] = msgspec.field(default_factory=dict[str, "Estimate"])
    """Additional cost of other roles (`judge`, `embedding`); the numbers above are the model's only."""
    most: "Estimate | None" = None
    """The same cost for the longest possible conversation; None if its length is unlimited."""
    bound: str = ""
    """Description of that longest conversation, such as `every loop to round 20`."""
    basis: str = ""
    """Basis of the numbers, such as `from the texts of the questions`."""

    @property
    def by_role(self) -> dict[str, "Estimate"]:
        """Cost of each role, the model included."""
        return {"model": self, **self.roles}


class Result(msgspec.Struct, frozen=True):
    """One finished rollout, as input to a report."""

    case_id: str
    category: str
    rollout: int
    verdict: Verdict
    cluster: str = ""
    """Cluster of its case within the category."""
    graded: bool = True
    """False for a setup case."""


class Metric(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number of a report."""

    name: str
    value: float | None
    low: float | None = None
    """95 % interval, if there is one."""
    high: float | None = None
    count: int = 0
    """Number of graded rollouts."""
    unit: str = "rate"
    """`rate` (0 to 1), `count`, `mean`, `score`, `points` (shown with one decimal), or a unit shown after it."""
    note: str = ""
    cases: int = 0
    """Basis of the interval: cases, rollouts, clusters and method; all empty if there is no interval."""
    rollouts: int = 0
    clusters: int = 0
    method: str = ""
    """Method of the interval, a term of docs/statistics.md."""


class CaseRepeats(msgspec.Struct, frozen=True):
    """Outcomes of the rollouts of one case."""

    case: str
    category: str
    passed: int
    graded: int
    rollouts: str
    """One letter per rollout, in order: P passed, F failed, ! broken, ? undecided, - not run."""


class Repeats(msgspec.Struct, frozen=True):
    """Statistics of repeated rollouts of the same cases."""

    metrics: tuple[Metric, ...]
    """pass@k and pass^k, for k of 1, 2, 5, 10, 20 … and the number of repeats."""
    flaky: tuple[CaseRepeats, ...]
    """Cases that passed in some rollouts and failed in others."""
    within_share: float | None = None
    """Fraction of the variance of a rollout due to sampling; None if too few cases were repeated."""
    error: float = 0.0
    """Standard error of the rate; the next two fields are projections for twice the cases or rollouts."""
    error_of_twice_the_cases: float = 0.0
    error_of_twice_the_rollouts: float = 0.0


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """Aggregated metrics of a run; the headlines come first."""

    metrics: tuple[Metric, ...]
    categories: dict[str, tuple[Metric, ...]] = {}
    outcomes: dict[Outcome, int] = {}
    cases: dict[str, tuple[Metric, ...]] = {}
    """Per-case metrics by case id, such as accepted answers."""
    reasons: dict[str, int] = {}
    """Rollouts by reason, most frequent first; empty if they only passed and failed."""
    repeats: Repeats | None = None
    """Statistics of repeats; None if no case was graded twice."""
    fault: str = ""
    """Error of the suite's `report`; there are no numbers then."""


class RoleModel(msgspec.Struct, frozen=True):
    """A model for a role, named by a suite's options: an entry of models.toml, or an id with URL and key."""

    model: str
    base_url: str = ""
    api_key_env: str = ""
    is_entry: bool = False
    """True to require an entry of models.toml."""
    is_default: bool = False
    """True if not chosen by the user, so that a run may substitute a better available model."""
    fallback: str = ""
    """Entry that replaces a default whose API key is missing."""


Row = dict[str, Any]
"""One line of `check`: a JSON object."""


class EarlierOutput(msgspec.Struct, frozen=True):
    """Output of a conversation that is graded again."""

    output: Any
    verdict: Verdict
    messages: tuple[dict[str, Any], ...]
    """The last request to the model."""


class LineChecker(Protocol):
    """Judges the lines of one file, in order."""

    def check(self, rows: Sequence[Row]) -> Sequence[Row | UsageError]:
        """Return one answer or error per row; a bad row never affects another."""
        ...


AFTER_REPLY = "after reply"
"""Key in `Suite.effect_states` for the time between a model reply and the next call."""
BEFORE_FIRST = "before first"
"""Key in `Suite.effect_states` for the time before the first call."""


class Suite:
    """A benchmark format over one dataset folder, with defaults for the optional parts.

    All methods except `play` are pure functions of their arguments and the dataset folder.
    """

    options: tuple[Option, ...] = ()
    """Options of a run; their values are in `setting.options`."""
    headline: str | Sequence[str] = ""
    """Name of the score reported in place of pass/fail; empty if rollouts pass or fail.

    The first of several decides comparisons and ranks; the others are shown next to it. `passed` is the pass rate.
    """
    scales: Mapping[str, tuple[float, float]] = MappingProxyType({})
    """Lowest and highest value by score, which bound the intervals of its mean."""
    units: Mapping[str, str] = MappingProxyType({})
    """Unit by score, such as `s`, shown after its numbers."""
    leaderboard: "LeaderboardRules | None" = None
    """Ranking rules; None for those of its benchmark, or else the pass rate or headline."""

    waits_for_batches: bool = True
    """False if the suite's code gives up on answers that take hours."""
    has_independent_rows: bool = False
    """True if a case depends on nothing but its data, so that a run continues although other cases have changed."""
    forks: bool = False
    """True if a rollout may contain several conversations, such as those of sub-agents."""
    grader_sources: tuple[str, ...] = ()
    """Modules and whole packages that decide verdicts: scoring, decoders, checkers; empty for the module of the class.

    Their digest is part of the grader's identity (`core.grader`); for suites with code in their folder, it covers all
    of that code.
    """

    def __init__(self, entry: SuiteEntry) -> None:
        """Open the suite of `entry.folder`; files are read lazily."""
        self.entry = entry

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the roles other than `model`, such as `judge`, that a run of all cases needs with these options."""
        return ()

    def roles_of(self, cases: Sequence[Case], setting: Setting) -> tuple[str, ...] | None:
        """Return the subset of `roles` that these cases need; None if they need all of them."""
        return None

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        """Return the models that options name, by role."""
        return {}

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Validate options and return them as stored in the manifest, with files inlined and role models named.

        Raises:
            UsageError: an option is wrong or a file cannot be read.
        """
        return options

    def adapt(self, setting: Setting, model: "ModelConfig", mode: str | None) -> Setting:
        """Adapt the setting of a run to one model.

        Args:
            setting: common to all models.
            model: its entry in models.toml.
            mode: chosen by the user; None if the model decides.

        Raises:
            UsageError: models.toml has an entry that the suite does not know, or that contradicts the mode.
        """
        return setting

    def modes(self) -> Sequence[Mode]:
        """Return the suite's own modes, default first; empty for `prompt` and `fc`, as in models.toml."""
        return ()

    def categories(self) -> Sequence[Category]:
        """Return all categories of the dataset, in official order.

        Raises:
            UsageError: the data is missing or corrupt; names the file and line.
        """
        raise TypeError("this suite has no `categories`")

    def category_groups(self) -> Mapping[str, Sequence[str]]:
        """Return groups of categories by name, in addition to `Category.group`; absent categories are skipped."""
        return {}

    def category_of(self, case_id: str) -> str | None:
        """Return the only category that can contain this case id, or None if the id does not determine it.

        Lets the caller read only the categories of the selected ids. The case need not exist.
        """
        return None

    def cases(self, categories: Sequence[str], setting: Setting) -> Iterable[Case]:
        """Return cases with their ground truth, in official order; the caller selects among them.

        Args:
            categories: return at least their cases and the prerequisites of these; empty for all categories.
            setting: the settings of the run.

        Raises:
            UsageError: corrupt data.
        """
        raise TypeError("this suite has no `cases`")

    def row_schema(self) -> dict[str, Any] | None:
        """Return the JSON schema of a row, for editors; None if the suite has no row format."""
        return None

    def notices(self, setting: Setting) -> list[str]:
        """Return warnings to show before a run, such as an accepted weak sandbox; one sentence each."""
        return []

    def check_needs(self, cases: Sequence[Case], setting: Setting) -> None:
        """Check that everything except models and data is available before the first paid call.

        Raises:
            UsageError: the first missing item, such as weights or the API key of a service, with a hint.
        """

    def embeds_here(self, cases: Sequence[Case]) -> Path | None:
        """Return the folder of the local embedding weights that these cases need, or None."""
        return None

    def estimate(self, case: Case, setting: Setting) -> Estimate | None:
        """Return the expected calls and tokens of one case; None to estimate them from earlier runs."""
        return None

    def protocols(self, setting: Setting) -> Mapping[str, Setting]:
        """Return the run's setting under each protocol that differs in cost, including the chosen one."""
        return {}

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        """Run the conversation and return its output, a JSON value for `score`."""
        raise TypeError("this suite has no `play`")

    async def aclose(self) -> None:
        """Release what `play` has opened for the whole run, such as a process; called once at its end."""

    def contradiction(self, case: Case, setting: Setting) -> str:
        """Return the reason that no answer can pass a case, according to its own data; empty if there is none."""
        del case, setting
        return ""

    def judged_answer(self, output: Any, turn: int) -> str:
        """Return the part of a reply that a judge graded in a turn of a loop; empty for the whole reply."""
        del output, turn
        return ""

    async def play_again(self, case: Case, stage: Stage, setting: Setting, earlier: EarlierOutput) -> Any:
        """Replay a conversation that is graded again; the stage answers from its journal, and calls only judges."""
        return await self.play(case, stage, setting)

    def effect_states(self) -> Mapping[str, str]:
        """Return the status shown during an effect, by its kind (see `Stage.perform`); other kinds are shown by name.

        `BEFORE_FIRST` and `AFTER_REPLY` name the times when a suite works without an effect.
        """
        return {}

    def external_states(self) -> Collection[str]:
        """Return the statuses during which another program works, which may never end.

        A run that ends cancels these conversations, unless a call is in flight; they stay resumable.
        """
        return ()

    def scores_slowly(self, case: Case) -> bool:
        """Return whether scoring a case takes more than a millisecond and should run in a thread.

        `score` must then be thread-safe. Long replies are scored in a thread in every suite.
        """
        return False

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Judge an output. Pure, deterministic, no network; never raises for bad output."""
        raise TypeError("this suite has no `score`")

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        """Return the options and texts that decide verdicts besides code and cases, such as thresholds; JSON values.

        They are part of the grader's identity, and must not depend on the model under test.
        """
        return {}

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare expected with actual for review."""
        raise TypeError("this suite has no `compare`")

    def own_row(self, recorded: "RecordedCase") -> "OwnRow":
        """Return a played case as a row of a suite of questions, with equivalent checks if there are any.

        Raises:
            UsageError: a row cannot express the case; says why in a sentence.
        """
        from console.suites.own_row import OwnRow, conversation_row

        return OwnRow(conversation_row(recorded), f"{self.entry.name} is graded by its own code")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Aggregate by the benchmark's own formula.

        Of a verdict's `detail`, results keep numbers, lists of numbers, and dictionaries that have `metrics`, by turn;
        no texts, as large runs must fit in memory.
        """
        raise TypeError("this suite has no `report`")

    def checks_without_data(self) -> bool:
        """Return whether `check FORMAT` works without a dataset, because the lines contain everything needed."""
        return False

    def line_checker(self) -> AbstractContextManager[LineChecker] | None:
        """Return a checker for the suite's own format of saved outputs; None if lines have `id` and `output`."""
        return None

    def line_kinds(self) -> Mapping[str, Callable[[], AbstractContextManager[LineChecker]]]:
        """Return checker factories for lines other than outputs, such as requests, by KIND of `check NAME-KIND`."""
        return {}
