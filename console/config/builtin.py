"""Built-in models: the simulated ones, marked as such everywhere, and the local embedding model.

They need no file, key or network; only the weights of the embedding model must be pulled once.
"""

from console.config.model import Limits, ModelConfig
from console.config.weights import LOCAL_EMBEDDING
from console.core.price import Price

PERSONAS = {
    "careful": "right nine times in ten",
    "hasty": "wrong values, wrong types, forgotten and invented arguments",
    "rambling": "talks around its answers, thinks aloud, sometimes cannot be decoded",
    "broken": "rate limits, cut streams, garbage and silence",
    "judge": "grades answers for AidanBench",
    "user": "plays the user of a conversation",
    "embedding": "turns strings into vectors for AidanBench",
}
"""Each simulated model with a short description."""

_FREE = Price(0.0, 0.0, 0.0)


def simulated_models() -> dict[str, ModelConfig]:
    """Return the simulated models by name (`sim/careful` …)."""
    return {
        f"sim/{persona}": ModelConfig(
            name=f"sim/{persona}", model_id=persona, provider="simulated", price=_FREE, limits=Limits()
        )
        for persona in PERSONAS
    }


def local_models() -> dict[str, ModelConfig]:
    """Return the local embedding model by name."""
    model = ModelConfig(name=LOCAL_EMBEDDING, model_id="all-MiniLM-L6-v2", provider="local", price=_FREE)
    return {model.name: model}
