"""The files of the local embedding, all-MiniLM-L6-v2, and whether those of a run were the published ones. Pure."""

from collections.abc import Mapping

WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
PUBLISHED = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""sha256 of each, as they were published."""


def weights_warning(digests: Mapping[str, str]) -> str:
    """Say of a run's weights, by file, that they are not the published ones; empty: they are, or none were used."""
    others = [f"{name} (sha256 {digest[:12]}…)" for name, digest in digests.items() if digest != PUBLISHED.get(name)]
    return f"embedded with weights that are not the published ones: {', '.join(others)}" if others else ""
