"""DeepSeek-R1: no system role, thoughts cut out of results but kept in the history."""

from collections.abc import Iterator, Sequence

from console.benchmarks.bfcl.models.templates.template import (
    Completion,
    PromptInput,
    Template,
    Turn,
    system_as_user,
    users_merged,
)


def _render(given: PromptInput) -> Iterator[str]:
    yield "<｜begin▁of▁sentence｜>"
    for message in given.messages:
        if message["role"] == "user":
            yield f"<｜User｜>{message['content']}"
        elif message["role"] == "assistant":
            yield f"<｜Assistant｜>{message['content'].split('</think>')[-1]}<｜end▁of▁sentence｜>"
    yield "<｜Assistant｜><think>\n"


def _open_turn(turn: Sequence[Turn]) -> list[Turn]:
    return users_merged(system_as_user(turn))


def _read(text: str) -> Completion:
    """Read what follows the last thought; officially the recorded reasoning is, by mistake, the same text."""
    answer = text.split("</think>")[-1]
    reasoning = answer if "</think>" in text else ""
    return Completion(answer, {"role": "assistant", "content": text}, reasoning)


def _show_results(calls: Sequence[str], results: Sequence[str], answer: Turn) -> list[Turn]:
    """Return one user message with the written list of results; it is a list until it is shown, so nothing merges."""
    del answer
    shown = [{"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=False)]
    return [{"role": "user", "content": shown}]


DEEPSEEK_R1 = Template(_render, described_in_prompt=True, open_turn=_open_turn, read=_read, show_results=_show_results)
