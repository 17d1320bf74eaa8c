"""An engine double: a run that is being written, its lock, and its socket."""

from pathlib import Path
from typing import Any

from support.recorded_runs import Recorder

from console.core.case import Key
from console.core.live import Began, Command, Status
from console.engine.publish import Publisher


class FakeEngine:
    """Just enough of an engine: the lock, the journal and the socket."""

    def __init__(self, root: Path, cases: int = 4, **more: Any) -> None:
        self.recorder = Recorder(root, cases=cases, live=True, **more)
        self.status = Status("running", 4)
        self.heard: list[Command] = []
        self.said: list[str] = []
        self.text_wanted: list[bool] = []
        """Whether any watcher wants text, whenever that changed."""
        path = self.recorder.folder.socket_path
        self.publisher = Publisher(path, lambda: self.status, self.heard.append, self.text_wanted.append)

    async def __aenter__(self) -> "FakeEngine":
        await self.publisher.open(self.said.append)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self.recorder.lock is not None:
            await self.publisher.close()
            self.recorder.leave()

    async def end(self, reason: str = "completed") -> None:
        await self.publisher.close()
        self.recorder.close(reason)

    async def die(self) -> None:
        """End without closing the run."""
        await self.publisher.close()
        self.recorder.leave()

    def begin(self, key: Key, n: int = 1, **more: Any) -> None:
        self.publisher.began(Began(key=key, n=n, role="model", **more))
