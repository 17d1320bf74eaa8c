"""`Suite`: one benchmark format over one dataset folder. The engine and all views know suites only by it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from console.core.case import Case, Setting
from console.core.comparison import Comparison
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.suites.stage import Stage

if TYPE_CHECKING:
    from console.config.model import ModelConfig
    from console.suites.leaderboard import LeaderboardRules


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
    """The suite's word for it."""
    meaning: str = ""
    like: str = ""
    """The mode of models.toml that comes to it: `prompt` (tools described in the prompt) or `fc` (native tools)."""


class Category(msgspec.Struct, frozen=True):
    """One part of a dataset that can be run by itself."""

    name: str
    cases: int
    modes: tuple[str, ...] = ()
    """Names of the modes it can be played in; empty: all that the suite has."""
    group: str = ""
    """A name under which it can be chosen together with others."""
    scored: bool = True


class DemoRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A short run by a simulated model that shows a suite to a newcomer; a `[[demo]]` table of its suite.toml."""

    order: int
    """Its place among the demo runs of all suites; the first one is watched."""
    model: str
    """A simulated model, so that the demo needs no key and costs nothing."""
    cases: int
    categories: tuple[str, ...] = ()
    """Empty for all."""


class SuiteEntry(msgspec.Struct, frozen=True):
    """One line of the catalogue: a folder with a suite.toml."""

    name: str
    format: str
    """The name of one of our formats, or of an installed entry point; `python` for a suite with a module."""
    folder: Path
    title: str
    module: str = ""
    """File of the folder whose code is the suite, such as `suite.py` or `suite.py:Class`; empty: its format is."""
    origin: str = "bundled"
    """`bundled`, `pulled` or `user`."""
    comparable: bool = False
    """Whether results may be called comparable with published ones."""
    source: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Name, version, digest and licence of the data."""
    data: Path | None = None
    """Folder named with --data, in which pulled weights are looked for first."""
    demo: tuple[DemoRun, ...] = ()
    """Runs that the demo starts of it."""


class Estimate(msgspec.Struct, frozen=True):
    """What one case will cost, before anything is paid; expected values, not bounds."""

    calls: float
    input_tokens: float
    output_tokens: float
    roles: dict[str, "Estimate"] = msgspec.field(default_factory=dict[str, "Estimate"])
    """What the other roles add (`judge`, `embedding`): not contained in the numbers above, which are the model's."""


class Result(msgspec.Struct, frozen=True):
    """One finished rollout as the report sees it."""

    case_id: str
    category: str
    rollout: int
    verdict: Verdict
    cluster: str = ""
    """What its case shares with others of the category, as the case says."""
    graded: bool = True
    """False: its case is played for what others build on."""


class Metric(msgspec.Struct, frozen=True, omit_defaults=True):
    """One number of a report."""

    name: str
    value: float | None
    low: float | None = None
    """95 % interval, where one can be given."""
    high: float | None = None
    count: int = 0
    """How many graded rollouts it rests on."""
    unit: str = "rate"
    """`rate` (0 to 1), `count`, `mean` or `score`."""
    note: str = ""
    cases: int = 0
    """What the interval rests on; all 0 and empty for a number without one."""
    rollouts: int = 0
    clusters: int = 0
    method: str = ""
    """How the interval was made, a word of docs/statistics.md."""


class CaseRepeats(msgspec.Struct, frozen=True):
    """One case and how its rollouts ended."""

    case: str
    category: str
    passed: int
    graded: int
    rollouts: str
    """A letter for each, in order: P passed, F failed, ! broken, ? undecided, - not run."""


class Repeats(msgspec.Struct, frozen=True):
    """What repeats of the same cases say."""

    metrics: tuple[Metric, ...]
    """pass@k and pass^k, for every k."""
    flaky: tuple[CaseRepeats, ...]
    """Cases that passed in some rollouts and failed in others."""
    within_share: float | None = None
    """What part of the variance of one rollout is sampling; None when too few cases were repeated."""
    error: float = 0.0
    """Standard error of the rate as played, and what it would be with twice the cases or twice the rollouts."""
    error_of_twice_the_cases: float = 0.0
    error_of_twice_the_rollouts: float = 0.0


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """Aggregated metrics of a run; the first is the headline."""

    metrics: tuple[Metric, ...]
    categories: dict[str, tuple[Metric, ...]] = {}
    outcomes: dict[Outcome, int] = {}
    cases: dict[str, tuple[Metric, ...]] = {}
    """By case id, where a case has numbers of its own, such as accepted answers."""
    reasons: dict[str, int] = {}
    """How rollouts ended, most frequent first, where that is more than passed and failed."""
    repeats: Repeats | None = None
    """None where no case was graded twice."""
    fault: str = ""
    """Why the suite's code could not sum the run up; there are no numbers then."""


class RoleModel(msgspec.Struct, frozen=True):
    """The model that a suite's options name for a role: an entry of models.toml, or an id with address and key."""

    model: str
    base_url: str = ""
    api_key_env: str = ""
    is_entry: bool = False
    """It must be an entry of models.toml."""
    is_default: bool = False
    """Nobody chose it: a run may take a better one that is at hand."""
    fallback: str = ""
    """Entry to take for a default whose key is missing."""


Row = dict[str, Any]
"""One line of `check`: a JSON object."""


class LineChecker(Protocol):
    """Judges the lines of one file, in order."""

    def check(self, rows: Sequence[Row]) -> Sequence[Row | UsageError]:
        """Return one answer for each row, or why that row cannot be judged; a bad row never costs another."""
        ...


