"""`Entry`: one BFCL entry with functions and ground truth."""

from typing import Any, cast

import msgspec

from console.benchmarks.bfcl.rules import categories as names
from console.core.case import Case
from console.core.chat import Message
from console.core.media import content_text
from console.core.ready_type import ready_type


class Schema(msgspec.Struct, frozen=True):
    """Fields of a parameter's schema that prompts, tools or rules use; for validation only, like all types here."""

    type: str = "string"
    description: str = ""
    properties: dict[str, "Schema"] = {}
    items: "Schema | None" = None
    required: list[str] = []
    enum: list[Any] = []


class Parameters(msgspec.Struct, frozen=True):
    """Required fields of the parameters of a function."""

    properties: dict[str, Schema]
    type: str = "dict"
    required: list[str] = []


class FunctionDoc(msgspec.Struct, frozen=True):
    """Required fields of a function document."""

    name: str
    parameters: Parameters
    description: str = ""


class SpokenLine(msgspec.Struct, frozen=True):
    """Required fields of a message."""

    role: str
    content: str


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry in the official format, with the id of its category and the original function documents."""

    id: str
    category: str
    question: list[list[Message]]
    """Turns of messages; exactly one turn in single-turn categories."""
    function: list[dict[str, Any]] = []
    """Documents without language hints; empty for simulators, whose documents are read when played."""
    ground_truth: list[Any] | None = None
    """Ground truth; None for relevance, irrelevance and memory prerequisites."""
    config: str = ""
    """Format sensitivity: name of the prompt variation."""
    source_id: str = ""
    """Format sensitivity: id of the original entry."""
    involved_classes: list[str] = []
    initial_config: dict[str, Any] = {}
    missed_function: dict[str, list[str]] = {}
    """Names of withheld functions by the turn that adds them (number as a string)."""
    scenario: str = ""
    depends_on: list[str] = []
    group: str = ""
    """Cluster of dependent entries in a user's dataset."""

    @property
    def cluster(self) -> str:
        """Cluster of dependent entries: variations of one entry, or live entries with the same function documents.

        A live id ends in `<index>-<function documents>-<prompt>`.
        """
        if self.source_id or self.group:
            return self.source_id or self.group
        _, *parts = self.id.split("-")
        return f"functions {parts[0]}" if self.category in names.LIVE and len(parts) == 2 else ""

    @property
    def judged_as(self) -> str:
        """The id or category that determines the official rules."""
        return self.source_id or self.category

    @property
    def title(self) -> str:
        """The first user message, for lists."""
        lines = [message for turn in self.question for message in turn if message["role"] == "user"]
        return " ".join(content_text(lines[0].get("content")).split())[:200] if lines else ""

    def with_functions(self, docs: list[dict[str, Any]]) -> "Entry":
        """Return the entry with other function documents."""
        return msgspec.structs.replace(self, function=docs)

    def case(self, wording: str = "") -> Case:
        """Convert the entry to a case; `wording` is the name of its prompt texts."""
        data = cast(dict[str, Any], msgspec.to_builtins(self)) | {"wording": wording}
        return Case(
            id=self.id,
            category=self.category,
            data=data,
            title=self.title,
            depends_on=tuple(self.depends_on),
            graded=not names.is_prerequisite(self.id),
            cluster=self.cluster,
        )


def entry_of(case: Case) -> Entry:
    """Return the entry of a case."""
    return msgspec.convert(case.data, ready_type(Entry))
