"""Published digests of the local embedding model, all-MiniLM-L6-v2, and a check of a run's files against them. Pure."""

from collections.abc import Mapping

WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
PUBLISHED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""Published sha256 of each file."""


def weights_warning(digests: Mapping[str, str]) -> str:
    """Return a warning if a run's weights are not the published ones; empty if they are or none were used."""
    others = [f"{name} (sha256 {digest[:12]}…)" for name, digest in digests.items() if digest != PUBLISHED.get(name)]
    return f"embedded with weights that are not the published ones: {', '.join(others)}" if others else ""
