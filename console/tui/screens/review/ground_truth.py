"""What a case was made of, as blocks: the tools that were offered, and the ground truth it is judged by. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from textual.content import Content

from console.core.comparison import Comparison
from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.passage import show_json, show_json_lines
from console.tui.sanitize import literal, one_line
from console.tui.widgets.block import Block

MUTED = "$muted"
_TRUTHS = ("ground_truth", "possible_answer", "expected", "answer", "conversation")
"""Members of a case's data that hold what is expected, by suites that are known."""
_DOCS = ("function", "tools")
"""Members of a case's data that hold function documents which were not sent as tools."""


def tool_blocks(conversation: Conversation) -> list[Block]:
    """Return every tool that was offered: signature, meaning, parameters; each foldable to its first line."""
    none: list[dict[str, Any]] = []
    requests = (exchange for exchange in conversation.exchanges if exchange.asked.role == "model")
    sent = next((exchange.tools for exchange in requests if exchange.tools), none)
    data: Mapping[str, Any] = conversation.case.data if conversation.case is not None else {}
    docs = sent or next((docs for name in _DOCS if (docs := _listed(data.get(name)))), none)
    if not docs:
        words = "No tools were sent, and the case holds no function documents; i shows what the prompt says."
        return [Block("none", body=[Content.styled(words, MUTED)], indent=0)]
    how = "sent with the request" if sent else "described in the prompt"
    head = Block("tools", _title(f"{number_format.plural(len(docs), 'tool')}, {how}"))
    return [head, *(_tool_block(doc, place) for place, doc in enumerate(docs))]


def _tool_block(doc: dict[str, Any], place: int) -> Block:
    tool = _members(doc.get("function")) or doc
    parameters = _members(tool.get("parameters"))
    named, required = _members(parameters.get("properties")), cast(list[Any], parameters.get("required") or [])
    needed = {str(name) for name in required}
    shown = ", ".join(name if name in needed else f"{name}?" for name in named)
    title = one_line(str(tool.get("name", "?")), 120, "bold").append(one_line(f"({shown})", 400))
    body = [*literal(str(tool.get("description") or ""), 4000, MUTED).split("\n")]
    for name, about in named.items():
        body += _parameter(name, _members(about), needed=name in needed)
    return Block(f"tool {place}", title, body=tuple(line for line in body if line.plain.strip()))


def _listed(value: Any) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [_members(item) for item in items if isinstance(item, dict)]


def _members(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _parameter(name: str, about: dict[str, Any], *, needed: bool) -> Iterator[Content]:
    kind = show_json(about.get("type", "any")).strip('"')
    line = (
        one_line(name, 60, "bold").append(one_line(f"  {kind}", 80)).append_text("" if needed else "  optional", MUTED)
    )
    for word in ("enum", "default", "items", "properties"):
        if word in about:
            line = line.append_text(f"  {word} ", MUTED).append(one_line(show_json(about[word]), 600))
    yield line
    if about.get("description"):
        yield Content("  ").append(one_line(str(about["description"]), 1000, MUTED))


def truth_blocks(conversation: Conversation, comparison: Comparison | None, expected: str) -> list[Block]:
    """Return what was expected as the grader reads it, then the case's own ground truth, then the rest of the case.

    Args:
        conversation: holds the case as it was played.
        comparison: gives the rule and the smallest change that would have passed; None when there is none.
        expected: what was expected, as text; may be empty.
    """
    blocks: list[Block] = []
    if expected:
        blocks.append(
            Block("expected", Content.styled("expected, as the grader reads it", f"bold {MUTED}"), text=expected)
        )
    if comparison is not None and comparison.hint:
        blocks.append(
            Block("hint", Content.styled("smallest change that passes", f"bold {MUTED}"), text=comparison.hint)
        )
    data = conversation.case.data if conversation.case is not None else {}
    truths = {name: data[name] for name in _TRUTHS if data.get(name) is not None}
    blocks += [
        Block(f"truth {name}", _title(f"{name} of the case"), text=show_json_lines(value))
        for name, value in truths.items()
    ]
    if not truths:
        words = "This case has no ground truth of its own: it is judged by a rule."
        blocks.append(Block("none", Content.styled(words, MUTED)))
    rest = {name: value for name, value in data.items() if name not in truths and value not in ("", None, [], {})}
    if rest:
        blocks.append(Block("rest", _title("the rest of the case"), text=show_json_lines(rest), folded=True))
    return blocks


def _title(words: str) -> Content:
    return Content.styled(words, f"bold {MUTED}")