@runtime_checkable
class ChecksLines(Protocol):
    """A suite with a form of its own for saved outputs; others are given `id` and `output` of a case."""

    def checks_without_data(self) -> bool:
        """Whether the lines carry all that is needed, so that `check FORMAT` works where no dataset is."""
        ...

    def line_checker(self) -> AbstractContextManager[LineChecker]:
        """Return what judges the lines of a file; it is closed at the end."""
        ...


@runtime_checkable
class ChecksMoreLines(Protocol):
    """A suite that can check other things than outputs, such as what is sent: `check NAME-KIND`."""

    def line_kinds(self) -> Mapping[str, Callable[[], AbstractContextManager[LineChecker]]]:
        """Return by kind what opens the judge of such lines."""
        ...


AFTER_REPLY = "after reply"
"""Key of what a conversation does from a reply of the model to its next call."""


class Suite:
    """A benchmark format over one dataset folder: what a benchmark offers, with a default for what it need not say.

    All methods but `play` are pure over their arguments and the dataset folder.
    """

    options: tuple[Option, ...] = ()
    """Options that a run may set; `setting.options` holds their values."""
    headline: str = ""
    """Score of each verdict by which rollouts are known in place of passing; empty: they pass or fail."""
    leaderboard: "LeaderboardRules | None" = None
    """How its models are ranked; None: as its benchmark says, else by passing or the headline."""

    def __init__(self, entry: SuiteEntry) -> None:
        """Open the suite of a folder, `entry.folder`, in which its data may lie; files are read when first needed."""
        self.entry = entry

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        """Return the roles besides `model` that a run of all cases with these options needs, such as `judge`."""
        return ()

    def roles_of(self, cases: Sequence[Case], setting: Setting) -> tuple[str, ...] | None:
        """Return which of `roles` these cases need; None: all of them."""
        return None

    def role_models(self, options: dict[str, Any]) -> dict[str, RoleModel]:
        """Return the models that options name, by role."""
        return {}

    def settle(self, options: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
        """Return the options as the manifest keeps them: checked, files read in, the chosen role models named.

        Raises:
            UsageError: an option is wrong or a file cannot be read.
        """
        return options

    def adapt(self, setting: Setting, model: "ModelConfig", mode: str | None) -> Setting:
        """Return the setting of a run with a model that the suite asks in a way of its own.

        Args:
            setting: the same for every model.
            model: as models.toml describes it.
            mode: what a person chose; None: nothing, so that the model may decide.

        Raises:
            UsageError: what models.toml says of the model is unknown here, or is not what the person chose.
        """
        return setting

    def modes(self) -> Sequence[Mode]:
        """Return the suite's own modes, the usual one first; empty: `prompt` and `fc`, as models.toml has."""
        return ()

    def categories(self) -> Sequence[Category]:
        """Return all categories of the dataset, in official order.

        Raises:
            UsageError: the data is missing or damaged; names the file and line.
        """
        raise TypeError("this suite has no `categories`")

    def category_groups(self) -> Mapping[str, Sequence[str]]:
        """Return names for several categories together, besides `Category.group`; absent categories are skipped."""
        return {}

    def category_of(self, case_id: str) -> str | None:
        """Return the category that a case of this id must be in, so that a few ids do not cost reading everything.

        Whether there is such a case does not matter. None: the id does not tell.
        """
        return None

    def cases(self, categories: Sequence[str], setting: Setting) -> Iterable[Case]:
        """Return all cases in official order, complete with ground truth; the caller selects among them.

        Args:
            categories: at least the cases of these are wanted, with those they depend on; empty: of all categories.
            setting: how the run is played.

        Raises:
            UsageError: damaged data.
        """
        raise TypeError("this suite has no `cases`")

    def row_schema(self) -> dict[str, Any] | None:
        """Return the JSON schema of a row, for editors; None: rows have no form of their own."""
        return None

    def notices(self, setting: Setting) -> list[str]:
        """Return what a reader must know before a run, such as an accepted weak confinement; a sentence each."""
        return []

    def check_needs(self, cases: Sequence[Case], setting: Setting) -> None:
        """Check that everything besides models and data is here, before anything is asked and paid.

        Raises:
            UsageError: the first thing that is missing, such as weights or the key of a service, with the hint.
        """

    def embeds_here(self, cases: Sequence[Case]) -> Path | None:
        """Return the folder of the weights that the suite's own tools embed with for these cases; None: none do."""
        return None

    def estimate(self, case: Case, setting: Setting) -> Estimate | None:
        """Return expected calls and tokens of one case; None: the suite does not know, and earlier runs tell."""
        return None

    def protocols(self, setting: Setting) -> Mapping[str, Setting]:
        """Return the setting of the same run under each protocol that differs in cost, by name, the chosen one too."""
        return {}

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        """Hold the conversation and return its output: the JSON value that `score` judges."""
        raise TypeError("this suite has no `play`")

    def effect_states(self) -> Mapping[str, str]:
        """Return what watchers see during an effect, by its kind (see `Stage.perform`) and for `AFTER_REPLY`.

        Other kinds are their own word.
        """
        return {}

    def scores_slowly(self, case: Case) -> bool:
        """Return whether judging a case takes more than a millisecond, so that the engine does it in a thread.

        `score` must then bear being called from several at once. Long replies are judged there in every suite.
        """
        return False

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Judge an output. Pure, deterministic, no network; never raises for bad output."""
        raise TypeError("this suite has no `score`")

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare expected with actual for review."""
        raise TypeError("this suite has no `compare`")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Aggregate by the benchmark's own formula."""
        raise TypeError("this suite has no `report`")
