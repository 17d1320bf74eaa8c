"""The worker's protocol with the engine: calls come in; answers, messages and questions go out; JSON frames only.

A program is a module with `start(port, setup) -> {name: operation}`. An operation takes one JSON object and returns a
JSON value; it may be a coroutine function. An exception becomes an error frame with class and text, never a pickle.
"""

import asyncio
import importlib
import inspect
import json
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

Operation = Callable[[dict[str, Any]], Any]
_TEXT = 4000
"""Maximum length of an error text."""


class Port:
    """The program's connection to the engine."""

    def __init__(self, control: socket.socket, frame_bytes: int) -> None:
        self._control = control
        self._frame_bytes = frame_bytes
        self._lock = threading.Lock()

    def tell(self, kind: str, data: Any) -> None:
        """Send the engine a message that needs no answer."""
        self.send({"tell": kind, "data": data})

    def ask(self, kind: str, data: Any) -> Any:
        """Ask the engine and wait for its answer.

        Raises:
            RuntimeError: the engine refused; the text is its reason.
        """
        self.send({"ask": kind, "data": data})
        answer = self.receive()
        if answer is None or "refused" in answer:
            raise RuntimeError(str((answer or {}).get("refused", "the engine closed the connection")))
        return answer.get("answer")

    def send(self, frame: dict[str, Any]) -> None:
        data = json.dumps(frame, ensure_ascii=True, allow_nan=False, default=repr).encode("ascii")
        if len(data) > self._frame_bytes:
            raise ValueError(f"a message of {len(data)} bytes is longer than allowed")
        with self._lock:
            self._control.sendall(len(data).to_bytes(4, "big") + data)

    def receive(self) -> dict[str, Any] | None:
        """Wait for one frame; None if the engine closed the connection."""
        head = self._exactly(4)
        body = self._exactly(int.from_bytes(head, "big")) if head else None
        return json.loads(body) if body else None

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            part = self._control.recv(size - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


def serve(control: socket.socket, setup: dict[str, Any], level: dict[str, Any]) -> int:
    """Load the program and answer calls until the engine closes the connection; return the exit code.

    The level is sent before the program's first line runs.
    """
    port = Port(control, setup["limits"]["frame_bytes"])
    port.send({"level": level})
    try:
        program = importlib.import_module(setup["program"])
        operations = cast("dict[str, Operation]", program.start(port, setup["setup"]))
    except BaseException as error:
        port.send({"failed": describe(error)})
        return 1
    port.send({"ready": sorted(operations)})
    while (frame := port.receive()) is not None:
        port.send(_answer(operations, frame))
    return 0


def describe(error: BaseException) -> dict[str, str]:
    """Return class and text of an exception, even if its `__str__` fails."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return {"type": type(error).__name__, "message": text[:_TEXT]}


def _answer(operations: dict[str, Operation], frame: dict[str, Any]) -> dict[str, Any]:
    try:
        operation = operations[frame["call"]]
        result = operation(frame["arguments"])
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        json.dumps(result, allow_nan=False)
    except BaseException as error:
        return {"error": describe(error)}
    return {"result": result}
