"""Stages of conversations that call a model and nothing else."""

import json
from collections.abc import Sequence
from typing import Any

from console.core.case import Key
from console.core.chat import Message, Reply, ToolCall
from console.suites.stage import UnrecordedStage

_KEY = Key("case")


class StrictStage(UnrecordedStage):
    """Fails when a text is embedded, or when something is scored or noted while playing."""

    def __init__(self, key: Key = _KEY) -> None:
        super().__init__(key)

    async def embed(self, texts: Sequence[str], *, role: str = "embedding") -> list[list[float]]:
        raise AssertionError("nothing is embedded")

    def score(self, *_: Any, **__: Any) -> None:
        raise AssertionError("nothing is scored while playing")

    def note(self, *_: Any, **__: Any) -> None:
        raise AssertionError("nothing is noted")


class RightStage(StrictStage):
    """Always answers right: by native calls if there are tools, else by calls as text."""

    async def ask(self, messages: Sequence[Message], **more: Any) -> Reply:
        right = more["scripted"]().right
        if not right.calls:
            return Reply(right.content)
        if more.get("tools"):
            calls = enumerate(right.calls)
            return Reply(None, tuple(ToolCall(f"c{n}", name, json.dumps(given)) for n, (name, given) in calls))
        texts = []
        for name, given in right.calls:
            texts.append(f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})")
        return Reply(f"[{', '.join(texts)}]")
