"""The embedding behind the vector backend: the local MiniLM, or words in common where a dataset asks for no weights."""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

from console.core.fault import UsageError
from console.llm import minilm
from console.llm.bag_of_words import vector_of
from console.suites.bfcl.memory.vector import Embed

EMBEDDINGS = ("minilm", "words")
"""`minilm`: all-MiniLM-L6-v2, as officially. `words`: nearness is words in common; nothing to be pulled."""

_ONE_AT_A_TIME = threading.Lock()


def embedding(name: str, where: str = "") -> Embed:
    """Return an embedding by name.

    Raises:
        UsageError: unknown name.
    """
    if name not in EMBEDDINGS:
        raise UsageError(f"no embedding is called {name!r}", where=where, cure=f"Known: {', '.join(EMBEDDINGS)}.")
    one = _by_meaning if name == "minilm" else vector_of
    return lambda texts: _each(one, texts)


def _each(one: Callable[[str], list[float]], texts: Sequence[str]) -> list[list[float]]:
    return [one(text) for text in texts]


def _by_meaning(text: str) -> list[float]:
    """Embed a text, one at a time: conversations that run side by side search among the same texts.

    Raises:
        Fault: the weights are not here; kind `data`.
    """
    with _ONE_AT_A_TIME:
        return _embedded(text)


@lru_cache(maxsize=4096)
def _embedded(text: str) -> list[float]:
    return minilm.embed([text])[0]
