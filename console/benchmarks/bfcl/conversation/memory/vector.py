"""The memory backend `vector`: numbered strings with semantic search.

Strings are embedded only for searches, so the content never depends on an embedding. Scores are single-precision inner
products of unit vectors. Ties are ordered like in the official index, which keeps the best results in a heap: the last
one inserted comes first, and a better one replaces the first one inserted.
"""

import heapq
import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

Answer = dict[str, Any]
Embed = Callable[[Sequence[str]], list[list[float]]]


@dataclass(slots=True)
class NumberedTexts:
    """One store with its limits."""

    most: int
    longest: int
    embed: Embed
    texts: dict[int, str] = field(default_factory=dict[int, str])
    next_id: int = 0
    order: list[int] = field(default_factory=list[int])
    """Ids in the order of insertion into the index; an update reinserts."""

    def add(self, text: Any) -> Answer:
        """Add a string under the next id."""
        if len(text) > self.longest:
            return self._too_long()
        if len(self.texts) >= self.most:
            return {"error": f"Memory size exceeds maximum size of {self.most} entries."}
        number = self.next_id
        self.next_id += 1
        self.texts[number] = _only_text(text)
        self.order.append(number)
        return {"id": number}

    def remove(self, number: Any) -> Answer:
        if number not in self.texts:
            return _absent(number)
        del self.texts[number]
        self.order.remove(number)
        return {"status": f"ID {number} removed from store."}

    def update(self, number: Any, text: Any) -> Answer:
        """Replace the string under an existing id."""
        if number not in self.texts:
            return _absent(number)
        if len(text) > self.longest:
            return self._too_long()
        self.texts[number] = _only_text(text)
        self.order.append(self.order.pop(self.order.index(number)))
        return {"status": f"ID {number} updated."}

    def clear(self) -> Answer:
        """Remove everything and restart ids at 0."""
        self.texts, self.next_id, self.order = {}, 0, []
        return {"status": "Memory cleared."}

    def retrieve(self, query: Any, top_k: Any) -> Answer:
        """Return the strings most similar to a query, best first."""
        if not self.texts:
            return {"result": []}
        most = min(top_k, len(self.texts))
        if isinstance(most, bool):
            raise TypeError("an integer is required")
        if operator.index(most) <= 0:
            raise AssertionError
        query_vector, *vectors = self.embed([_first_text(query), *(self.texts[number] for number in self.order)])
        best: list[tuple[float, int]] = []
        for index, vector in enumerate(vectors):
            score = _product(query_vector, vector)
            if len(best) < most:
                heapq.heappush(best, (score, index))
            elif best[0][0] < score:
                heapq.heapreplace(best, (score, index))
        nearest = [(score, self.order[index]) for score, index in sorted(best, reverse=True)]
        return {
            "result": [
                {"id": number, "similarity_score": score, "text": self.texts[number]} for score, number in nearest
            ]
        }

    def retrieve_all(self) -> Answer:
        """Return everything in insertion order."""
        return {"result": [{"id": number, "text": text} for number, text in self.texts.items()]}

    def load(self, snapshot: dict[str, Any]) -> None:
        self.next_id = int(snapshot.get("next_id", 0))
        stored = cast(dict[str, str], snapshot.get("store", {}))
        self.texts = {int(number): text for number, text in stored.items()}
        self.order = sorted(self.texts)

    @property
    def snapshot(self) -> dict[str, Any]:
        """Content in the official format."""
        return {"next_id": self.next_id, "store": {str(number): text for number, text in self.texts.items()}}

    def _too_long(self) -> Answer:
        return {"error": f"Entry length exceeds maximum length of {self.longest} characters."}


def _absent(number: Any) -> Answer:
    return {"error": f"ID {number} not present in store."}


def _only_text(value: Any) -> str:
    """Check that a value is a string; models see the error."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value


def _first_text(query: Any) -> str:
    """Return the query, or the first item of a list."""
    texts = cast(list[Any], query) if isinstance(query, list) else []
    return _only_text(texts[0] if texts else query)


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    exact = sum(a * b for a, b in zip(left, right, strict=True))
    return struct.unpack("<f", struct.pack("<f", exact))[0]


# Models see the class name in Python's error messages about arguments.
class MemoryAPI_vector:
    """The functions that models can call: six each for the core memory and the archive."""

    def __init__(self, embed: Embed) -> None:
        """Create empty stores; `embed` returns unit vectors for texts."""
        self._core = NumberedTexts(most=7, longest=300, embed=embed)
        self._archive = NumberedTexts(most=50, longest=2000, embed=embed)

    def _load_scenario(self, snapshot: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._core.load(snapshot.get("core_memory", {}))
        self._archive.load(snapshot.get("archival_memory", {}))

    @property
    def snapshot(self) -> dict[str, Any]:
        """Content in the official format."""
        return {"core_memory": self._core.snapshot, "archival_memory": self._archive.snapshot}

    def core_memory_add(self, text: Any) -> Answer:
        return self._core.add(text)

    def core_memory_remove(self, vec_id: Any) -> Answer:
        return self._core.remove(vec_id)

    def core_memory_update(self, vec_id: Any, new_text: Any) -> Answer:
        return self._core.update(vec_id, new_text)

    def core_memory_clear(self) -> Answer:
        return self._core.clear()

    def core_memory_retrieve(self, query: Any, top_k: Any = 5) -> Answer:
        return self._core.retrieve(query, top_k)

    def core_memory_retrieve_all(self) -> Answer:
        return self._core.retrieve_all()

    def archival_memory_add(self, text: Any) -> Answer:
        return self._archive.add(text)

    def archival_memory_remove(self, vec_id: Any) -> Answer:
        return self._archive.remove(vec_id)

    def archival_memory_update(self, vec_id: Any, new_text: Any) -> Answer:
        return self._archive.update(vec_id, new_text)

    def archival_memory_clear(self) -> Answer:
        return self._archive.clear()

    def archival_memory_retrieve(self, query: Any, top_k: Any = 5) -> Answer:
        return self._archive.retrieve(query, top_k)

    def archival_memory_retrieve_all(self) -> Answer:
        return self._archive.retrieve_all()
