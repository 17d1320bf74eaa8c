"""Full-text search in a journal: prompts, answers, tool calls and results, notes and verdicts.

The file is scanned as bytes, piece by piece, and only lines that contain the search string are decoded: 30 MB take a
fraction of a second. Case is ignored. Words that also occur in the journal's own format (`user`, `content`, `passed`)
count only in untrusted text.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from console.core.case import Key, Slot
from console.core.ready_type import ready_type
from console.store.journal_file import journal_status, open_journal

PIECE_BYTES = 128 << 10
"""Bytes scanned at a time; few enough not to block other threads."""
_GRAMMAR = (
    "v t opened started asked embedded performed tried scored noted finished steered closed at key case rollout attempt"
    " n digest reply role turn step prefix messages tools params content tool_calls reasoning finish usage model"
    " latency_s first_token_s tries flags simulated id name arguments input output cached stop length content_filter"
    " system user assistant tool function type parameters kind data message partial wait_s value threshold verdict"
    " outcome reason subject scores detail official passed failed broken undecided not_run seconds input_tokens"
    " output_tokens cost_usd calls category title depends_on graded texts vectors request result crc"
)
"""Words that belong to the journal's own format."""
_NOT_SHOWN = frozenset({"t", "role", "finish", "digest", "crc", "kind", "outcome", "vectors"})
"""Fields whose values are words of the format, or are not text."""


def conversations_with(path: Path, texts: Iterable[str]) -> dict[Slot, set[str]]:
    """Return the given strings that occur in the conversations of each case id and rollout."""
    by_conversation: dict[Slot, set[str]] = {}
    for text in texts:
        for key in TextSearch(path, text).run():
            by_conversation.setdefault(key.slot, set()).add(text)
    return by_conversation


class _Owner(msgspec.Struct):
    key: Key


_owner = msgspec.json.Decoder(ready_type(_Owner)).decode


class TextSearch:
    """Search for one string in one journal; call `run` again after the journal has grown."""

    def __init__(self, path: Path, text: str) -> None:
        """Prepare a search for one line of text; nothing is read yet."""
        self.path = path
        self.text = text
        self.offset = 0
        """Bytes searched."""
        self._wanted = text.lower()
        self._needle = json.dumps(self._wanted, ensure_ascii=False)[1:-1].encode("utf-8", "replace")
        self._is_grammar = self._wanted in _GRAMMAR

    @property
    def is_behind(self) -> bool:
        """True if the journal has grown since it was searched."""
        try:
            return journal_status(self.path).size > self.offset
        except OSError:
            return False

    def run(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[Key]:
        """Yield the key of each conversation that contains the string, as found; a key may come several times.

        Args:
            stopped: called between pieces; True ends the search.
        """
        try:
            with open_journal(self.path) as file:
                file.seek(self.offset)
                while not stopped() and (piece := file.read(PIECE_BYTES)):
                    piece += b"" if piece.endswith(b"\n") else file.readline()
                    if not piece.endswith(b"\n"):
                        return  # this line is still being written
                    yield from self._in_piece(piece)
                    self.offset += len(piece)
        except OSError:
            return

    def _in_piece(self, piece: bytes) -> Iterator[Key]:
        folded = piece.lower() if self._needle.isascii() else piece.decode("utf-8", "replace").lower().encode()
        if len(folded) != len(piece):  # lower-casing changed the length, so offsets no longer agree
            for line in piece.splitlines():
                if self._needle in line.decode("utf-8", "replace").lower().encode():
                    yield from self._matches(line)
            return
        position = folded.find(self._needle)
        while position >= 0:
            start, end = folded.rfind(b"\n", 0, position) + 1, folded.find(b"\n", position)
            yield from self._matches(piece[start:end])
            position = folded.find(self._needle, end)

    def _matches(self, line: bytes) -> Iterator[Key]:
        try:
            if not self._is_grammar or self._is_shown(msgspec.json.decode(line)):
                yield _owner(line).key
        except (msgspec.DecodeError, RecursionError):  # damaged, or not part of a conversation; readers count damage
            return

    def _is_shown(self, value: Any) -> bool:
        if isinstance(value, str):
            return self._wanted in value.lower()
        if isinstance(value, list):
            return any(self._is_shown(item) for item in cast(list[Any], value))
        if isinstance(value, dict):
            items = cast(dict[str, Any], value).items()
            return any(name not in _NOT_SHOWN and self._is_shown(item) for name, item in items)
        return False
