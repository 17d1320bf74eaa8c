"""The embedding behind the vector backend: the local MiniLM, or words in common where a dataset asks for no weights."""

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
"""`minilm`: all-MiniLM-L6-v2, as officially. `words`: nearness is words in common; nothing to be pulled."""

_ONE_AT_A_TIME = threading.Lock()


def embedding(name: str, dataset: Path, data: Path) -> Embed:
    """Return an embedding by name.

    Args:
        name: one of `EMBEDDINGS`.
        dataset: the folder that asks for it.
        data: the folder in which pulled weights are looked for before the usual ones.

    Raises:
        UsageError: unknown name.
    """
    _check_name(name, dataset)
    embed_text = partial(_minilm_vector, data) if name == "minilm" else vector_of
    return lambda texts: _vectors(embed_text, texts)


def check_embedding(name: str, dataset: Path, data: Path) -> None:
    """Look whether an embedding can be used.

    Raises:
        UsageError: unknown name, or its weights are not here.
    """
    _check_name(name, dataset)
    if name == "minilm" and find_weights(data) is None:
        raise UsageError(
            "the vector memory embeds with MiniLM, whose weights are not here",
            hint="Run `eval-console pull minilm`, or leave memory_vector out of --category.",
        )


def _check_name(name: str, dataset: Path) -> None:
    if name not in EMBEDDINGS:
        names = ", ".join(EMBEDDINGS)
        raise UsageError(f"no embedding is called {name!r}", where=str(dataset), hint=f"Known: {names}.")


def _vectors(embed_text: Callable[[str], list[float]], texts: Sequence[str]) -> list[list[float]]:
    return [embed_text(text) for text in texts]


def _minilm_vector(data: Path, text: str) -> list[float]:
    """Embed a text, one at a time: conversations that run side by side search among the same texts.

    Raises:
        Fault: the weights are not here; kind `data`.
    """
    with _ONE_AT_A_TIME:
        return _cached_minilm_vector(data, text)


@lru_cache(maxsize=4096)
def _cached_minilm_vector(data: Path, text: str) -> list[float]:
    return minilm.embed([text], data)[0]
