"""How long a worker takes to start, to answer a call, and to end. Run it with the Python of the environment.

Prints medians and 95th percentiles in milliseconds, one line for each figure.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from console.sandbox.worker import Layers, Worker

PROGRAM = "console.sandbox.programs.cell"
ROUNDS, STEPS = 25, 500


async def timed(action: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await action()
    return (time.perf_counter() - began) * 1000


def show(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    print(f"{name:36} median {statistics.median(ordered):8.2f} ms   p95 {ordered[int(len(ordered) * 0.95)]:8.2f} ms")


async def lives(layers: Layers) -> tuple[list[float], list[float], str]:
    starts, ends, level = [], [], ""
    for _ in range(ROUNDS):
        began = time.perf_counter()
        worker = await Worker.start(PROGRAM, allow_weaker=True, layers=layers)
        starts.append((time.perf_counter() - began) * 1000)
        level = worker.level.text
        ends.append(await timed(worker.kill))
    return starts, ends, level


async def main() -> None:
    for name, layers in (
        ("limits only", Layers(namespaces=False, landlock=0, seccomp=False)),
        ("all layers", Layers()),
    ):
        starts, ends, level = await lives(layers)
        print(level)
        show(f"start, {name}", starts)
        show(f"end, {name}", ends)
    worker = await Worker.start(PROGRAM, allow_weaker=True)

    async def answer(kind: str, data: object) -> object:
        return data

    step = [await timed(lambda: worker.call("run", {"code": "x = 1"})) for _ in range(STEPS)]
    asked = [
        await timed(lambda: worker.call("run", {"code": "port.ask('model', 'x' * 4000)"}, on_ask=answer))
        for _ in range(STEPS)
    ]
    show("one cell", step)
    show("one cell that asks the engine (4 KB)", asked)
    await worker.kill()


if __name__ == "__main__":
    asyncio.run(main())
