"""Plays a dialogue run in this process and kills itself, with SIGKILL, the n-th time a named point is reached.

    python -m support.killable_run RUN_FOLDER BASE_URL POINT COUNT

Points: `locked`, `opened`, `before send`, `mid stream`, `sync`, and for every kind of record `before X`, `half X`,
`after X` (X as in the journal: started, asked, scored, performed, noted, finished, closed).
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.dialogue_suite import DialogueSuite

from console.config.model import Limits, ModelConfig
from console.config.models import facts
from console.config.paths import DataRoots
from console.core.case import Setting
from console.core.run import Manifest, Selection
from console.engine.engine import Engine
from console.engine.launch import run_in_foreground
from console.engine.plan import PreparedRun
from console.engine.queue import RetryScope
from console.engine.stage import CallWatch
from console.llm import remote_endpoint
from console.store import journal, lock
from console.store.journal_line import encode
from console.store.runs import RunFolder, create_run
from console.suites.selection import select_cases


def prepared(folder: Path, base_url: str, suite: DialogueSuite, concurrency: int = 2) -> PreparedRun:
    """Build what `prepare` would, for a suite and server of the test's own, or servers with commas between."""
    # Long, so that a machine too busy to answer in time is no fault that is asked again: calls are counted here.
    limits = Limits(timeout_s=600, first_token_s=300, idle_s=300, backoff_s=0.01)
    first, *others = base_url.split(",")
    model = ModelConfig(name="m", model_id="m", base_url=first, other_urls=tuple(others), limits=limits)
    judge = ModelConfig(name="j", model_id="j", base_url=first, other_urls=tuple(others), limits=limits)
    setting = Setting()
    cases = select_cases(suite, Selection(), setting)
    models = {"model": model} | ({"judge": judge} if suite.judged else {})
    manifest = Manifest(
        id=folder.name,
        at=1.0,
        suite="dialogue",
        model=facts(model),
        setting=setting,
        roles={role: facts(one) for role, one in models.items() if role != "model"},
        concurrency=concurrency,
        cases=len(cases),
    )
    return PreparedRun(manifest, suite, cases, models, folder.parent, DataRoots(folder, folder))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


PASSED = Counter[str]()
"""How often each point was passed, where the run was armed once."""


def arm(point: str, count: int) -> None:
    """Arrange for death at the n-th passing of a point."""
    passed = [0]

    def reached(here: str) -> bool:
        PASSED[here] += 1
        passed[0] += here == point
        return here == point and passed[0] == count

    _after(lock.RunLock, "__init__", lambda *_: reached("locked") and die())
    _after(journal.JournalWriter, "__init__", lambda *_: reached("opened") and die())
    _before(journal.JournalWriter, "sync", lambda *_: reached("sync") and die())
    _before(CallWatch, "on_text", lambda *_: reached("mid stream") and die())
    _before(remote_endpoint.RemoteEndpoint, "ask", lambda *_: reached("before send") and die())
    append = journal.JournalWriter.append

    def killing(self: journal.JournalWriter, record: Any) -> int:
        kind = type(record).__name__.lower()
        if reached(f"before {kind}"):
            die()
        if reached(f"half {kind}"):
            line = encode(record)
            os.write(self._fd, line[: len(line) // 2])
            die()
        size = append(self, record)
        if reached(f"after {kind}"):
            die()
        return size

    journal.JournalWriter.append = killing


def _after(owner: Any, name: str, act: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        act()
        return result

    setattr(owner, name, wrapped)


def _before(owner: Any, name: str, act: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        act()
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def main() -> int:
    folder, base_url, point, count = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    ready = prepared(folder, base_url, DialogueSuite())
    run = RunFolder(folder) if folder.exists() else create_run(folder.parent, ready.manifest)
    arm(point, count)
    ending = run_in_foreground(run, ready, retry=RetryScope.NONE)
    assert Engine is not None
    return 0 if ending.closed.reason == "completed" else 1


if __name__ == "__main__":
    sys.exit(main())
