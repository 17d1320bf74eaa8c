"""The memory backend `kv`: strings by key, in a small core memory and a larger archive.

Results and errors have the benchmark's exact wording, as models react to it. Methods and parameters are those of the
published function documents; every public method can be called by models.
"""

import copy
import re
from dataclasses import dataclass, field
from typing import Any, cast

from console.benchmarks.bfcl.conversation.memory.bm25 import Ranking

_KEY = re.compile(r"^[a-z]+(_[a-z0-9]+)*$")
_NO_KEY = "Key not found."

Answer = dict[str, Any]


@dataclass(slots=True)
class KeyedTexts:
    """One store with its limits; keys are unique, in lower snake case."""

    most: int
    longest: int
    full: str
    added: str
    cleared: str
    texts: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, key: Any, value: Any) -> Answer:
        """Add a string under a new key."""
        key, value = str(key), str(value)
        if len(self.texts) >= self.most:
            return {"error": self.full}
        if len(value) > self.longest:
            return self._too_long()
        if not _KEY.match(key):
            return {"error": "Key must be in snake_case format and cannot contain spaces."}
        if key in self.texts:
            return {"error": "Key name must be unique."}
        self.texts[key] = value
        return {"status": self.added}

    def remove(self, key: Any) -> Answer:
        if key not in self.texts:
            return {"error": _NO_KEY}
        del self.texts[key]
        return {"status": "Key removed."}

    def replace(self, key: Any, value: Any) -> Answer:
        """Replace the string under an existing key."""
        key, value = str(key), str(value)
        if key not in self.texts:
            return {"error": _NO_KEY}
        if len(value) > self.longest:
            return self._too_long()
        self.texts[key] = value
        return {"status": "Key replaced."}

    def clear(self) -> Answer:
        self.texts = {}
        return {"status": self.cleared}

    def retrieve(self, key: Any) -> Answer:
        return {"value": self.texts[key]} if key in self.texts else {"error": _NO_KEY}

    def keys(self) -> Answer:
        """Return all keys in insertion order."""
        return {"keys": list(self.texts)}

    def search(self, query: Any, k: Any) -> Answer:
        """Return the `k` best keys for a query with their BM25+ scores; ties keep their order."""
        keys = list(self.texts)
        ranking = Ranking([_words(key) for key in keys])
        ranked = sorted(zip(ranking.scores(_words(query)), keys, strict=True), key=lambda pair: pair[0], reverse=True)
        return {"ranked_results": ranked[:k]}

    def _too_long(self) -> Answer:
        return {"error": f"Entry is too long. Please shorten the entry to less than {self.longest} characters."}


def _words(text: str) -> list[str]:
    return text.replace("_", " ").lower().split()


# Models see the class name in Python's error messages about arguments.
class MemoryAPI_kv:
    """The functions that models can call: eight for the core memory, seven for the archive."""

    def __init__(self) -> None:
        self._core = KeyedTexts(
            most=7,
            longest=300,
            full="Core memory is full. Please clear some entries.",
            added="Key-value pair added.",
            cleared="Short term memory cleared.",
        )
        self._archive = KeyedTexts(
            most=50,
            longest=2000,
            full="Long term memory is full. Please clear some entries.",
            added="Key added.",
            cleared="Long term memory cleared.",
        )

    def _load_scenario(self, snapshot: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._core.texts = copy.copy(cast(dict[str, str], snapshot.get("core_memory", {})))
        self._archive.texts = copy.copy(cast(dict[str, str], snapshot.get("archival_memory", {})))

    @property
    def snapshot(self) -> dict[str, Any]:
        """Content in the official format."""
        return {"core_memory": self._core.texts, "archival_memory": self._archive.texts}

    def core_memory_add(self, key: Any, value: Any) -> Answer:
        return self._core.add(key, value)

    def core_memory_remove(self, key: Any) -> Answer:
        return self._core.remove(key)

    def core_memory_replace(self, key: Any, value: Any) -> Answer:
        return self._core.replace(key, value)

    def core_memory_clear(self) -> Answer:
        return self._core.clear()

    def core_memory_retrieve(self, key: Any) -> Answer:
        return self._core.retrieve(key)

    def core_memory_list_keys(self) -> Answer:
        return self._core.keys()

    def core_memory_key_search(self, query: Any, k: Any = 5) -> Answer:
        return self._core.search(query, k)

    def core_memory_retrieve_all(self) -> Answer:
        return self._core.texts

    def archival_memory_add(self, key: Any, value: Any) -> Answer:
        return self._archive.add(key, value)

    def archival_memory_remove(self, key: Any) -> Answer:
        return self._archive.remove(key)

    def archival_memory_replace(self, key: Any, value: Any) -> Answer:
        return self._archive.replace(key, value)

    def archival_memory_clear(self) -> Answer:
        return self._archive.clear()

    def archival_memory_retrieve(self, key: Any) -> Answer:
        return self._archive.retrieve(key)

    def archival_memory_list_keys(self) -> Answer:
        return self._archive.keys()

    def archival_memory_key_search(self, query: Any, k: Any = 5) -> Answer:
        return self._archive.search(query, k)
