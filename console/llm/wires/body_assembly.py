"""Assembly of an answer that is one JSON body, for APIs used without streaming."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from console.core.chat import Reply
from console.llm.wires.completeness import Ends
from console.llm.wires.live_texts import LiveTexts
from console.llm.wires.parts import Accepted


@dataclass
class BodyAssembly:
    """Collects an answer that is one body."""

    ends: Ends
    reason_field: str
    """Field with the finish reason; a `message` next to it belongs to an answer, not to an error."""
    show: Callable[[Mapping[str, Any], LiveTexts], None]
    """Shows the texts of a body."""
    read_reply: Callable[[dict[str, Any], str, Accepted], Reply]
    reason: str | None = None
    body: dict[str, Any] = field(default_factory=dict[str, Any])

    def is_chunk(self, chunk: Mapping[str, Any]) -> bool:
        return isinstance(chunk.get(self.reason_field), str)

    def add(self, chunk: Mapping[str, Any], live: LiveTexts) -> bool:
        self.body = dict(chunk)
        self.reason = str(chunk.get(self.reason_field))
        self.show(chunk, live)
        return True

    def add_texts(self, events: Iterable[bytes], live: LiveTexts) -> int:
        return 0

    def message(self) -> dict[str, Any]:
        return self.body

    def read(self, message: dict[str, Any], finish: str, accepted: Accepted) -> Reply:
        return self.read_reply(message, finish, accepted)
