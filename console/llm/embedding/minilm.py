"""Local embedding with all-MiniLM-L6-v2: no key, no network, no torch.

Six BERT layers, averaged over the first 256 tokens and normalized: 384 numbers for each text. Thresholds tuned for
other embeddings do not carry over, so results with it are not comparable with published totals.
"""

import asyncio
import json
import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from console.config.model import ModelConfig
from console.config.weights import find_weights
from console.core.chat import ChatRequest, Reply
from console.core.fault import Fault, FaultKind, reason_of
from console.core.live import EndpointState
from console.core.weights import VOCABULARY, WEIGHTS
from console.llm.endpoint import Watch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

DIMENSIONS = 384
MOST_TOKENS = 256

_LAYERS, _HEADS = 6, 12
_EPSILON = 1e-12
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_HINT = "Run `eval-console pull minilm`, or name another embedding model."


def embed(texts: Sequence[str], data: Path | str | None = None) -> list[list[float]]:
    """Return a unit vector for each text, in order; takes 7 to 100 ms per text on one core.

    Args:
        texts: texts to embed.
        data: a data folder to search in addition to the usual ones.

    Raises:
        Fault: `data`, if the weights are missing or damaged.
    """
    folder = find_weights(data)
    if folder is None:
        raise Fault(FaultKind.DATA, "the weights of the local embedding are missing", hint=_HINT)
    return _load(folder).embed(texts)


class LocalEndpoint:
    """Embeds on this machine, one call at a time, to use only one core."""

    def __init__(self, model: ModelConfig) -> None:
        self._model = model
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def ask(self, request: ChatRequest, watch: Watch) -> Reply:
        """Raise a fault, since an embedding model cannot answer."""
        raise Fault(
            FaultKind.BAD_REQUEST,
            f"{self._model.name} is an embedding model and cannot answer",
            hint="Use it only as the embedding model.",
        )

    async def embed(self, texts: Sequence[str], watch: Watch) -> list[list[float]]:
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(embed, list(texts), self._model.data)
        finally:
            self._waiting -= 1

    def states(self) -> list[EndpointState]:
        """Return the running and waiting calls; the limit is always one."""
        busy = int(self._turn.locked())
        return [EndpointState(self._model.name, in_flight=busy, limit=1, waiting=self._waiting - busy)]

    def retry_now(self) -> None:
        """Do nothing: this endpoint never pauses."""

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


@lru_cache(maxsize=1)
def _load(folder: Path) -> "MiniLM":
    return MiniLM(folder)


class MiniLM:
    """The encoder with its weights mapped from disk."""

    def __init__(self, folder: Path) -> None:
        """Open weights and vocabulary.

        Raises:
            Fault: `data`, if they cannot be read or belong to another model.
        """
        try:
            self._weights = _read_tensors(folder / WEIGHTS)
            vocabulary = read_vocabulary((folder / VOCABULARY).read_text(encoding="utf-8"))
            self._tokenizer = word_pieces(vocabulary, MOST_TOKENS)
            self._check(len(vocabulary))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"the local embedding in {folder} cannot be read: {reason_of(error)}"
            raise Fault(FaultKind.DATA, message, hint=_HINT) from error

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def _check(self, words: int) -> None:
        shape = self._weights["embeddings.word_embeddings.weight"].shape
        if shape != (words, DIMENSIONS) or f"encoder.layer.{_LAYERS - 1}.output.dense.weight" not in self._weights:
            raise ValueError("these are not the weights of all-MiniLM-L6-v2")

    def _embed(self, text: str) -> list[float]:
        import numpy as np

        ids = self._tokenizer(text)
        state = (
            self._weights["embeddings.word_embeddings.weight"][ids]
            + self._weights["embeddings.position_embeddings.weight"][: len(ids)]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        state = self._layer_norm(state, "embeddings.LayerNorm")
        for number in range(_LAYERS):
            state = self._layer(state, f"encoder.layer.{number}")
        mean = state.mean(axis=0, dtype=np.float64)
        return (mean / max(float(np.linalg.norm(mean)), _EPSILON)).tolist()

    def _layer(self, state: "Array", name: str) -> "Array":
        attended = self._dense(self._attention(state, f"{name}.attention.self"), f"{name}.attention.output.dense")
        state = self._layer_norm(state + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(state, f"{name}.intermediate.dense"))
        return self._layer_norm(state + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, state: "Array", name: str) -> "Array":
        import numpy as np

        tokens, size = len(state), DIMENSIONS // _HEADS
        query, key, value = (
            self._dense(state, f"{name}.{part}").reshape(tokens, _HEADS, size).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(size))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(1, 0, 2).reshape(tokens, DIMENSIONS)

    def _dense(self, state: "Array", name: str) -> "Array":
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _layer_norm(self, state: "Array", name: str) -> "Array":
        centered = state - state.mean(axis=-1, keepdims=True)
        spread = (centered * centered).mean(axis=-1, keepdims=True)
        return centered / (spread + _EPSILON) ** 0.5 * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def read_vocabulary(text: str) -> dict[str, int]:
    """Return the ids of a `vocab.txt`: one piece per line, numbered from 0."""
    return {piece: number for number, piece in enumerate(text.removesuffix("\n").split("\n"))}


def word_pieces(vocabulary: dict[str, int], most_tokens: int) -> Callable[[str], list[int]]:
    """Return a function that turns text into the ids of uncased BERT, with the start and end tokens.

    Args:
        vocabulary: ids by piece.
        most_tokens: maximum length of a result, including special tokens.

    Raises:
        KeyError: the vocabulary lacks a special token.
    """
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers, processors

    ids = {token: vocabulary[token] for token in _SPECIAL}
    unknown = "[UNK]"
    pieces = models.WordPiece(vocabulary, unk_token=unknown, max_input_chars_per_word=100)
    tokenizer: Any = tokenizers.Tokenizer(pieces)
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.add_special_tokens(list(_SPECIAL))
    tokenizer.enable_truncation(most_tokens)
    return lambda text: tokenizer.encode(text.encode("utf-8", "ignore").decode("utf-8")).ids


def _gelu(values: "Array") -> "Array":
    """Return x/2 (1 + erf(x/√2)), with the error function accurate to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    import numpy as np

    scaled = np.abs(values) * np.float32(1 / math.sqrt(2))
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = np.zeros_like(step)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * step
    error = np.copysign(1 - series * np.exp(-scaled * scaled), values)
    return values * np.float32(0.5) * (1 + error)


def _read_tensors(path: Path) -> dict[str, Any]:
    """Map the 32-bit tensors of a safetensors file."""
    import numpy as np

    with path.open("rb") as file:
        size = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
        header = json.loads(file.read(min(size, 1 << 22)))
    content = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
    tensors: dict[str, Any] = {}
    for name, facts in header.items():
        if facts.get("dtype") == "F32":
            start, end = facts["data_offsets"]
            if end > len(content):
                raise ValueError("the file is cut off")
            tensors[name] = content[start:end].view("<f4").reshape(facts["shape"])
    return tensors
