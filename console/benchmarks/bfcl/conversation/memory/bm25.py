"""BM25+ (Lv and Zhai 2011) with k1 = 1.5, b = 0.75, δ = 1 and idf = ln((N + 1) / n), used to search keys."""

import math
from collections import Counter
from collections.abc import Sequence

_K1, _B, _DELTA = 1.5, 0.75, 1


class Ranking:
    """BM25+ scores for the texts of a corpus, each given as a list of words."""

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        """Count the words.

        Raises:
            ZeroDivisionError: empty corpus; models see the message.
        """
        self._counts = [Counter(words) for words in corpus]
        self._lengths = [len(words) for words in corpus]
        self._mean_length = sum(self._lengths) / len(corpus)
        texts_with = Counter(word for counts in self._counts for word in counts)
        self._weights = {word: math.log((len(corpus) + 1) / count) for word, count in texts_with.items()}

    def scores(self, query: Sequence[str]) -> list[float]:
        """Return one score per text; words missing from the corpus add nothing."""
        return [self._score(query, counts, length) for counts, length in zip(self._counts, self._lengths, strict=True)]

    def _score(self, query: Sequence[str], counts: Counter[str], length: int) -> float:
        # Same order of operations as the usual implementation, for bit-identical scores.
        total = 0.0
        for word in query:
            count = counts.get(word, 0)
            size = _K1 * (1 - _B + _B * length / self._mean_length)
            total += self._weights.get(word, 0) * (_DELTA + (count * (_K1 + 1)) / (size + count))
        return total
