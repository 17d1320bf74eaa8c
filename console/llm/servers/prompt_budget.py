"""How much a completion may write: what its prompt leaves of the model's context.

Source: BFCL v4, `base_oss_handler.py`, which counts with the model's tokenizer. Here that is done where its folder is
named; else the server counts (`POST /tokenize` beside `/v1`, as vLLM and SGLang offer it), so that no tokenizer has to
be loaded; where it does not, the largest number is asked for and the reply says so.
"""

import json
from typing import Any, cast

from console.config.model import ModelConfig
from console.config.secrets import resolve_key
from console.llm.servers.token_counter import TokenCounter
from console.llm.transport.deadlines import Deadlines
from console.llm.transport.http import ErrorResponse, HttpSession, read
from console.llm.wires.chat.api import CompletionsApi
from console.llm.wires.request_body import as_accepted, encode

LARGEST = 4096
"""Tokens that are asked for where the context has room."""
_LEAST = 1000
"""Those that are asked for where it has none, as officially."""
_RESERVE = 2
_NOT_OFFERED = (400, 404, 405, 422, 501)
UNCOUNTED = f"max_tokens {LARGEST}: the server counts no tokens"
"""What is said of a reply whose prompt nobody has counted."""


def tokens_left(count: int, context: int) -> int:
    """Return how many tokens are asked for behind a prompt of `count` tokens, in a context of so many."""
    return _LEAST if context < count + _RESERVE else min(LARGEST, context - count - _RESERVE)


class PromptBudget:
    """Counts the tokens of each prompt, or has its server count them; one that does not is asked once."""

    def __init__(self, model: ModelConfig, session: HttpSession) -> None:
        """Take the model and the connection to its server; nothing is sent.

        Raises:
            UsageError: its tokenizer cannot be read.
        """
        self._model, self._session = model, session
        self._counter = TokenCounter(model.tokenizer) if model.tokenizer is not None else None
        self._is_offered = True

    async def limited(self, body: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Return a request's body with its `max_tokens`, and whether its prompt has been counted.

        Raises:
            Fault: the server cannot be asked.
        """
        counted = await self._count(body) if self._is_offered else None
        self._is_offered = counted is not None
        most = LARGEST if counted is None else tokens_left(*counted)
        return body | as_accepted(self._model, {"max_tokens": most}), self._is_offered

    async def _count(self, body: dict[str, Any]) -> tuple[int, int] | None:
        if self._counter is not None:
            return await self._counter.count(body["prompt"]), self._counter.context
        return await self._ask_for_count(body)

    async def _ask_for_count(self, body: dict[str, Any]) -> tuple[int, int] | None:
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
    """Return the prompt's tokens and the context's; None where an answer holds no such numbers."""
    try:
        answer: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    fields = cast(dict[str, Any], answer)
    count, context = fields.get("count"), fields.get("max_model_len")
    return (count, context) if type(count) is int and type(context) is int else None


async def counts_tokens(model: ModelConfig) -> bool:
    """Ask a model's server whether it counts tokens.

    Raises:
        Fault: the server cannot be asked.
    """
    key = resolve_key(model)
    session = HttpSession(model, CompletionsApi().headers(key) if key is not None else {})
    try:
        _, is_counted = await PromptBudget(model, session).limited({"model": model.model_id, "prompt": "?"})
    finally:
        await session.aclose()
    return is_counted


def budget_of(model: ModelConfig, session: HttpSession) -> PromptBudget | None:
    """Return what limits the answers of a model; None where its settings do, or its API needs no limit."""
    is_set = model.max_tokens is not None or "max_tokens" in model.params or "max_tokens" in model.omit
    return None if is_set or model.provider != "completions" else PromptBudget(model, session)
