"""A case that was not graded, because the machinery failed: what happened, how often it was tried, what to do. Pure."""

from textual.content import Content

from console.insight import number_format
from console.insight.conversation import Conversation
from console.insight.reasons import hint, reason_words
from console.insight.rollout import Rollout
from console.tui.sanitize import one_line
from console.tui.widgets.block import Block

MUTED = "$muted"


def broken_blocks(rollout: Rollout, conversation: Conversation) -> list[Block]:
    """Return what happened, how often it was tried, and what to do."""
    messages = "\n".join(conversation.verdict.messages) if conversation.verdict else rollout.message
    title = Content.assemble(
        ("not graded: ", "bold $broken"), one_line(reason_words(rollout.reason), 100, "bold $broken")
    )
    blocks = [Block("fault", title, text=messages, gap=False)]
    tries = [
        Content.assemble(
            (f"{place}  ", MUTED), one_line(reason_words(tried.kind), 40), "  ", one_line(tried.message, 300, MUTED),
            ("" if tried.wait_s is None else f"  waited {tried.wait_s:.0f} s", MUTED),
        )
        for place, tried in enumerate(conversation.tries, 1)
    ]  # fmt: skip
    count = f"tried {number_format.plural(len(tries), 'time')}" if tries else "not tried again"
    blocks.append(Block("tries", Content.styled(count, MUTED), body=tuple(tries), gap=False))
    advice = f"{hint(rollout.reason)} r asks it again.".strip()
    blocks.append(Block("hint", Content.assemble(("what to do  ", MUTED), advice)))
    return blocks
