"""The memory backend `vector`: texts under running numbers, found again by what they mean.

Texts are embedded only when something is looked for, so that what is remembered never depends on an embedding. Scores
are inner products of vectors of length one, in single precision. Equal ones come as from the official index, which
keeps the best in a heap: the one that was put in last comes first, and a better one drives out the first.
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
    """Numbers as they were put into the index: an update puts its text in anew."""

    def add(self, text: Any) -> Answer:
        """Add a text under the next number."""
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
        """Replace the text under an existing number."""
        if number not in self.texts:
            return _absent(number)
        if len(text) > self.longest:
            return self._too_long()
        self.texts[number] = _only_text(text)
        self.order.append(self.order.pop(self.order.index(number)))
        return {"status": f"ID {number} updated."}

    def clear(self) -> Answer:
        """Remove everything and count from 0 again."""
        self.texts, self.next_id, self.order = {}, 0, []
        return {"status": "Memory cleared."}

    def retrieve(self, query: Any, top_k: Any) -> Answer:
        """Return the texts nearest to a query, the nearest first."""
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
        """Return everything in order of addition."""
        return {"result": [{"id": number, "text": text} for number, text in self.texts.items()]}

    def load(self, snapshot: dict[str, Any]) -> None:
        """Restore a snapshot."""
        self.next_id = int(snapshot.get("next_id", 0))
        stored = cast(dict[str, str], snapshot.get("store", {}))
        self.texts = {int(number): text for number, text in stored.items()}
        self.order = sorted(self.texts)

    @property
    def snapshot(self) -> dict[str, Any]:
        """Everything in the store, in the official form."""
        return {"next_id": self.next_id, "store": {str(number): text for number, text in self.texts.items()}}

    def _too_long(self) -> Answer:
        return {"error": f"Entry length exceeds maximum length of {self.longest} characters."}


def _absent(number: Any) -> Answer:
    return {"error": f"ID {number} not present in store."}


def _only_text(value: Any) -> str:
    """Refuse what cannot be embedded as one text; models see the complaint."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value


def _first_text(query: Any) -> str:
    """Return what is looked for; of a list of texts only the first one counts."""
    texts = cast(list[Any], query) if isinstance(query, list) else []
    return _only_text(texts[0] if texts else query)


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    exact = sum(a * b for a, b in zip(left, right, strict=True))
    return struct.unpack("<f", struct.pack("<f", exact))[0]


# The class name is not free: it shows in Python's complaints about arguments, which models see.
class MemoryAPI_vector:
    """What a model can call: six operations each on the core memory and on the archive."""

    def __init__(self, embed: Embed) -> None:
        """Start with empty stores; `embed` turns texts into vectors of length one."""
        self._core = NumberedTexts(most=7, longest=300, embed=embed)
        self._archive = NumberedTexts(most=50, longest=2000, embed=embed)

    def _load_scenario(self, snapshot: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._core.load(snapshot.get("core_memory", {}))
        self._archive.load(snapshot.get("archival_memory", {}))

    @property
    def snapshot(self) -> dict[str, Any]:
        """Everything remembered, in the official form."""
        return {"core_memory": self._core.snapshot, "archival_memory": self._archive.snapshot}

    def core_memory_add(self, text: Any) -> Answer:
        """See `NumberedTexts.add`."""
        return self._core.add(text)

    def core_memory_remove(self, vec_id: Any) -> Answer:
        """See `NumberedTexts.remove`."""
        return self._core.remove(vec_id)

    def core_memory_update(self, vec_id: Any, new_text: Any) -> Answer:
        """See `NumberedTexts.update`."""
        return self._core.update(vec_id, new_text)

    def core_memory_clear(self) -> Answer:
        """See `NumberedTexts.clear`."""
        return self._core.clear()

    def core_memory_retrieve(self, query: Any, top_k: Any = 5) -> Answer:
        """See `NumberedTexts.retrieve`."""
        return self._core.retrieve(query, top_k)

    def core_memory_retrieve_all(self) -> Answer:
        """See `NumberedTexts.retrieve_all`."""
        return self._core.retrieve_all()

    def archival_memory_add(self, text: Any) -> Answer:
        """See `NumberedTexts.add`."""
        return self._archive.add(text)

    def archival_memory_remove(self, vec_id: Any) -> Answer:
        """See `NumberedTexts.remove`."""
        return self._archive.remove(vec_id)

    def archival_memory_update(self, vec_id: Any, new_text: Any) -> Answer:
        """See `NumberedTexts.update`."""
        return self._archive.update(vec_id, new_text)

    def archival_memory_clear(self) -> Answer:
        """See `NumberedTexts.clear`."""
        return self._archive.clear()

    def archival_memory_retrieve(self, query: Any, top_k: Any = 5) -> Answer:
        """See `NumberedTexts.retrieve`."""
        return self._archive.retrieve(query, top_k)

    def archival_memory_retrieve_all(self) -> Answer:
        """See `NumberedTexts.retrieve_all`."""
        return self._archive.retrieve_all()
