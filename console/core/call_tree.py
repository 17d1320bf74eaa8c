"""`CallTree`: the calls of a rollout that may hold several conversations, linked to the calls they continue.

An agent's calls go beyond its own conversation: titles, summaries, sub-agents. Each call continues the call whose
messages and reply it begins with. The main conversation is a path through that tree, and the rest falls into threads,
so that each call is in exactly one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from console.core.chat import Reply
from console.core.json_text import as_object, as_objects, read_json
from console.core.request import digest


@dataclass(slots=True)
class _Call:
    number: int
    """Position among all calls of the tree."""
    parent: "_Call | None"
    asks_with_tools: bool
    reply: str
    """Digest of its reply."""
    asks_the_case: bool
    """True if a user message is exactly the input of the case."""
    children: list["_Call"] = field(default_factory=list["_Call"])

    @property
    def path(self) -> list["_Call"]:
        """The calls from the root to this one."""
        path: list[_Call] = []
        call: _Call | None = self
        while call is not None:
            path.append(call)
            call = call.parent
        return path[::-1]


class CallTree:
    """The calls of one role in one rollout, added in journal order."""

    def __init__(self, case_input: object = "") -> None:
        """Create an empty tree for a case with this input; empty without input."""
        self._case_input = case_input.strip() if isinstance(case_input, str) else ""
        self._calls: list[_Call] = []
        self._sent: dict[str, _Call] = {}
        """Last call that sent exactly these messages, by their digest."""
        self._ended: dict[str, _Call] = {}
        """Last call after which the conversation consisted of exactly these messages, including its reply."""
        self._by_tool_call: dict[str, _Call | None] = {}
        """Call whose reply contains a tool call, by the tool call's id; None if several do."""
        self._transcript: frozenset[str] = frozenset()
        self._last: list[dict[str, Any]] = []
        self._last_states = [""]

    def add(self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], reply: Reply) -> None:
        states = self._states(messages)
        parent, sent = self._parent(messages, states), states[-1]
        said = [message.get("content") for message in messages if message.get("role") == "user"]
        asks_the_case = any(isinstance(text, str) and text.strip() == self._case_input != "" for text in said)
        call = _Call(len(self._calls), parent, bool(tools), message_digest(dict(reply.message())), asks_the_case)
        self._calls.append(call)
        if parent is not None:
            parent.children.append(call)
        self._sent[sent] = self._ended[_next_state(sent, call.reply)] = call
        for made in reply.tool_calls:
            self._by_tool_call[made.id] = None if made.id in self._by_tool_call else call

    def parent_of(self, messages: Sequence[dict[str, Any]]) -> int | None:
        """Return the number of the call that a new one would continue, or None if it begins a conversation."""
        parent = self._parent(messages, self._states(messages))
        return None if parent is None else parent.number

    def note_transcript(self, replies: Sequence[str]) -> None:
        """Record the digests of all replies of the main conversation, reported by the program itself."""
        self._transcript = frozenset(replies)

    def threads(self) -> list[list[int]]:
        """Return the numbers of the calls of each thread, that of the main conversation first."""
        if not self._calls:
            return []
        below = [1] * len(self._calls)
        """Calls of the longest path that begins at each call."""
        for call in reversed(self._calls):
            if call.parent is not None:
                below[call.parent.number] = max(below[call.parent.number], below[call.number] + 1)
        main = self._main(below)
        threads, placed = [[call.number for call in main]], {call.number for call in main}
        for call in self._calls:
            if call.number in placed:
                continue
            thread = _longest(call, below)
            threads.append([each.number for each in thread])
            placed |= {each.number for each in thread}
        return threads

    def _main(self, below: list[int]) -> list[_Call]:
        if self._transcript:
            path = max((call.path for call in self._calls), key=self._held_by_transcript)
            if any(call.reply in self._transcript for call in path):
                return path
        roots = [call for call in self._calls if call.parent is None]
        # Titles and summaries are single calls without tools; sub-agents begin after the conversation that needs them.
        signs: tuple[Callable[[_Call], bool], ...] = (
            lambda root: root.asks_the_case,
            lambda root: root.asks_with_tools,
            lambda root: below[root.number] > 1,
        )
        likely = next((root for sign in signs for root in roots if sign(root)), roots[0])
        return _longest(likely, below)

    def _held_by_transcript(self, path: list[_Call]) -> tuple[int, int]:
        held = sum(call.reply in self._transcript for call in path)
        return held, held - len(path)

    def _states(self, messages: Sequence[dict[str, Any]]) -> list[str]:
        """Return digests of the first 0, 1, 2, … messages.

        Only the position of instructions counts, as programs change tokens, dates and billing headers in them with each
        call.
        """
        same = 0
        for left, right in zip(self._last, messages, strict=False):
            if left is not right:
                break
            same += 1
        states = self._last_states[: same + 1]
        for message in messages[same:]:
            is_volatile = message.get("role") in ("system", "developer")
            states.append(_next_state(states[-1], "instructions" if is_volatile else message_digest(message)))
        self._last, self._last_states = list(messages), states
        return states

    def _parent(self, messages: Sequence[dict[str, Any]], states: list[str]) -> _Call | None:
        for count in range(len(messages), 0, -1):
            if messages[count - 1].get("role") != "assistant":
                continue
            # The second is for clients that edit a reply before sending it again.
            call = self._ended.get(states[count]) or self._sent.get(states[count - 1])
            if call is not None:
                return call
        for message in reversed(messages):  # earlier messages were dropped or summarized
            for made in as_objects(message.get("tool_calls")):
                if (call := self._by_tool_call.get(str(made.get("id", "")))) is not None:
                    return call
        return None


def _longest(call: _Call, below: list[int]) -> list[_Call]:
    """Return the longest path from a call; on a tie, the one that keeps its tools, or else the later one."""
    path = [call]
    while call.children:
        tools = call.asks_with_tools
        call = max(call.children, key=lambda each: (below[each.number], each.asks_with_tools is tools, each.number))
        path.append(call)
    return path


def message_digest(message: dict[str, Any]) -> str:
    """Return the digest of a message's content, ignoring parts that clients change when they send it again."""
    made = as_objects(message.get("tool_calls"))
    functions = [(call.get("id"), as_object(call.get("function"))) for call in made]
    calls = [[name, function.get("name"), _arguments(function.get("arguments"))] for name, function in functions]
    content: Any = message.get("content") or ""
    return digest(
        "message", str(message.get("role")), [content.strip() if isinstance(content, str) else content, calls]
    )


def _arguments(value: object) -> object:
    """Return arguments as JSON values, since clients reformat them."""
    try:
        return read_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _next_state(state: str, message: str) -> str:
    return digest("state", "", [state, message])
