"""What is sent: the messages of each turn in both protocols, and the judges' prompts. Pure."""

from collections.abc import Sequence

from console.benchmarks.aidanbench.conversation.wording import Wording, fill
from console.core.chat import Message

ENVIRONMENT = "environment"
"""A growing chat: every former prompt and raw reply stays, and each follow-up lists all accepted answers again."""
ORIGINAL = "original"
"""A fresh single message each time."""


def first_prompt(wording: Wording, question: str) -> str:
    """Return what the model is asked when it has given no answer yet."""
    return fill(wording.first, question=question)


def followup_prompt(wording: Wording, protocol: str, question: str, previous: Sequence[str]) -> str:
    """Return what the model is asked after `previous` accepted answers; the first prompt when there are none."""
    first = first_prompt(wording, question)
    if not previous:
        return first
    added = wording.followup_environment if protocol == ENVIRONMENT else wording.followup_original
    return first + fill(added, previous_answers=previous_block(previous))


def previous_block(previous: Sequence[str]) -> str:
    """Return the accepted answers as numbered items, an empty line between two."""
    return "\n\n".join(
        f"<previous_answer id='{number}'>\n{answer}\n</previous_answer>" for number, answer in enumerate(previous, 1)
    )


def messages_for(
    wording: Wording, protocol: str, question: str, exchanges: Sequence[Message], previous: Sequence[str]
) -> list[Message]:
    """Return the whole request of the next turn.

    Args:
        wording: the texts.
        protocol: `environment` or `original`.
        question: the question of this loop.
        exchanges: all messages so far, prompts and raw replies in turn; only a growing chat sends them again.
        previous: the accepted answers, in order.
    """
    prompt: Message = {"role": "user", "content": followup_prompt(wording, protocol, question, previous)}
    return [*exchanges, prompt] if protocol == ENVIRONMENT else [prompt]


def coherence_prompt(wording: Wording, question: str, answer: str) -> str:
    """Return what the coherence judge is asked."""
    return fill(wording.coherence, question=question, answer=answer)


def similarity_prompt(wording: Wording, question: str, new: str, earlier: str) -> str:
    """Return what the similarity judge is asked of a new and an earlier answer."""
    return fill(wording.similarity, question=question, answer1=new, answer2=earlier)
