"""What a step of cave-bench costs besides the model: a conversation of many cells with a model that answers at once.

Prints how long the worker takes until the first question (cave-agent and the scenario imported), and the time per step
over a growing history. Needs the extra `cave`.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, Usage
from console.suites.cavebench.play import play_case

STEPS = 100
MODULE = '''
def add(a: int, b: int) -> int:
    """Add."""
    return a + b

tools = [add]
'''


class Clock:
    """A stage that answers at once and notes when it was asked."""

    key = Key("bench")

    def __init__(self) -> None:
        self.times: list[float] = []

    async def ask(self, messages: Sequence[Any], *, step: int = 0, **_: Any) -> Reply:
        self.times.append(time.perf_counter())
        text = f"```python\nx = add({step}, 1)\nprint(x)\n```" if step < STEPS - 1 else "Done."
        return Reply(text, usage=Usage(10, 10))

    async def perform(self, kind: str, request: Any, action: Any) -> Any:
        return await action()

    def note(self, kind: str, data: Any, **_: Any) -> None:
        """Take no notice."""


def case_in(folder: Path) -> Case:
    (folder / "mod.py").write_text(MODULE)
    conversation = {"id": "c", "turns": [{"query": "count"}]}
    return Case("s/c", "s", {"scenario": "s", "module": "mod", "conversation": conversation})


async def main() -> None:
    ready, steps = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            case = case_in(Path(folder))
            stage, began = Clock(), time.perf_counter()
            await play_case(case, stage, Setting("cave"), Path(folder))  # type: ignore[arg-type]
        ready.append(stage.times[0] - began)
        steps += [later - earlier for earlier, later in zip(stage.times, stage.times[1:], strict=False)]
    ordered = sorted(steps)
    print(f"worker ready, first question        median {statistics.median(ready) * 1000:8.1f} ms   limit 2000 ms")
    median, p95 = statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.95)] * 1000
    print(f"overhead per step                   median {median:8.2f} ms   p95 {p95:6.2f} ms   limit 10 ms")


if __name__ == "__main__":
    asyncio.run(main())
