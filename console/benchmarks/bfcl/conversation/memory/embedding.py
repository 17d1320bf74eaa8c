"""Embedding of the vector backend: local MiniLM, or a bag of words that needs no weights."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

from console.benchmarks.bfcl.conversation.memory.vector import Embed
from console.config.weights import find_weights
from console.core.fault import UsageError
from console.llm.embedding import minilm
from console.llm.embedding.bag_of_words import vector_of

EMBEDDINGS = ("minilm", "words")
"""`minilm`: all-MiniLM-L6-v2, as in the official code. `words`: bag of words, needs no weights."""

_ONE_AT_A_TIME = threading.Lock()


def embedding(name: str, dataset: Path, data: Path) -> Embed:
    """Return an embedding by name.

    Args:
        name: one of `EMBEDDINGS`.
        dataset: folder of the dataset, for errors.
        data: folder searched first for pulled weights.

    Raises:
        UsageError: unknown name.
    """
    _check_name(name, dataset)
    embed_text = partial(_minilm_vector, data) if name == "minilm" else vector_of
    return lambda texts: _vectors(embed_text, texts)


def check_embedding(name: str, dataset: Path, data: Path) -> None:
    """Check that an embedding is available.

    Raises:
        UsageError: unknown name, or missing weights.
    """
    _check_name(name, dataset)
    if name == "minilm" and find_weights(data) is None:
        raise UsageError(
            "the vector memory needs the MiniLM weights, which are not installed",
            hint="Run `eval-console pull minilm`, or exclude memory_vector with --category.",
        )


def _check_name(name: str, dataset: Path) -> None:
    if name not in EMBEDDINGS:
        names = ", ".join(EMBEDDINGS)
        raise UsageError(f"unknown embedding {name!r}", where=str(dataset), hint=f"Known: {names}.")


def _vectors(embed_text: Callable[[str], list[float]], texts: Sequence[str]) -> list[list[float]]:
    return [embed_text(text) for text in texts]


def _minilm_vector(data: Path, text: str) -> list[float]:
    """Embed a text under a lock, as concurrent conversations often embed the same texts.

    Raises:
        Fault: missing weights; kind `data`.
    """
    with _ONE_AT_A_TIME:
        return _cached_minilm_vector(data, text)


@lru_cache(maxsize=4096)
def _cached_minilm_vector(data: Path, text: str) -> list[float]:
    return minilm.embed([text], data)[0]
