"""A run: its plan, and the numbers derived from it so far."""

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from console.core.case import Setting
from console.core.experiment import Experiment
from console.core.grader import Grader
from console.core.looks import Look, LookPlan
from console.core.price import Price
from console.core.ranges import Amount, Count, Duration, Moment
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Counts, Sample, sample_of_counts

COUNTING = 3
"""Version of the rules by which records are counted; what was derived by other rules is derived again."""
SIMULATED = "simulated"
RECORDED = "recorded"
"""Format of runs imported from other tools; it has no dataset folders and accepts any suite name."""


class ModelFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Facts that a run records about a model. Never a key."""

    name: str
    """Name in models.toml."""
    model_id: str = ""
    provider: str = "openai"
    base_url: str = ""
    """First address; empty for the provider's default."""
    other_urls: tuple[str, ...] = ()
    """Additional addresses."""
    simulated: bool = False
    price_in: Amount | None = None
    """Old form of `price`, as are the two fields below."""
    price_out: Amount | None = None
    price_cached: Amount | None = None
    price_source: str = ""
    """Source of prices that are not from models.toml, such as `litellm 1.92.0`."""
    batched: str = ""
    """Terms of its batches, `half price` or `batch price`, included in the prices above; empty without batches."""
    params: dict[str, Any] = {}
    price: Price = Price()
    """All rates; for a run in batches, those of batches."""
    longest_reply: Count | None = None
    """Tokens of its longest reply, if litellm's list gives it."""

    def __post_init__(self) -> None:
        """Convert the old form of the price."""
        if self.price_in is not None:
            msgspec.structs.force_setattr(self, "price", Price(self.price_in, self.price_out, self.price_cached))
            for name in ("price_in", "price_out", "price_cached"):
                msgspec.structs.force_setattr(self, name, None)


