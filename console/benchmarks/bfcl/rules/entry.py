"""One BFCL entry with its ground truth: what is asked, with which functions, and what counts as right."""

from typing import Any, cast

import msgspec

from console.benchmarks.bfcl.rules import categories as names
from console.core.case import Case
from console.core.chat import Message


class FunctionDoc(msgspec.Struct, frozen=True):
    """The parts of a function document that must be there; checked when a file is read, then dropped."""

    name: str
    parameters: dict[str, Any]
    description: str = ""


class SpokenLine(msgspec.Struct, frozen=True):
    """The parts of a message that must be there."""

    role: str
    content: str


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One entry in the official form, ids of its category filled in, function documents untouched."""

    id: str
    category: str
    question: list[list[Message]]
    """Turns of messages; exactly one turn in single-turn categories."""
    function: list[dict[str, Any]] = []
    """Original documents, without language hints. Empty for simulators, whose documents are read when played."""
    ground_truth: list[Any] | None = None
    """None where the category has none (relevance, irrelevance, memory prerequisites)."""
    config: str = ""
    """Format sensitivity: the text that names the prompt variation."""
    source_id: str = ""
    """Format sensitivity: the entry that is varied."""
    involved_classes: list[str] = []
    initial_config: dict[str, Any] = {}
    missed_function: dict[str, list[str]] = {}
    """Turn (as text) to names of functions that are withheld until that turn."""
    scenario: str = ""
    depends_on: list[str] = []
    group: str = ""
    """What an entry of a user's dataset shares with others of its category, such as a source text."""

    @property
    def cluster(self) -> str:
        """What it is not independent of: the entry that is varied, or the function documents that live entries share.

        A live id ends in `<index>-<function documents>-<prompt>`; prompts about the same documents go together.
        """
        if self.source_id or self.group:
            return self.source_id or self.group
        _, *parts = self.id.split("-")
        return f"functions {parts[0]}" if self.category in names.LIVE and len(parts) == 2 else ""

    @property
    def judged_as(self) -> str:
        """The id or category by whose name the official rules are chosen."""
        return self.source_id or self.category

    @property
    def title(self) -> str:
        """The first user message, for lists."""
        lines = [message for turn in self.question for message in turn if message["role"] == "user"]
        return " ".join((lines[0].get("content") or "").split())[:200] if lines else ""

    def with_functions(self, docs: list[dict[str, Any]]) -> "Entry":
        """Return the entry with other function documents."""
        return msgspec.structs.replace(self, function=docs)

    def case(self, wording: str = "") -> Case:
        """Return the entry as a case of ours; `wording` names the texts that will surround the question."""
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
    """Return the entry that a case holds."""
    return msgspec.convert(case.data, Entry)
