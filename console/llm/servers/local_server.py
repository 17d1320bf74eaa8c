"""A server for one model on this machine, started for the duration of a command.

Source: BFCL v4, `base_oss_handler.py`: the commands that start `vllm` and `sglang`, and the polling of `GET /models`
every second until it answers.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO
from urllib.parse import urlsplit

from console.config.model import ModelConfig
from console.config.redaction import sounds_secret
from console.core.fault import Fault, FaultKind, UsageError, os_errors_as
from console.llm.servers.model_list import served_models, served_models_text

POLL_S = 1.0
"""Seconds between two polls of a starting server."""
_STOP_S = 20.0
"""Seconds that a server has to exit before it is killed."""
_NOT_YET = (FaultKind.CONNECT, FaultKind.SERVER, FaultKind.BROKEN_STREAM, FaultKind.DEADLINE, FaultKind.SILENT)
"""Faults of an address where no server runs, or where one is still loading."""
_SERVER_KEYS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "MODELSCOPE_API_TOKEN")
"""Keys that servers need to fetch weights; no other secrets are passed on."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of a server, named as in the official command."""

    backend: str
    """`vllm` or `sglang`."""
    gpus: int = 1
    memory: float = 0.9
    """Share of each GPU's memory."""
    enable_lora: bool = False
    max_lora_rank: int | None = None
    lora_modules: tuple[str, ...] = ()
    """Entries of the format `name=path`."""


def server_command(settings: ServerSettings, model: ModelConfig) -> list[str]:
    """Return the command that serves a model at its address.

    Raises:
        UsageError: the program is not on the path.
    """
    program = shutil.which(settings.backend)
    if program is None:
        raise UsageError(
            f"no server answers at {model.base_url}, and {settings.backend} is not on the path to start one",
            where="--backend",
            hint=f"Install {settings.backend}, choose the other backend, or start a server yourself: its address goes "
            "into LOCAL_SERVER_ENDPOINT and LOCAL_SERVER_PORT, or REMOTE_OPENAI_BASE_URL.",
        )
    port = str(urlsplit(model.base_url or "").port)
    gpus, memory = str(settings.gpus), str(settings.memory)
    if settings.backend == "sglang":
        python = Path(program).with_name("python")
        start = [str(python) if python.exists() else "python", "-m", "sglang.launch_server"]
        start += ["--model-path", model.model_id, "--port", port, "--dtype", "bfloat16"]
        return [*start, "--tp", gpus, "--mem-fraction-static", memory, "--trust-remote-code"]
    start = [program, "serve", model.model_id, "--port", port, "--dtype", "bfloat16"]
    start += ["--tensor-parallel-size", gpus, "--gpu-memory-utilization", memory, "--trust-remote-code"]
    start += ["--enable-lora"] if settings.enable_lora else []
    start += [] if settings.max_lora_rank is None else ["--max-lora-rank", str(settings.max_lora_rank)]
    return start + [part for module in settings.lora_modules for part in ("--lora-modules", module)]


def is_served(model: ModelConfig) -> bool:
    """Return True if a server at the model's address has the model, False if none answers.

    Raises:
        UsageError: the server there does not have the model.
    """
    try:
        served = asyncio.run(served_models(model))
    except Fault as fault:
        if fault.kind in _NOT_YET:
            return False
        raise UsageError(f"the server at {model.base_url} does not list its models: {fault.message}") from None
    if served and model.model_id not in served:
        raise UsageError(
            f"the server at {model.base_url} does not serve {model.model_id}",
            hint=f"Use another LOCAL_SERVER_PORT, or stop that server: {served_models_text(model.model_id, served)}.",
        )
    return True


@contextmanager
def running_server(
    command: Sequence[str], model: ModelConfig, log: Path, notify: Callable[[str], None]
) -> Generator[None]:
    """Start a server, wait until it answers, and always stop it at the end.

    Args:
        command: see `server_command`.
        model: the model it serves, at its address.
        log: file for the server's output.
        notify: called with progress messages.

    Raises:
        UsageError: it could not be started, or ended before it answered.
    """
    server: subprocess.Popen[bytes] | None = None
    with _stopped_by_signals(), log.open("ab") as output:
        try:
            with _held_signals():
                server = _start(command, output)
            notify(f"waiting for {Path(command[0]).name} at {model.base_url}, logging to {log}")
            _await_answer(server, model, log)
            yield
        finally:
            if server is not None:
                _stop(server)


def _start(command: Sequence[str], output: IO[bytes]) -> "subprocess.Popen[bytes]":
    env = {name: value for name, value in os.environ.items() if name in _SERVER_KEYS or not sounds_secret(name)}
    with os_errors_as(f"{command[0]} cannot be started"):
        return subprocess.Popen(  # noqa: S603  # a program chosen by the user; no shell
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env, start_new_session=True
        )


def _await_answer(server: "subprocess.Popen[bytes]", model: ModelConfig, log: Path) -> None:
    while not is_served(model):
        if server.poll() is not None:
            lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
            raise UsageError(
                f"the server of {model.model_id} exited with code {server.returncode} before it answered: {last[:300]}",
                where=str(log),
            )
        time.sleep(POLL_S)


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """Stop a server and all processes of its group."""
    for number, patience in ((signal.SIGTERM, _STOP_S), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, number)
        with suppress(subprocess.TimeoutExpired):
            server.wait(patience)
            if number is signal.SIGTERM and not _has_processes(server.pid):
                return


def _has_processes(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@contextmanager
def _held_signals() -> Generator[None]:
    """Delay signals that end the program until the end of the block, so that no process started in it is orphaned."""
    came: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    kept = {number: signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


@contextmanager
def _stopped_by_signals() -> Generator[None]:
    """Let SIGTERM and SIGHUP end the block like SIGINT, so that the server is stopped."""

    def leave(number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)

    kept = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
