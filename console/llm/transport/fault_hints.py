"""Hints: what a person can do about a fault of a model."""

from console.config.model import ModelConfig
from console.core.fault import FaultKind


def hint_for(kind: FaultKind, model: ModelConfig) -> str:
    """Return the hint for a fault of a model, one sentence; empty when there is none."""
    source = f"the variable {model.api_key_env}" if model.api_key_env else "its key"
    return {
        FaultKind.AUTH: f"Check {source} for [{model.name}].",
        FaultKind.QUOTA: f"Add credit at the provider of [{model.name}], or choose another model.",
        FaultKind.NOT_FOUND: f"Check model_id and base_url of [{model.name}]; `eval-console doctor` lists what it has.",
        FaultKind.BAD_REQUEST: f"Check the parameters of [{model.name}] in models.toml.",
        FaultKind.BAD_TOOL_SCHEMA: 'The server refuses these tools; try mode = "prompt".',
        FaultKind.TRUNCATED: "If this befalls every answer, update the server: it must send a finish_reason.",
        FaultKind.BAD_ANSWER: f"Check base_url of [{model.name}]: it must be the address of an OpenAI-style API.",
    }.get(kind, "")
