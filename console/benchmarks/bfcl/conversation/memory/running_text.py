"""The memory backend `rec_sum`: one text of up to 10,000 characters that the model summarizes repeatedly."""

from typing import Any

_LONGEST = 10_000

Answer = dict[str, Any]


# Models see the class name in Python's error messages about arguments.
class MemoryAPI_rec_sum:
    """The five functions that models can call; all work on one text."""

    def __init__(self) -> None:
        self._text = ""

    def _load_scenario(self, snapshot: dict[str, Any], long_context: bool = False) -> None:
        del long_context
        self._text = str(snapshot.get("memory", ""))

    @property
    def snapshot(self) -> dict[str, Any]:
        """Content in the official format."""
        return {"memory": self._text}

    def memory_append(self, text: Any) -> Answer:
        longer = self._text + str(text)
        if len(longer) > _LONGEST:
            return _too_long("appending")
        self._text = longer
        return {"status": "Memory appended."}

    def memory_update(self, text: Any) -> Answer:
        if len(str(text)) > _LONGEST:
            return _too_long("updating")
        self._text = str(text)
        return {"status": "Memory updated."}

    def memory_clear(self) -> Answer:
        self._text = ""
        return {"status": "Short term memory cleared."}

    def memory_replace(self, old_text: Any, new_text: Any) -> Answer:
        """Replace every occurrence of a substring; as in the original, only the replacement's length is limited."""
        old, new = str(old_text), str(new_text)
        if old not in self._text:
            return {"error": f"Text '{old}' not found in memory."}
        if len(new) > _LONGEST:
            return _too_long("replacing")
        self._text = self._text.replace(old, new)
        return {"status": "Memory updated."}

    def memory_retrieve(self) -> Answer:
        return {"memory_content": self._text} if self._text else {"error": "Memory is empty."}


def _too_long(doing: str) -> Answer:
    return {
        "error": f"Entry will be too long after {doing}. Please shorten the entry to less than {_LONGEST} characters."
    }
