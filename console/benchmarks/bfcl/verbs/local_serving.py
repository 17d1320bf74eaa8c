"""The official flags and variables of `bfcl generate` for locally served models.

A registry model with the API `/v1/completions` needs no entry in models.toml; flags and variables specify the server.
"""

import argparse
import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec

from console.benchmarks.bfcl.models.profile import Profile, profiles
from console.cli.parser import Arguments
from console.config.environment import variable
from console.config.model import Limits, ModelConfig
from console.core.fault import Fault, UsageError

_LONGEST_S = 72000.0
"""Official timeout in seconds of a request to a local model, which may wait behind many others."""
LOCAL_THREADS = 100
"""Official number of concurrent conversations with a local model."""


class ServingArguments(Arguments):
    """The flags."""

    backend: str
    num_gpus: int
    gpu_memory_utilization: float
    skip_server_setup: bool
    local_model_path: Path | None
    enable_lora: bool
    max_lora_rank: int | None
    lora_modules: list[str]


def add_serving_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the official flags."""
    group = parser.add_argument_group("models served on this machine")
    group.add_argument("--backend", choices=("vllm", "sglang"), default="sglang", help="server to start")
    group.add_argument("--num-gpus", type=int, default=1, metavar="N")
    group.add_argument("--gpu-memory-utilization", type=float, default=0.9, metavar="SHARE")
    group.add_argument("--skip-server-setup", action="store_true", help="use a server that is already running")
    group.add_argument(
        "--local-model-path", type=Path, metavar="FOLDER", help="weights to load instead of the model's name"
    )
    group.add_argument("--enable-lora", action="store_true", help="vllm only, like the next two options")
    group.add_argument("--max-lora-rank", type=int, metavar="R")
    group.add_argument("--lora-modules", action="append", default=[], metavar="NAME=PATH")


def local_model(args: ServingArguments, name: str) -> ModelConfig:
    """Return the configuration of a registry model without an entry in models.toml.

    Raises:
        UsageError: not a locally served model, or an invalid flag.
    """
    profile = profiles()[name]
    if profile.api != "completions":
        raise UsageError(
            f"no model is named {name!r} in models.toml, and {name} is a hosted model",
            where="--model",
            hint=_entry_for(profile),
        )
    _check(args)
    folder = args.local_model_path
    model = ModelConfig(
        name=name,
        model_id=str(folder) if folder else profile.model_id,
        provider="completions",
        base_url=_address(),
        api_key_env="REMOTE_OPENAI_API_KEY" if variable("REMOTE_OPENAI_API_KEY") else None,
        bfcl_name=name,
        tokenizer=_tokenizer(folder),
        limits=Limits(timeout_s=_LONGEST_S, first_token_s=_LONGEST_S),
    )
    served_id = _served_id(model) if variable("REMOTE_OPENAI_BASE_URL") else model.model_id
    if served_id != model.model_id:
        args.output.info(f"{name} is {served_id} at {model.base_url}")
    return msgspec.structs.replace(model, model_id=served_id)


def _served_id(model: ModelConfig) -> str:
    """Return the id of a model at a server that the user named, which may serve it under an alias.

    A server with a single model, such as llama.cpp's, is taken to serve the right one.
    """
    from console.llm.servers.model_list import list_models

    try:
        served = asyncio.run(list_models(model))
    except Fault:
        return model.model_id  # reported when the server is needed
    ids = [each.id for each in served]
    named = next((each.id for each in served if model.model_id in each.aliases), None)
    return model.model_id if model.model_id in ids else named or (ids[0] if len(ids) == 1 else model.model_id)


def _entry_for(profile: Profile) -> str:
    from console.benchmarks.bfcl.models.handlers.table import PROVIDERS_OF_API

    provider = PROVIDERS_OF_API[profile.api][0]
    fields = f'model_id = "{profile.model_id}", provider = "{provider}" and bfcl_name = "{profile.name}"'
    return f"Give it an entry there with {fields}."


def _address() -> str:
    remote = variable("REMOTE_OPENAI_BASE_URL")
    host, port = variable("LOCAL_SERVER_ENDPOINT") or "localhost", variable("LOCAL_SERVER_PORT") or "1053"
    if remote is None and not (port.isdigit() and 0 < int(port) < 65536):
        raise UsageError(f"{port!r} is not a port", where="LOCAL_SERVER_PORT")
    return remote or f"http://{host}:{port}/v1"


def _tokenizer(weights: Path | None) -> Path | None:
    """Return the folder of the tokenizer that counts prompt tokens, as in the official code; None: the server counts.

    Raises:
        UsageError: no readable tokenizer in the folder.
    """
    from console.llm.servers.prompt_budget import TokenCounter

    remote = variable("REMOTE_OPENAI_TOKENIZER_PATH") if variable("REMOTE_OPENAI_BASE_URL") else None
    if remote is not None:
        folder, where = Path(remote), "REMOTE_OPENAI_TOKENIZER_PATH"
    elif weights is not None and (weights / "tokenizer.json").is_file():
        folder, where = weights, "--local-model-path"
    else:
        return None
    try:
        TokenCounter(folder)
    except UsageError as error:
        raise UsageError(error.message, where=where, hint=error.hint) from None
    return folder


def _check(args: ServingArguments) -> None:
    loras = args.enable_lora or args.max_lora_rank is not None or args.lora_modules
    if loras and args.backend == "sglang":
        raise UsageError("LoRA adapters are served by vllm only", where="--enable-lora", hint="Add --backend vllm.")
    for module in args.lora_modules:
        if not all(module.partition("=")):
            raise UsageError(f"{module!r} is not NAME=PATH", where="--lora-modules")
    if args.num_gpus < 1:
        raise UsageError(f"must be at least 1, not {args.num_gpus}", where="--num-gpus")
    if not 0 < args.gpu_memory_utilization <= 1:
        text = f"must be above 0 and at most 1, not {args.gpu_memory_utilization:g}"
        raise UsageError(text, where="--gpu-memory-utilization")
    folder = args.local_model_path
    for name in ("config.json", "tokenizer_config.json") if folder else ():
        if not (Path(str(folder)) / name).is_file():
            raise UsageError(f"{folder} has no {name}", where="--local-model-path", hint="Give a folder of weights.")


Serving = Callable[[Path, Callable[[str], None]], AbstractContextManager[None]]
"""Takes a log file and a progress callback; returns a context in which the model is served."""


def plan_serving(args: ServingArguments, model: ModelConfig) -> Serving:
    """Find the running server of a model, or plan to start one.

    Raises:
        UsageError: neither is possible.
    """
    from console.llm.servers.local_server import ServerSettings, is_served, running_server, server_command

    if is_served(model):
        return lambda log, notify: _served(nullcontext(), model, notify)
    if args.skip_server_setup or variable("REMOTE_OPENAI_BASE_URL"):
        raise UsageError(
            f"no server answers at {model.base_url}",
            where="--skip-server-setup" if args.skip_server_setup else "REMOTE_OPENAI_BASE_URL",
            hint="Start it, or correct the address (LOCAL_SERVER_ENDPOINT, LOCAL_SERVER_PORT, REMOTE_OPENAI_BASE_URL).",
        )
    settings = ServerSettings(
        args.backend,
        args.num_gpus,
        args.gpu_memory_utilization,
        args.enable_lora,
        args.max_lora_rank,
        tuple(args.lora_modules),
    )
    command = server_command(settings, model)
    return lambda log, notify: _served(running_server(command, model, log, notify), model, notify)


@contextmanager
def _served(server: AbstractContextManager[None], model: ModelConfig, notify: Callable[[str], None]) -> Generator[None]:
    """Report the limit of answer lengths once the server runs."""
    from console.llm.servers.prompt_budget import LARGEST, counts_tokens

    with server:
        try:
            is_counted = asyncio.run(counts_tokens(model))
        except Fault as fault:
            raise UsageError(f"the server at {model.base_url} cannot be queried: {fault.message}") from None
        if model.tokenizer is not None:
            notify(f"max_tokens: {LARGEST}, or the rest of the context, counted by the tokenizer in {model.tokenizer}")
        elif is_counted:
            notify(f"max_tokens: {LARGEST}, or the rest of the context, counted by the server")
        else:
            notify(f"max_tokens: {LARGEST} for every prompt; this server does not count tokens (POST /tokenize)")
        yield