def batch_terms(models: Iterable[ModelFacts]) -> str:
    """Return the terms of a run's batches, such as `half price`; empty if there are no batches."""
    terms = [model.batched for model in models if not model.simulated]
    named = dict.fromkeys(filter(None, terms))
    return f"{', '.join(named)}{', in part' * ('' in terms)}" if named else ""


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Selected cases of a suite; empty tuples mean all."""

    categories: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    """If there is a limit: seed for drawing that many cases at random instead of taking the first ones."""


class Budget(msgspec.Struct, frozen=True, omit_defaults=True):
    """Caps on a whole run; None means no cap. Reaching one stops the run, which can be resumed."""

    cost_usd: Amount | None = None
    tokens: Count | None = None
    seconds: Duration | None = None
    errors: Count | None = None


class Shard(msgspec.Struct, frozen=True):
    """One of several parts of a plan, each played as a run of its own and combined by `merge`."""

    number: Count
    """Number of this part, from 1."""
    of: Count
    """Number of parts."""

    def __str__(self) -> str:
        """Return the shard as written on the command line."""
        return f"{self.number}/{self.of}"


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """run.json: written once, atomically, before the first call."""

    id: str
    at: Moment
    suite: str
    model: ModelFacts
    setting: Setting
    selection: Selection = Selection()
    roles: dict[str, ModelFacts] = {}
    """Other models by role, such as judge and embedding."""
    rollouts: Count = 1
    concurrency: Count = 8
    budget: Budget = Budget()
    cases: Count = 0
    """Total number of planned rollouts (cases times rollouts)."""
    setup: Count = 0
    """Planned rollouts that are not graded (setup cases); 0 in runs from before this field."""
    dataset: dict[str, str] = {}
    """Name, version and digest of the data."""
    weights: dict[str, str] = {}
    """sha256 of each file of the local embedding model, if used."""
    versions: dict[str, str] = {}
    parent: str = ""
    """Run whose cases this one replays."""
    name: str = ""
    headline: str = ""
    """Score shown in place of the pass rate, as declared by the suite; empty for the pass rate."""
    further_headlines: tuple[str, ...] = ()
    """Scores shown next to the headline."""
    scales: dict[str, tuple[float, float]] = {}
    """Lowest and highest value by score, where known."""
    units: dict[str, str] = {}
    """Unit by score, such as `s`."""
    suite_cases: dict[str, Count] = {}
    """Cases of the whole suite by category; empty in runs from before this field."""
    schema: Count = 1
    format: str = ""
    """Format of the suite, as named in its `suite.toml`; `RunFolder.manifest` fills it in for old runs."""
    shard: Shard | None = None
    """Part of the plan this run plays; None for all of it."""
    merged: tuple[str, ...] = ()
    """Ids of the runs combined in this one."""
    looks: LookPlan | None = None
    """Plan of the looks while it plays; None in runs that were imported, merged, or written before this field."""
    grader: Grader | None = None
    """Identity of the grader; None in imported runs and in runs from before this field."""
    regraded: str = ""
    """Run whose conversations this one grades again."""
    asked_anew: tuple[str, ...] = ()
    """Roles whose answers are not taken from that run."""
    judge_repeats: Count = 1
    """Number of gradings of each conversation, stored as consecutive rollouts."""
    experiment: Experiment | None = None
    """The change made in its parent's conversations, or in all of its own; None if there is none."""

    @property
    def headline_scale(self) -> tuple[float, float] | None:
        """Lowest and highest value of the headline score; None if unknown."""
        return self.scales.get(self.headline)

    def scale_of(self, score: str) -> tuple[float, float]:
        """Return the largest possible difference in a score (empty name: the pass rate); infinite if unknown."""
        return self.scales.get(score, (-math.inf, math.inf)) if score else (0.0, 1.0)

    def largest_change(self, score: str) -> float:
        """Return the largest difference between two values of a score, or of pass rates; infinite if unknown."""
        least, most = self.scale_of(score)
        return most - least

    @property
    def category(self) -> str:
        """The only selected category; empty if several or all are selected."""
        return self.selection.categories[0] if len(self.selection.categories) == 1 else ""

    @property
    def is_whole(self) -> bool:
        """True for a complete and unchanged plan of the suite, unlike a replay of another run's cases or a shard."""
        return not self.parent and self.shard is None and self.experiment is None

    @property
    def truths(self) -> str:
        """Digest of the selected cases; empty if unknown."""
        return self.grader.truths if self.grader is not None else ""

    @property
    def is_batched(self) -> bool:
        """True if a role is called through a batch API."""
        return any(model.batched for model in (self.model, *self.roles.values()))

    @property
    def most_in_flight(self) -> int:
        """Maximum number of rollouts in flight."""
        return max(1, min(self.concurrency, self.cases or self.concurrency))

    @property
    def simulated(self) -> bool:
        """True if any part of the run came from a built-in simulated model."""
        return bool(self.simulated_note)

    @property
    def simulated_note(self) -> str:
        """`simulated` for a simulated model under test, else the simulated roles (`judge simulated`); may be empty."""
        if self.model.simulated:
            return SIMULATED
        roles = " and ".join(role for role, model in self.roles.items() if model.simulated)
        return f"{roles} {SIMULATED}" if roles else ""


def simulated_note_of(notes: Iterable[str]) -> str:
    """Return the note on several runs: `simulated` if a model under test is, else the simulated roles; may be empty."""
    distinct = list(dict.fromkeys(filter(None, notes)))
    return SIMULATED if SIMULATED in distinct else "; ".join(distinct)


