"""Options of τ²-bench runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.benchmarks.tau2.conversation.talk import Limits
from console.benchmarks.tau2.data.editions import CHECKOUT, WHEEL
from console.benchmarks.tau2.data.prompts import GROUND_TRUTH, MANUAL, MODEL, SOLO, WORKFLOW
from console.suites.options import read_values
from console.suites.suite import Option

SPLITS = ("base", "train", "test", "small", "full")
NEWEST = "newest"
OWN = "own"
EDITIONS = (OWN, CHECKOUT, WHEEL)
_AGENTS = "solo: telecom without a user, by a ticket; ground_truth: told the expected calls, to test the user"
OPTIONS = (
    Option(
        "edition", "choice", NEWEST, "edition of the data; newest: the newest pulled one", (NEWEST, CHECKOUT, WHEEL)
    ),
    Option("criteria", "choice", OWN, "edition of the expected calls and words; own: that of the tasks", EDITIONS),
    Option("split", "choice", "base", "tasks; base is that of the leaderboard, small and full only in telecom", SPLITS),
    Option("max_steps", "int", 200, "messages and rounds of tool results after which a conversation fails"),
    Option("max_errors", "int", 10, "tool errors after which a conversation fails"),
    Option("protocol", "bool", False, "end a conversation at a message with both text and calls"),
    Option("agent", "choice", MODEL, _AGENTS, (MODEL, SOLO, GROUND_TRUTH)),
    Option(
        "telecom_policy",
        "choice",
        MANUAL,
        "technical manual of telecom; manual is that of the leaderboard",
        (MANUAL, WORKFLOW),
    ),
    Option("official_calls", "bool", False, "send the name of an earlier call twice, as the original does"),
)


@dataclass(frozen=True, slots=True)
class Tau2Options:
    """Validated options."""

    limits: Limits
    policy: str
    agent: str
    official_calls: bool
    edition: str = ""
    """Edition of the data; empty for the newest."""
    split: str = "base"
    criteria: str = OWN
    """Edition of the criteria; own: that of the tasks."""

    @property
    def differs(self) -> list[str]:
        """Options that make results incomparable with published ones."""
        usual = Limits()
        own = {
            f"split {self.split}": self.split != "base",
            f"criteria {self.criteria}": self.criteria not in (OWN, self.edition),
            "other limits": (self.limits.max_steps, self.limits.max_errors) != (usual.max_steps, usual.max_errors),
            "protocol": self.limits.validate,
            f"agent {self.agent}": self.agent != MODEL,
            "telecom_policy": self.policy != MANUAL,
        }
        return [name for name, is_other in own.items() if is_other]


def read_options(options: Mapping[str, Any]) -> Tau2Options:
    """Validate the options of a run.

    Raises:
        UsageError: an invalid value.
    """
    values = read_values(OPTIONS, options, {"max_steps": (1, 10_000), "max_errors": (1, 10_000)})
    limits = Limits(values["max_steps"], values["max_errors"], values["protocol"], values["agent"] == SOLO)
    edition = "" if values["edition"] == NEWEST else values["edition"]
    policy, agent, official_calls = values["telecom_policy"], values["agent"], values["official_calls"]
    return Tau2Options(limits, policy, agent, official_calls, edition, values["split"], values["criteria"])
