"""A run of a site: the paths of its pages, and their reading order."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from console.core.case import Slot
from console.exchange.run_reader import RunReader
from console.exchange.site.frame import Link
from console.insight.failures import Group, GroupBy, group, in_order
from console.insight.rollout import Rollout


@dataclass(slots=True)
class SiteRun:
    """A run and its path in the site."""

    reader: RunReader
    folder: str
    """Its folder in the site with a trailing slash; empty if the site shows only this run."""
    title: str = field(init=False)
    """Model and suite. Untrusted text."""
    groups: list[Group] = field(init=False)
    """All rollouts by reason, failures first."""
    order: list[Rollout] = field(init=False)
    """All rollouts in reading order."""
    failures: list[Rollout] = field(init=False)
    """Failures in reading order."""
    failure_places: list[int] = field(init=False)
    """Indices of the failures in `order`."""
    numbers: Mapping[Slot, int] = field(init=False)
    """Number of each case page, in run order."""
    places: Mapping[Slot, int] = field(init=False)
    """Index of each rollout in `order`."""

    def __post_init__(self) -> None:
        self.title = f"{self.reader.side.model} on {self.reader.folder.summary().suite_label}"
        rollouts = self.reader.ordered
        self.groups = sorted(
            group(rollouts, GroupBy.REASON), key=lambda part: not any(rollout.is_failure for rollout in part.rollouts)
        )
        self.order = list(in_order(self.groups))
        self.failures = [rollout for rollout in self.order if rollout.is_failure]
        self.failure_places = [place for place, rollout in enumerate(self.order) if rollout.is_failure]
        self.numbers = {rollout.slot: number for number, rollout in enumerate(rollouts, 1)}
        self.places = {rollout.slot: place for place, rollout in enumerate(self.order)}

    @property
    def root(self) -> str:
        """Relative path from its overview to the root of the site."""
        return "../" if self.folder else ""

    @property
    def overview(self) -> str:
        """Path of its overview from the root of the site."""
        return f"{self.folder}index.html"

    def failures_around(self, place: int) -> tuple[Rollout | None, Rollout | None]:
        """Return the failures before and after an index in reading order."""
        before, after = bisect_left(self.failure_places, place) - 1, bisect_right(self.failure_places, place)
        return (
            self.failures[before] if before >= 0 else None,
            self.failures[after] if after < len(self.failures) else None,
        )

    def case_page(self, slot: Slot) -> str:
        """Return the path of a case's page from the run's folder."""
        return f"cases/{self.numbers[slot]:05}.html"


def above(run: SiteRun, root: str, *, is_overview: bool = False) -> list[Link]:
    """Return links to the pages above; `root` is the relative path to the root of the site."""
    links = [Link("All runs", f"{root}index.html", "u" if is_overview else "")] if run.folder else []
    return links if is_overview else [*links, Link(run.title, f"{root}{run.overview}", "u")]