class Tally(msgspec.Struct, omit_defaults=True):
    """Counts over the attempt of every rollout that counts, and sums over all attempts, maintained incrementally."""

    passed: Count = 0
    failed: Count = 0
    broken: Count = 0
    undecided: Count = 0
    not_run: Count = 0
    setup: Count = 0
    """Setup rollouts that ended well, such as conversations that fill a memory; not graded."""
    broken_setup: Count = 0
    """Setup rollouts that broke or are undecided; not among the broken and undecided ones."""
    given_up_setup: Count = 0
    """Setup rollouts that were not run; not among the others."""
    running: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: Amount = 0.0
    cost_unknown: Count = 0
    """Number of rollouts with unknown cost, including unfinished ones; the sum is then a lower bound."""
    calls: Count = 0
    retries: Count = 0
    rate_limits: Count = 0
    """Retries due to rate limits (429)."""
    cases: dict[int, dict[int, int]] = {}
    """Number of cases by graded rollouts (first key) and passed rollouts (second key)."""
    clustered: dict[int, dict[int, int]] = {}
    """Like `cases`, for cases that belong to a cluster."""
    clusters: dict[int, dict[float, int]] = {}
    """Number of clusters by graded cases (first key) and sum of their pass rates (second key)."""

    def copy(self) -> "Tally":
        """Return a copy that later records do not change."""
        cases, clustered, clusters = (
            {first: dict(inner) for first, inner in counts.items()}
            for counts in (self.cases, self.clustered, self.clusters)
        )
        return msgspec.structs.replace(self, cases=cases, clustered=clustered, clusters=clusters)

    @property
    def counts(self) -> Counts:
        """Graded cases and clusters; in old tallies without case counts, every case was played once."""
        return Counts(self.cases or {1: {0: self.failed, 1: self.passed}}, self.clustered, self.clusters)

    @property
    def sample(self) -> Sample:
        """Sample behind the intervals."""
        return sample_of_counts(self.counts)

    @property
    def rate(self) -> Interval | None:
        """Pass rate with its interval, with equal weight per case; None if nothing is graded."""
        return rate_interval(self.sample)

    @property
    def graded(self) -> int:
        """Number of rollouts that enter the score."""
        return self.passed + self.failed

    @property
    def unsuccessful(self) -> int:
        """Number of rollouts to review; not for display, because broken ones are not failures of the model."""
        return self.failed + self.broken + self.undecided + self.broken_setup

    @property
    def setup_done(self) -> int:
        """Number of setup rollouts that ended, or were given up."""
        return self.setup + self.broken_setup + self.given_up_setup

    @property
    def done(self) -> int:
        """Number of graded rollouts that ended, or were given up."""
        return self.graded + self.broken + self.undecided + self.not_run

    @property
    def finished(self) -> int:
        """Number of rollouts that ended, with any outcome."""
        return self.passed + self.setup + self.unsuccessful


