"""A run: what was planned, and what is known of it so far."""

from typing import Any

import msgspec

from console.core.case import Setting
from console.core.ranges import Amount, Count, Duration, Moment
from console.core.statistics.intervals import Interval, rate_interval
from console.core.statistics.sample import Counts, Sample, sample_of_counts


class ModelFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run records of a model. Never a key."""

    name: str
    """Name in models.toml."""
    model_id: str = ""
    provider: str = "openai"
    base_url: str = ""
    """Its first address; empty: the provider's own."""
    other_urls: tuple[str, ...] = ()
    """Its further addresses."""
    simulated: bool = False
    price_in: Amount | None = None
    """USD per million input tokens; None: unknown."""
    price_out: Amount | None = None
    price_cached: Amount | None = None
    """USD per million cached input tokens; None: as other input."""
    params: dict[str, Any] = {}


class Selection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which cases of a suite; empty tuples mean all."""

    categories: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int | None = None
    seed: int | None = None
    """With a limit: draw that many at random with this seed instead of taking the first."""


class Budget(msgspec.Struct, frozen=True, omit_defaults=True):
    """Run-wide caps; None means no cap. Hitting one stops the run, resumable."""

    cost_usd: Amount | None = None
    tokens: Count | None = None
    seconds: Duration | None = None
    errors: Count | None = None


class Shard(msgspec.Struct, frozen=True):
    """One of several parts of a plan: each is played as a run of its own, and `merge` unites them."""

    number: Count
    """Which of them, from 1."""
    of: Count
    """How many there are."""

    def __str__(self) -> str:
        """Write it as on the command line."""
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
    """Planned rollouts in all (cases times rollouts)."""
    setup: Count = 0
    """Those of them that are not graded: what others build on. None are counted in runs of before this was kept."""
    dataset: dict[str, str] = {}
    """Name, version and digest of the data that was used."""
    weights: dict[str, str] = {}
    """sha256 of each file of the local embedding, where it was used."""
    versions: dict[str, str] = {}
    parent: str = ""
    """Run this one re-asks cases of."""
    name: str = ""
    headline: str = ""
    """Score that stands for a rollout in place of passing, as the suite says; empty: passing does."""
    schema: Count = 1
    format: str = ""
    """Format of the suite, as its `suite.toml` names it; `RunFolder.manifest` fills it in for runs of old versions."""
    shard: Shard | None = None
    """Which part of the plan this run plays; None: all of it."""
    merged: tuple[str, ...] = ()
    """Runs that this one unites."""

    @property
    def is_whole(self) -> bool:
        """Whether it plays a plan of its own, all of it: neither cases of another run anew, nor a part of a plan."""
        return not self.parent and self.shard is None

    @property
    def simulated(self) -> bool:
        """Whether any part of the run came from a built-in simulated model."""
        return self.model.simulated or any(model.simulated for model in self.roles.values())


class Tally(msgspec.Struct, omit_defaults=True):
    """Counts and sums over the latest attempt of every rollout; kept incrementally."""

    passed: Count = 0
    failed: Count = 0
    broken: Count = 0
    undecided: Count = 0
    not_run: Count = 0
    setup: Count = 0
    """Ended well and not graded: what others build on, such as a conversation that fills a memory."""
    running: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    cost_usd: Amount = 0.0
    cost_unknown: Count = 0
    """Rollouts, unfinished ones included, whose cost is not known; the sum is then a lower bound."""
    calls: Count = 0
    retries: Count = 0
    cases: dict[int, dict[int, int]] = {}
    """How many cases have so many graded rollouts (first key), of which so many passed (second key)."""
    clustered: dict[int, dict[int, int]] = {}
    """The same of those cases that name a cluster."""
    clusters: dict[int, dict[float, int]] = {}
    """How many clusters have so many graded cases (first key), whose rates sum up to this (second key)."""

    def copy(self) -> "Tally":
        """Return the counts as they are now, which no further record changes."""
        cases, clustered, clusters = (
            {first: dict(inner) for first, inner in counts.items()}
            for counts in (self.cases, self.clustered, self.clusters)
        )
        return msgspec.structs.replace(self, cases=cases, clustered=clustered, clusters=clusters)

    @property
    def counts(self) -> Counts:
        """The graded cases and their clusters; tallies of before they were counted hold cases that were played once."""
        return Counts(self.cases or {1: {0: self.failed, 1: self.passed}}, self.clustered, self.clusters)

    @property
    def sample(self) -> Sample:
        """What an interval rests on."""
        return sample_of_counts(self.counts)

    @property
    def rate(self) -> Interval | None:
        """The share that passed, cases weighing the same, with its interval; None when nothing is graded."""
        return rate_interval(self.sample)

    @property
    def graded(self) -> int:
        """Rollouts that enter the score."""
        return self.passed + self.failed

    @property
    def finished(self) -> int:
        """Rollouts that ended in any way."""
        return self.graded + self.setup + self.broken + self.undecided


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
    """`queued`, `starting`, `running`, `interrupted`, `completed`, `stopped`, `budget`, `halted`."""
    scores: dict[str, Amount] = {}
    headline: str = ""
    """As in the manifest."""
    score_interval: Interval | None = None
    """The mean of that score with its interval over cases; None without repeats."""
    reasons: dict[str, Count] = {}
    cut: dict[str, Count] = {}
    """How many rollouts' last reply was ended by `length` or `content_filter`, not by the model."""
    served: dict[str, Count] = {}
    """How many rollouts' last reply came from a model that the server gave this name."""
    categories: dict[str, Tally] = {}
    updated: Moment = 0.0
    seconds: Duration = 0.0
    damaged: Count = 0
    """Journal lines that could not be read."""
    damaged_lines: list[int] = []
    """The first of them, by number from 1."""
    altered: str = ""
    """What the journal shows to have been changed by others than its engine since it was summed up before."""
    message: str = ""
    """Why the run halted, if it did."""
    journal_bytes: Count = 0
    """Journal size this summary was derived from; another size means stale."""
    journal_checksum: int | None = None
    """crc32 of these bytes; None: written by an earlier version, so stale."""
    journal_ns: int = 0
    """When the journal was modified last, in nanoseconds since 1970; another time means that the checksum decides."""
    format: str = ""
    """Format of the suite, from the manifest."""
    category: str = ""
    """The only category that was selected; empty: several, or all there are."""
    lost: Count = 0
    """How often a worker was lost in a conversation; another went on with it."""
    name: str = ""
    """What somebody called it."""
    setup: Count = 0
    """Planned rollouts that are not graded."""
    parent: str = ""
    """The run that it is a branch of."""
    checksum: int = 0
    """crc32 of this summary as JSON without this field; in summary.json only."""

    def damages(self) -> list[str]:
        """Say what is wrong with the journal that this was derived from."""
        numbers = ", ".join(map(str, self.damaged_lines)) + (", …" if self.damaged > len(self.damaged_lines) else "")
        plural = "s were" if self.damaged > 1 else " was"
        skipped = [f"{self.damaged} damaged journal line{plural} skipped: {numbers}"] if self.damaged else []
        return [*([self.altered] if self.altered else []), *skipped]
