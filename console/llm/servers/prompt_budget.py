"""The length limit of a text completion: the part of the model's context left free by its prompt.

Source: BFCL v4, `base_oss_handler.py`, which loads the model's tokenizer and configuration with `transformers`. Here
`tokenizer.json` is read by the underlying tokenizer library, if a folder is configured; no code of a model's folder is
run. Otherwise the server counts (`POST /tokenize` next to `/v1`, as in vLLM and SGLang). If it cannot, the largest
limit is sent and the reply is flagged.
"""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

from console.config.model import ModelConfig
from console.core.fault import UsageError, reason_of
from console.core.json_text import as_object
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read
from console.llm.wires.chat import COMPLETIONS_API
from console.llm.wires.request_body import as_accepted, encode

LARGEST = 4096
"""Maximum `max_tokens`, sent if the context has room for it."""
_LEAST = 1000
"""`max_tokens` for a prompt that fills the context, as in the official handler."""
_RESERVE = 2
_NOT_OFFERED = (400, 404, 405, 422, 501)
UNCOUNTED = f"max_tokens {LARGEST}: the server counts no tokens"
"""Flag of a reply whose prompt was not counted."""
_CONTEXT_FIELDS = ("max_position_embeddings", "n_positions")
"""Fields of `config.json` with the context length; the second is GPT-2's."""


class TokenCounter:
    """A model's own tokenizer and context length, read from a local folder."""

    def __init__(self, folder: Path) -> None:
        """Read the folder.

        Raises:
            UsageError: it has no tokenizer, or does not state the context length.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise UsageError(
                f"{folder} has no tokenizer.json" if folder.is_dir() else f"{folder} is not a folder",
                hint="Name a folder of the model's files (`hf download ID --local-dir FOLDER` fetches them).",
            )
        import tokenizers  # large, and only needed here

        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise UsageError(f"{path} cannot be read: {reason_of(error)}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.context = _context_of(folder)
        """Maximum total number of tokens in prompt and answer."""

    async def count(self, prompt: str) -> int:
        """Return the number of tokens in a prompt, without special tokens."""
        encoded = await asyncio.to_thread(self._tokenizer.encode, prompt, add_special_tokens=False)
        return len(encoded.ids)


def _context_of(folder: Path) -> int:
    config = _read_config(folder / "config.json")
    lengths = [config.get(name) for name in _CONTEXT_FIELDS]
    lengths.append(_read_config(folder / "tokenizer_config.json").get("model_max_length"))
    for length in lengths:
        if isinstance(length, int | float) and 1 <= length < math.inf:
            return int(length)
    raise UsageError(
        f"{folder} does not state the context length",
        hint="Its config.json lacks max_position_embeddings, and its tokenizer_config.json lacks model_max_length.",
    )


def _read_config(path: Path) -> dict[str, Any]:
    try:
        return as_object(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {reason_of(error)}") from None


def tokens_left(count: int, context: int) -> int:
    """Return `max_tokens` for a prompt of `count` tokens."""
    return _LEAST if context < count + _RESERVE else min(LARGEST, context - count - _RESERVE)


class PromptBudget:
    """Limits completions by the tokens of their prompts; a server that cannot count is asked only once."""

    def __init__(self, model: ModelConfig, session: HttpSession) -> None:
        """Load the model's tokenizer if one is configured; nothing is sent.

        Raises:
            UsageError: the tokenizer cannot be read.
        """
        self._model, self._session = model, session
        self._counter = TokenCounter(model.tokenizer) if model.tokenizer is not None else None
        self._is_offered = True

    async def limited(self, body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a request body with its `max_tokens`, and whether the prompt was counted.

        Raises:
            Fault: the server could not be asked.
        """
        counted = await self._count(body) if self._is_offered else None
        self._is_offered = counted is not None
        most = LARGEST if counted is None else tokens_left(*counted)
        return body | as_accepted(self._model, {"max_tokens": most}), self._is_offered

    async def _count(self, body: dict[str, Any]) -> tuple[int, int] | None:
        """Return the tokens of the prompt and of the context, or None if they cannot be counted."""
        if self._counter is not None:
            return await self._counter.count(body["prompt"]), self._counter.context
        question = {"model": body["model"], "prompt": body["prompt"], "add_special_tokens": False}
        try:
            async with (
                Deadlines(self._model.limits, streamed=False),
                self._session.request("POST", "../tokenize", encode(question)) as response,
            ):
                return _counts(await read(response))
        except ErrorResponse as error_response:
            if error_response.status in _NOT_OFFERED:
                return None
            raise self._session.fault_of_response(error_response) from None


def _counts(raw: bytes) -> tuple[int, int] | None:
    try:
        fields = as_object(json.loads(raw))
    except (ValueError, RecursionError):
        return None
    count, context = fields.get("count"), fields.get("max_model_len")
    return (count, context) if type(count) is int and type(context) is int else None


async def counts_tokens(model: ModelConfig) -> bool:
    """Ask a model's server whether it counts tokens.

    Raises:
        Fault: the server could not be asked.
    """
    session = HttpSession(model, COMPLETIONS_API.headers)
    try:
        _, is_counted = await PromptBudget(model, session).limited({"model": model.model_id, "prompt": "?"})
    finally:
        await session.aclose()
    return is_counted


def budget_of(model: ModelConfig, session: HttpSession) -> PromptBudget | None:
    """Return the budget of a model that completes texts, or None if its settings or its API make it unnecessary."""
    is_set = model.max_tokens is not None or "max_tokens" in model.params or "max_tokens" in model.omit
    return None if is_set or model.provider != "completions" else PromptBudget(model, session)
