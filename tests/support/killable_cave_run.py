"""Plays a run of cave-bench in this process and kills it, or the worker, the n-th time a named point is reached.

    python -m support.killable_cave_run RUN_FOLDER BASE_URL SUITE_FOLDER MODE VICTIM POINT COUNT

VICTIM is `engine`, `worker`, `ctrl-c` (twice: stop, then at once) or `nobody`. Points: `before cell` (a reply is there,
its code is not run yet), `in cell`, `after cell` (its report is there, nothing of it is kept yet), `kept cell`,
`before turn` (the turn is over, nothing of it is kept yet), `kept turn`; in json mode `before call`, `after call`.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from console.benchmarks.cavebench.conversation import play, tool_loop
from console.benchmarks.cavebench.suite import CaveBenchSuite
from console.config.model import Limits, ModelConfig
from console.config.models import facts
from console.config.paths import DataRoots
from console.core.case import Setting
from console.core.run import Manifest, Selection
from console.engine import stage
from console.engine.launch import run_in_foreground
from console.engine.plan import PreparedRun
from console.engine.queue import RetryScope
from console.sandbox.worker import Worker
from console.store.runs import RunFolder, create_run
from console.suites.selection import select_cases
from console.suites.suite import SuiteEntry


def prepared(folder: Path, base_url: str, suite_folder: Path, mode: str) -> PreparedRun:
    limits = Limits(timeout_s=60, first_token_s=60, idle_s=60, backoff_s=0.01)
    model = ModelConfig(name="m", model_id="m", base_url=base_url, limits=limits)
    suite = CaveBenchSuite(SuiteEntry(name="apart", format="cavebench", folder=suite_folder, title="Apart"))
    setting = Setting(mode=mode)
    cases = select_cases(suite, Selection(), setting)
    manifest = Manifest(
        id=folder.name, at=1.0, suite="apart", model=facts(model), setting=setting, concurrency=2, cases=len(cases)
    )
    return PreparedRun(manifest, suite, cases, {"model": model}, folder.parent, DataRoots(folder, folder))


def arm(victim: str, point: str, count: int) -> None:  # noqa: C901 - one small wrapper for each point
    workers: list[Worker] = []
    passed = [0]

    def reached(here: str) -> None:
        passed[0] += here == point
        if here == point and passed[0] == count:
            print("killed", flush=True)
            if victim == "ctrl-c":
                signal.raise_signal(signal.SIGINT)
                asyncio.get_running_loop().call_later(0.05, signal.raise_signal, signal.SIGINT)
                return
            os.kill(os.getpid() if victim == "engine" else workers[-1].pid, signal.SIGKILL)

    start, ask, cell, perform, call = (
        Worker.start, play._AgentPlay._ask, play._AgentPlay._cell, stage.JournaledStage.perform, Worker.call
    )  # fmt: skip

    async def starting(*args: Any, **options: Any) -> Worker:
        workers.append(await start(*args, **options))
        return workers[-1]

    async def asking(self: Any, question: Any) -> Any:
        answer = await ask(self, question)
        reached("before cell")
        asyncio.get_running_loop().call_later(0.001, reached, "in cell")
        return answer

    async def executed(self: Any, report: Any) -> Any:
        reached("after cell")
        kept = await cell(self, report)
        reached("kept cell")
        return kept

    async def performing(self: Any, kind: str, request: Any, action: Any) -> Any:
        if kind == "turn":
            reached("before turn")
        result = await perform(self, kind, request, action)
        if kind == "turn":
            reached("kept turn")
        return result

    async def calling(self: Any, operation: str, *args: Any, **options: Any) -> Any:
        if operation == "invoke":
            reached("before call")
        result = await call(self, operation, *args, **options)
        if operation == "invoke":
            reached("after call")
        return result

    play.Worker.start = starting  # type: ignore[method-assign,assignment]
    play._AgentPlay._ask, play._AgentPlay._cell = asking, executed  # type: ignore[method-assign,assignment]
    stage.JournaledStage.perform = performing  # type: ignore[method-assign,assignment]
    tool_loop.Worker.call = calling  # type: ignore[method-assign,assignment]


def main() -> int:
    folder, base_url, suite_folder, mode, victim, point, count = sys.argv[1:]
    ready = prepared(Path(folder), base_url, Path(suite_folder), mode)
    run = RunFolder(Path(folder)) if Path(folder).exists() else create_run(Path(folder).parent, ready.manifest)
    arm(victim, point, int(count))
    ending = run_in_foreground(run, ready, retry=RetryScope.NONE)
    return 0 if ending.closed.reason == "completed" else 1


if __name__ == "__main__":
    sys.exit(main())