class Summary(msgspec.Struct, omit_defaults=True):
    """summary.json: derived from the journal, rebuilt at any time."""

    id: str
    at: Moment
    suite: str
    model: str
    simulated: bool
    planned: Count
    tally: Tally
    state: str
    """`queued`, `starting`, `running`, `interrupted`, `completed`, `decided`, `stopped`, `budget`, `halted`."""
    scores: dict[str, Amount] = {}
    headline: str = ""
    """Same as in the manifest, as are the three fields below."""
    further_headlines: tuple[str, ...] = ()
    units: dict[str, str] = {}
    suite_cases: dict[str, Count] = {}
    score_interval: Interval | None = None
    """Mean of the headline score with its interval over cases; None if there are no repeats."""
    reasons: dict[str, Count] = {}
    """Rollouts by `core.tally.group_reason`."""
    cut: dict[str, Count] = {}
    """Rollouts whose last reply was cut off, by reason: `length` or `content_filter`."""
    served: dict[str, Count] = {}
    """Rollouts by the model name that the server gave for the last reply."""
    servers: dict[str, Count] = {}
    """Rollouts by provider and fingerprint of the server."""
    written: dict[str, Count] = {}
    """Rollouts by symptom of a misconfigured server (`core.symptoms`); only failed ones for a call written as text."""
    offered: Count = 0
    """Conversations in which the model was offered tools."""
    called: Count = 0
    """Replies of the model with a native call."""
    categories: dict[str, Tally] = {}
    updated: Moment = 0.0
    seconds: Duration = 0.0
    seconds_per_rollout: Duration = 0.0
    """Recent time between the endings of two rollouts of a live run; 0 if unknown."""
    damaged: Count = 0
    """Number of unreadable journal lines."""
    damaged_lines: list[int] = []
    """Numbers of the first such lines, from 1."""
    altered: str = ""
    """Description of changes made to the journal since the last summary by programs other than its engine."""
    message: str = ""
    """Reason for a halt; empty otherwise."""
    batch_terms: str = ""
    """Terms of its batches, such as `half price`; empty if there are no batches."""
    batches: str = ""
    """Batches that have not ended, as text, such as `batch of 1,200 submitted Thu 14:02 · 340 done`."""
    journal_bytes: Count = 0
    """Journal size this summary was derived from; any other size means stale."""
    journal_checksum: int | None = None
    """crc32 of those bytes; None in summaries of earlier versions, which are stale."""
    journal_ns: int = 0
    """Modification time of the journal in nanoseconds since 1970; if it differs, the checksum decides."""
    format: str = ""
    """Format of the suite, from the manifest."""
    category: str = ""
    """Same as in the manifest."""
    lost: Count = 0
    """Number of times a worker was lost during a conversation that another worker continued."""
    name: str = ""
    """Name given by the user."""
    setup: Count = 0
    """Planned rollouts that are not graded."""
    simulated_note: str = ""
    """The simulated parts, as in the manifest."""
    parent: str = ""
    """Run this one is a branch of."""
    grader: Grader | None = None
    """Same as in the manifest, as are the two fields below."""
    regraded: str = ""
    judge_repeats: Count = 1
    note: str = ""
    """A reader's note on the run; this field and the two below are never in summary.json."""
    pinned: bool = False
    """True if a reader wants it at the top of lists."""
    archived: bool = False
    """True if its journal is compressed and the run omitted from lists."""
    look: Look | None = None
    """Newest look at the whole run; None before the first."""
    is_shown_by_look: bool = False
    """True if the newest look determines its score, because conversations that finish first are not a fair sample."""
    decision: str = ""
    """What its looks decided, if anything."""
    looks: list[Look] = []
    """All looks at a run that looks may end; empty for other runs."""
    rerolled: Count = 0
    """Rollouts that versions before this rule played again although they had been graded; the first grade counts."""
    partial_scores: dict[str, Count] = {}
    """Number of graded rollouts that have each score, for scores that some of them lack."""
    counting: Count = 0
    """`COUNTING` when it was saved; in summary.json only."""
    checksum: int = 0
    """crc32 of this summary as JSON without this field; in summary.json only."""

    @property
    def can_resume(self) -> bool:
        """True if it ended early and can be played."""
        return self.state in ("interrupted", "stopped", "budget", "halted") and self.format != RECORDED

    @property
    def planned_cases(self) -> int:
        """Planned rollouts that are graded."""
        return max(self.planned - self.setup, 0)

    @property
    def left(self) -> int:
        """Number of graded rollouts that have neither ended nor been given up."""
        return max(self.planned_cases - self.tally.done, 0)

    @property
    def suite_label(self) -> str:
        """Suite, with its category if there is only one; rollouts left may be of others."""
        names = [self.category] if self.category else [] if self.left else list(self.categories)
        return f"{self.suite}/{names[0]}" if len(names) == 1 and names[0] else self.suite

    def damages(self) -> list[str]:
        """Describe the defects of the journal behind this summary."""
        numbers = ", ".join(map(str, self.damaged_lines)) + (", …" if self.damaged > len(self.damaged_lines) else "")
        plural = "s were" if self.damaged > 1 else " was"
        skipped = [f"{self.damaged} damaged journal line{plural} skipped: {numbers}"] if self.damaged else []
        return [*([self.altered] if self.altered else []), *skipped]


def reroll_words(rerolled: int) -> str:
    """Say what the numbers of a run with this many re-rolled rollouts rest on; empty for none."""
    rollouts = "1 graded rollout was" if rerolled == 1 else f"{rerolled:,} graded rollouts were"
    return f"{rollouts} played again; the first grade counts" if rerolled else ""
