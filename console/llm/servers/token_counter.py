"""Counts the tokens of prompts with a model's own tokenizer, read from a folder of this machine.

Source: BFCL v4, `base_oss_handler.py`, which loads tokenizer and configuration with `transformers`. Here
`tokenizer.json` is read by the library that does the same counting below it, and the context's length from the files
beside it. Nothing is fetched, and no code of a model's folder is run.
"""

import asyncio
import json
import math
from pathlib import Path
from typing import Any, cast

from console.core.fault import UsageError

_LENGTHS = ("max_position_embeddings", "n_positions")
"""Names of the longest context in `config.json`; the second is that of GPT-2 and its like."""


class TokenCounter:
    """One tokenizer, and the context of its model."""

    def __init__(self, folder: Path) -> None:
        """Read the folder.

        Raises:
            UsageError: it holds no tokenizer, or does not say how long a context is.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise UsageError(
                f"{folder} holds no tokenizer.json" if folder.is_dir() else f"{folder} is no folder",
                hint="Name a folder of the model's files (`hf download ID --local-dir FOLDER` fetches them).",
            )
        import tokenizers  # large, and only needed here

        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise UsageError(f"{path} cannot be read: {str(error)[:200]}") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.context = _context_of(folder)
        """Tokens that prompt and answer have together."""

    async def count(self, prompt: str) -> int:
        """Return how many tokens a prompt has, none added."""
        encoded = await asyncio.to_thread(self._tokenizer.encode, prompt, add_special_tokens=False)
        return len(encoded.ids)


def _context_of(folder: Path) -> int:
    config = _read(folder / "config.json")
    lengths = [config.get(name) for name in _LENGTHS]
    lengths.append(_read(folder / "tokenizer_config.json").get("model_max_length"))
    for length in lengths:
        if isinstance(length, int | float) and 1 <= length < math.inf:
            return int(length)
    raise UsageError(
        f"{folder} does not say how long a context is",
        hint="Its config.json lacks max_position_embeddings, and its tokenizer_config.json model_max_length.",
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        value: Any = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {str(error)[:200]}") from None
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
