"""List the models of models.toml, with whether each one's key is at hand. Keys themselves are never shown."""

import argparse
from typing import Any

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.models import ModelConfig, key_state, load_models, public_address
from console.config.paths import find_models_file


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the common options are enough."""


def run(args: Arguments) -> int:
    """List them; mistakes in the file are all named, and the models without one stay usable."""
    output = args.output
    book = load_models(find_models_file(args.models), args.data)
    for warning in book.warnings:
        output.say(warning)
    for mistake in book.mistakes:
        output.warn(str(mistake))
    if args.json:
        output.data([_as_json(model) for model in book.models.values()])
    else:
        output.rows(
            ("model", "id at the provider", "provider", "mode", "key"),
            [
                (model.name, model.model_id, model.provider, model.mode, key_state(model).text)
                for model in book.models.values()
            ],
        )
    return Exit.USAGE if book.mistakes else Exit.OK


def _as_json(model: ModelConfig) -> dict[str, Any]:
    state = key_state(model)
    return {
        "name": model.name,
        "model_id": model.model_id,
        "provider": model.provider,
        "base_url": public_address(model.base_url) or None,
        "mode": model.mode,
        "simulated": model.simulated,
        "ready": state.ready,
        "key": state.text,
        "price_in": model.price.input,
        "price_out": model.price.output,
    }
