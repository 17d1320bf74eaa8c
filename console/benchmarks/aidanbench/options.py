"""Options of a run: the reference environment's arguments with its defaults, and ours.

Errors that the reference ignores are rejected before the first paid call: unknown names, missing question files, empty
lists. Partial thresholds are completed with the defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from console.benchmarks.aidanbench.conversation.prompts import ENVIRONMENT, ORIGINAL
from console.benchmarks.aidanbench.rules.acceptance import Rule, Thresholds
from console.config.endpoint_address import address_mistake
from console.core.fault import UsageError
from console.core.ranges import LARGEST_COUNT
from console.core.suggestion import suggest
from console.suites.options import read_values
from console.suites.stage import JUDGE_REPEATS, MOST_JUDGE_REPEATS
from console.suites.suite import Option

ENVIRONMENT_TURNS = 20
JUDGE_MODEL = "o1-mini"
EMBEDDING_MODEL = "text-embedding-3-large"
API = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
ORIGINAL_SAMPLING = {"temperature": 0.7, "max_tokens": 4000}
"""Parameters that the original program always sends, regardless of its command line."""
ORIGINAL_JUDGING = {"temperature": 0}

OPTIONS = (
    Option(
        "protocol",
        "choice",
        ENVIRONMENT,
        "environment: growing chat, at most 20 turns, about 17 calls and 107,000 input tokens a loop; "
        "original: one message a turn, no cap, about 27 calls and 33,000 input tokens a loop",
        (ENVIRONMENT, ORIGINAL),
    ),
    Option("questions", "json", None, "your own questions instead of the suite's: a list of strings"),
    Option("questions_path", "text", None, "file with your own questions: a JSON list, or one per line"),
    Option(
        "dataset", "text", None, "dataset with a `question` field: a local file (jsonl, json, csv, parquet) or hub name"
    ),
    Option("dataset_split", "text", "train", "split of a hub dataset"),
    Option("num_questions", "int", None, "only the first N questions"),
    Option("reward_mode", "choice", "count", "count accepted answers, or sum their novelty", ("count", "novelty_sum")),
    Option("thresholds", "json", dict(Thresholds()._asdict()), "scores must exceed these; missing ones are completed"),
    Option("use_llm_similarity", "bool", False, "also ask the judge how similar the answer is to each earlier one"),
    Option("max_turns", "int", None, "maximum number of rounds; empty: 20 for environment, none for original; 0: none"),
    Option("temperature", "float", None, "of the model; empty: as the protocol prescribes, else as in models.toml"),
    Option("max_tokens", "int", None, "maximum length of an answer; empty: as above"),
    Option("judge_model", "text", JUDGE_MODEL, "judge: a name in models.toml, or a model id at the address below"),
    Option("judge_api_base_url", "text", API, "address of that judge"),
    Option("judge_api_key_var", "text", KEY, "environment variable with its key"),
    Option(
        "second_judge_model", "text", None, "second judge of every answer, without effect on the verdict; empty: none"
    ),
    Option(
        JUDGE_REPEATS,
        "int",
        1,
        "how often the judge grades each answer; the first grade counts, the others show its noise",
    ),
    Option("embedding_model", "text", EMBEDDING_MODEL, "embeddings: a name in models.toml, or a model id as above"),
    Option("embedding_api_base_url", "text", API, "address of that model"),
    Option("embedding_api_key_var", "text", KEY, "environment variable with its key"),
    Option(
        "strict_compat", "bool", False, "treat unreadable judge replies like the reference: 0, without asking again"
    ),
    Option(
        "sampling",
        "choice",
        "protocol",
        "protocol: what the protocol prescribes (original: temperature 0.7, 4000 tokens); model: as in models.toml",
        ("protocol", "model"),
    ),
)
_SOURCES = ("dataset", "questions", "questions_path")
_BOUNDS = {
    "num_questions": (1, None),
    "max_turns": (0, None),
    "max_tokens": (1, None),
    "temperature": (0, None),
    JUDGE_REPEATS: (1, MOST_JUDGE_REPEATS),
}


@dataclass(frozen=True, slots=True)
class AidanOptions:
    """Validated options of a run."""

    values: Mapping[str, Any]
    thresholds: Thresholds
    max_turns: int | None
    """None for no cap."""

    @property
    def protocol(self) -> str:
        """`environment` or `original`."""
        return self.values["protocol"]

    @property
    def strict_compat(self) -> bool:
        """True to reproduce the reference even where it errs."""
        return self.values["strict_compat"]

    @property
    def has_second_judge(self) -> bool:
        """True if a second judge grades every answer as well."""
        return bool(self.values["second_judge_model"])

    @property
    def judge_repeats(self) -> int:
        """Number of times the judge grades each answer."""
        return self.values[JUDGE_REPEATS]

    @property
    def use_llm_similarity(self) -> bool:
        """True if the judge also compares answers."""
        return self.values["use_llm_similarity"]

    @property
    def reward_mode(self) -> str:
        """`count` or `novelty_sum`."""
        return self.values["reward_mode"]

    @property
    def rule(self) -> Rule:
        """Stop rule; in the original program a novelty equal to its threshold passes."""
        return Rule(self.thresholds, self.use_llm_similarity, tie_passes=self.protocol == ORIGINAL)

    @property
    def model_params(self) -> dict[str, Any] | None:
        """Additional parameters of requests to the model."""
        params = dict(ORIGINAL_SAMPLING) if self._prescribes else {}
        params |= {name: self.values[name] for name in ORIGINAL_SAMPLING if self.values[name] is not None}
        return params or None

    @property
    def judge_params(self) -> dict[str, Any] | None:
        """Additional parameters of requests to the judge."""
        return dict(ORIGINAL_JUDGING) if self._prescribes else None

    @property
    def _prescribes(self) -> bool:
        return self.protocol == ORIGINAL and self.values["sampling"] == "protocol"


def read_options(options: Mapping[str, Any]) -> AidanOptions:
    """Validate options and fill in the defaults.

    Raises:
        UsageError: an unknown name (suggests the nearest), or a value of the wrong type, out of range or contradictory.
    """
    names = [option.name for option in OPTIONS]
    for name in options:
        if name not in names:
            raise _unknown("option", name, names)
    values = read_values(OPTIONS, options, _BOUNDS)
    _check_addresses(values)
    _check_sources(values)
    return AidanOptions(values, read_thresholds(values["thresholds"]), _turns(values))


def read_thresholds(thresholds: object) -> Thresholds:
    """Complete thresholds with the defaults 15, 0.15 and 0.15.

    Raises:
        UsageError: not a table, an unknown name, or not a finite number.
    """
    if not isinstance(thresholds, dict):
        raise UsageError(f"thresholds must be a table of names and numbers, not {thresholds!r}", where="thresholds")
    table = cast(dict[str, object], thresholds)
    numbers: dict[str, float] = {}
    for name, value in table.items():
        if name not in Thresholds._fields:
            raise _unknown("threshold", name, list(Thresholds._fields))
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_COUNT:
            raise UsageError("must be a number between -2^53 and 2^53", where=f"thresholds.{name}")
        numbers[name] = value
    return Thresholds(**{**Thresholds()._asdict(), **numbers})


def _check_addresses(values: Mapping[str, Any]) -> None:
    for name in ("judge_model", "embedding_model", "judge_api_base_url", "embedding_api_base_url"):
        if not values[name].strip():
            raise UsageError("must not be empty", where=name)
        if name.endswith("_url") and (mistake := address_mistake(values[name])):
            raise UsageError(mistake, where=name)


def _check_sources(values: Mapping[str, Any]) -> None:
    sources = [name for name in _SOURCES if values[name] is not None]
    if len(sources) > 1:
        raise UsageError(
            f"{' and '.join(sources)} cannot be combined", where=sources[-1], hint="Give only one of them."
        )


def _turns(values: Mapping[str, Any]) -> int | None:
    if values["max_turns"] is None:
        return ENVIRONMENT_TURNS if values["protocol"] == ENVIRONMENT else None
    return values["max_turns"] or None


def _unknown(kind: str, name: str, names: list[str]) -> UsageError:
    hint = suggest(name, names, f"Known: {', '.join(names)}.")
    return UsageError(f"unknown {kind} {name!r}", where=f"{kind}s", hint=hint)
