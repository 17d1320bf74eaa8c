"""Messages of each turn in both protocols, and the judges' prompts."""

from collections.abc import Sequence

from console.benchmarks.aidanbench.conversation.wording import Wording, fill
from console.core.chat import Message

ENVIRONMENT = "environment"
"""Growing chat: all earlier prompts and raw replies stay, and each follow-up lists all accepted answers."""
ORIGINAL = "original"
"""A single new message per turn."""


def first_prompt(wording: Wording, question: str) -> str:
    """Return the prompt for the first answer."""
    return fill(wording.first, question=question)


def followup_prompt(wording: Wording, protocol: str, question: str, previous: Sequence[str]) -> str:
    """Return the prompt after the accepted answers in `previous`; the first prompt if there are none."""
    first = first_prompt(wording, question)
    if not previous:
        return first
    added = wording.followup_environment if protocol == ENVIRONMENT else wording.followup_original
    return first + fill(added, previous_answers=previous_block(previous))


def previous_block(previous: Sequence[str]) -> str:
    """Return the accepted answers as numbered items separated by empty lines."""
    return "\n\n".join(
        f"<previous_answer id='{number}'>\n{answer}\n</previous_answer>" for number, answer in enumerate(previous, 1)
    )


def messages_for(
    wording: Wording, protocol: str, question: str, exchanges: Sequence[Message], previous: Sequence[str]
) -> list[Message]:
    """Return the messages of the next turn.

    Args:
        wording: the prompt texts.
        protocol: `environment` or `original`.
        question: the question of the loop.
        exchanges: all prompts and raw replies so far; repeated only in a growing chat.
        previous: the accepted answers, in order.
    """
    prompt: Message = {"role": "user", "content": followup_prompt(wording, protocol, question, previous)}
    return [*exchanges, prompt] if protocol == ENVIRONMENT else [prompt]


def coherence_prompt(wording: Wording, question: str, answer: str) -> str:
    """Return the prompt for the coherence judge."""
    return fill(wording.coherence, question=question, answer=answer)


def similarity_prompt(wording: Wording, question: str, new: str, earlier: str) -> str:
    """Return the prompt for the similarity judge."""
    return fill(wording.similarity, question=question, answer1=new, answer2=earlier)
