"""What a step of cave-bench costs besides the model: a conversation of many cells with a model that answers at once.

Prints how long the worker takes until the first question (cave-agent and the scenario imported), and the time per step
over a growing history; then the memory of conversations, and what 200 of them (or as many as the first argument says)
leave behind: open files, processes, folders. Needs the extra `cave`.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from console.benchmarks.cavebench.conversation.play import Dataset, play_case
from console.core.case import Case, Key, Setting
from console.core.chat import Reply, Usage

STEPS, AT_ONCE = 100, 8
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


async def steps_and_start() -> None:
    ready, steps = [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            case = case_in(Path(folder))
            stage, began = Clock(), time.perf_counter()
            await play_case(case, stage, Setting("cave"), Dataset(Path(folder), ()))  # type: ignore[arg-type]
        ready.append(stage.times[0] - began)
        steps += [later - earlier for earlier, later in zip(stage.times, stage.times[1:], strict=False)]
    ordered = sorted(steps)
    print(f"worker ready, first question        median {statistics.median(ready) * 1000:8.1f} ms   limit 2000 ms")
    median, p95 = statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.95)] * 1000
    print(f"overhead per step                   median {median:8.2f} ms   p95 {p95:6.2f} ms   limit 10 ms")


class Ended(Clock):
    """Says one cell, then nothing more; the others wait until all are there."""

    def __init__(self, gate: asyncio.Barrier | None, alive: list[int]) -> None:
        super().__init__()
        self._gate, self._alive = gate, alive

    async def ask(self, messages: Sequence[Any], *, step: int = 0, **_: Any) -> Reply:
        if step == 0:
            return Reply("```python\nx = add(1, 1)\n```", usage=Usage(10, 10))
        if self._gate is not None:
            await self._gate.wait()
            self._alive.append(memory_kb())
            await self._gate.wait()
        return Reply("Done.", usage=Usage(10, 10))


def memory_kb() -> int:
    fields = Path("/proc/self/status").read_text().split()
    return int(fields[fields.index("VmRSS:") + 1])


def left_behind() -> dict[str, int]:
    """Count what a worker could leave: open files, processes, folders."""
    children = sum(len(path.read_text().split()) for path in Path("/proc/self/task").glob("*/children"))
    folders = len(list(Path(tempfile.gettempdir()).glob(f"eval-console-{os.getpid()}-*")))
    return {"open files": len(os.listdir("/proc/self/fd")), "processes": children, "folders": folders}


async def conversations(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case, alive = case_in(folder), list[int]()
        await play_case(case, Ended(None, alive), Setting("cave"), Dataset(folder, ()))  # type: ignore[arg-type]
        before, idle = left_behind(), memory_kb()
        for done in range(0, count, AT_ONCE):
            gate = asyncio.Barrier(AT_ONCE) if done == 0 else None
            await asyncio.gather(
                *(play_case(case, Ended(gate, alive), Setting("cave"), Dataset(folder, ())) for _ in range(AT_ONCE))  # type: ignore[arg-type]
            )
        after, end = left_behind(), memory_kb()
    each = (max(alive) - idle) / AT_ONCE
    print(f"engine memory per live conversation        {each:8.0f} KB   ({AT_ONCE} at once)")
    print(f"engine memory after {count} conversations     {end - idle:+8d} KB")
    for what, number in after.items():
        print(f"{what} after {count} conversations".ljust(43) + f"{number:5d}   before {before[what]}")


async def main() -> None:
    await steps_and_start()
    await conversations(int(sys.argv[1]) if len(sys.argv) > 1 else 200)


if __name__ == "__main__":
    asyncio.run(main())
