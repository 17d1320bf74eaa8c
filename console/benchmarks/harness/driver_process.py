"""Drivers: processes in the harness's own environment, one for all rollouts of a run, or one for each of a program."""

import asyncio
import contextlib
import contextvars
import json
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from console.benchmarks.harness.definition import PROGRAM, Definition
from console.core.json_text import as_object, read_json
from console.llm.gateway.server import Gateway
from console.sandbox.scratch import make_scratch, remove_scratch

_LONGEST_LINE = 1 << 30
_KEPT_LINES = 30
_ENDING_S = 5.0
"""Seconds for a driver to end by itself."""


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
        """End the process and everything that it started, which it does itself when its input closes."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_ENDING_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        await asyncio.wait(self._reading, timeout=_ENDING_S)  # a process that escaped may hold its output open
        for reading in self._reading:
            reading.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

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
        why = self._why or next(
            (line for line in reversed(self._printed) if line.strip()), "it was killed, or ended without a message"
        )
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
    """Gateway and drivers of one run; a shared driver is started when first needed, and again if it is lost."""

    def __init__(self, folder: Path, definition: Definition) -> None:
        self._folder, self._definition = folder, definition
        self.gateway = Gateway()
        self._scratch = make_scratch()
        self._driver: Driver | None = None
        self._starting, self._opening = asyncio.Lock(), asyncio.Lock()

    @contextlib.asynccontextmanager
    async def driver(self) -> AsyncGenerator[Driver]:
        """Provide a running driver: the shared one, or one of its own for a program, which might kill it."""
        if self._definition.format != PROGRAM:
            async with self._starting:
                if self._driver is None or self._driver.is_lost:
                    if self._driver is not None:
                        await self._driver.aclose()
                    self._driver = await self._start()
            yield self._driver
            return
        driver = await self._start()
        try:
            yield driver
        finally:
            await driver.aclose()

    async def aclose(self) -> None:
        """End driver and gateway."""
        if self._driver is not None:
            await self._driver.aclose()
        await self.gateway.aclose()
        remove_scratch(self._scratch)

    async def _start(self) -> Driver:
        # in its own context, as its output belongs to no single conversation
        return await asyncio.get_running_loop().create_task(self._started(), context=contextvars.Context())

    async def _started(self) -> Driver:
        async with self._opening:
            if not self.gateway.url:
                await self.gateway.open()
        process = await asyncio.create_subprocess_exec(
            *self._definition.driver_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env={**self._definition.variables(), "TMPDIR": self._scratch},  # harnesses leave logs and scripts behind
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        driver = Driver(process)
        driver.open({**self._definition.opening("play"), "gateway": self.gateway.url})
        return driver
