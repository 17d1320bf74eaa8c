"""The driver of a run: one process in the harness's own environment, which plays all its rollouts."""

import asyncio
import contextlib
import contextvars
import json
import os
import signal
from collections import deque
from pathlib import Path
from typing import Any

from console.benchmarks.harness.definition import Definition
from console.core.json_text import as_object, read_json
from console.llm.gateway.server import Gateway

_LONGEST_LINE = 1 << 30
_KEPT_LINES = 30


class DriverLost(Exception):
    """The driver ended, so its rollouts must start over; the message gives the reason."""


Outcome = asyncio.Future[dict[str, Any]]


class Driver:
    """One process and the rollouts that it plays."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._outcomes: dict[str, Outcome] = {}
        self._printed: deque[str] = deque(maxlen=_KEPT_LINES)
        self._why = ""
        self._reading = [asyncio.create_task(self._read()), asyncio.create_task(self._read_printed())]

    @property
    def is_lost(self) -> bool:
        return self._reading[0].done()

    def open(self, opening: dict[str, Any]) -> None:
        self._say(opening)

    def start(self, token: str, order: dict[str, Any], outcome: Outcome) -> None:
        """Start a rollout and deliver its result to `outcome`, or DriverLost if the driver ends."""
        self._outcomes[token] = outcome
        self._say({**order, "do": "start", "token": token})

    def forget(self, token: str) -> None:
        """Ignore the result of a rollout that is still running."""
        if self._outcomes.pop(token, None) is not None and not self.is_lost:
            self._say({"do": "stop", "token": token})

    async def aclose(self) -> None:
        """Kill the process and all its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        await asyncio.gather(*self._reading)

    def _say(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):  # it ended, and the end of its output reports that
            self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self._hear(as_object(read_json(line)))
        except (ValueError, ConnectionError) as error:
            self._why = f"its output cannot be read: {error}"
        await asyncio.wait([self._reading[1]], timeout=1.0)  # wait for the last lines of standard error
        why = self._why or next((line for line in reversed(self._printed) if line.strip()), "it ended")
        for outcome in self._outcomes.values():
            if not outcome.done():
                outcome.set_exception(DriverLost(why))

    def _hear(self, message: dict[str, Any]) -> None:
        if message.get("say") == "failed":
            self._why = str(message.get("message", ""))
        outcome = self._outcomes.pop(str(message.get("token", "")), None)
        if outcome is not None and not outcome.done():
            outcome.set_result(message)

    async def _read_printed(self) -> None:
        assert self._process.stderr is not None
        with contextlib.suppress(ValueError, ConnectionError):  # a line longer than the limit
            while line := await self._process.stderr.readline():
                self._printed.append(line.decode("utf-8", "replace").rstrip())


class HarnessSession:
    """Gateway and driver of one run; the driver is started when first needed, and again if it is lost."""

    def __init__(self, folder: Path, definition: Definition) -> None:
        self._folder, self._definition = folder, definition
        self.gateway = Gateway()
        self._driver: Driver | None = None
        self._starting = asyncio.Lock()

    async def driver(self) -> Driver:
        """Return a running driver."""
        async with self._starting:
            if self._driver is None or self._driver.is_lost:
                # in its own context, as its output belongs to no single conversation
                work = asyncio.get_running_loop().create_task(self._start(), context=contextvars.Context())
                self._driver = await work
            return self._driver

    async def aclose(self) -> None:
        """End driver and gateway."""
        if self._driver is not None:
            await self._driver.aclose()
        await self.gateway.aclose()

    async def _start(self) -> Driver:
        if not self.gateway.url:
            await self.gateway.open()
        if self._driver is not None:
            await self._driver.aclose()
        process = await asyncio.create_subprocess_exec(
            *self._definition.driver_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env=dict(self._definition.variables()),
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        driver = Driver(process)
        driver.open({**self._definition.opening("play"), "gateway": self.gateway.url})
        return driver
