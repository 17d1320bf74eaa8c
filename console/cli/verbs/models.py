"""List the models of models.toml with the state of their keys (the keys themselves are never shown), or add a model.

With --ping, ask the server of one model for its model list, free of charge. `models add` asks for a server and one of
its models, tries it with two short calls, and appends it to models.toml.
"""

import argparse
import time
from typing import Any

from console.cli.add_model_arguments import AddModelArguments, add_model_arguments
from console.cli.exitcode import Exit
from console.cli.output import Output
from console.config.models import ModelBook, ModelConfig, key_state, load_models, public_address
from console.config.paths import find_models_file
from console.core.fault import UsageError
from console.core.names import find_name
from console.core.provider import provider_of
from console.core.suggestion import suggest
from console.exchange.json_kind import JsonKind

MODELS = JsonKind(
    "models",
    "models",
    "The models of models.toml and the simulated ones.",
    {"models": "name, provider, price, key state"},
)
PING = JsonKind(
    "ping",
    "models --ping",
    "Result of checking the server of a model.",
    {
        "name": "name of the model",
        "good": "true if it can be called",
        "text": "result as text",
        "hint": "remedy",
        "seconds": "duration of the check",
    },
)


class ModelsArguments(AddModelArguments):
    """Options of `models` and of `models add`."""

    ping: str | None


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ping", metavar="MODEL", help="check that this model's server answers and serves it")
    add_model_arguments(parser)


def run(args: ModelsArguments) -> int:
    """List the models, ping one or add one; errors in the file are reported, and the other models stay usable."""
    output = args.output
    if args.words[:1] == ["add"] and len(args.words) <= 2:
        from console.cli.add_model import add

        return add(args)
    if args.words:
        raise UsageError(f"unknown command `models {' '.join(args.words)}`", hint="`models add SERVER` adds a model.")
    book = load_models(find_models_file(args.models), args.data)
    if args.ping is not None:
        return _ping(book, args.ping, output)
    for warning in book.warnings:
        output.info(warning)
    for mistake in book.mistakes:
        output.warn(str(mistake))
    if args.json:
        output.data(MODELS, {"models": [_as_json(model) for model in book.models.values()]})
    else:
        output.rows(
            ("model", "id at the provider", "provider", "mode", "key"),
            [
                (model.name, model.model_id, model.provider, model.mode, key_state(model).text)
                for model in book.models.values()
            ],
        )
    return Exit.USAGE if book.mistakes else Exit.OK


def _ping(book: ModelBook, name: str, output: Output) -> int:
    model = book.models.get(find_name(name, book.models) or "")
    if model is None:
        hint = suggest(name, book.models, "`eval-console models` lists them.")
        raise UsageError(f"no model is named {name!r}", hint=hint)
    begun = time.monotonic()
    good, text, hint = _answer(model)
    seconds = round(time.monotonic() - begun, 3)
    if output.machine:
        output.data(PING, {"name": name, "good": good, "text": text, "hint": hint, "seconds": seconds})
    else:
        output.text(f"{name}: {text} ({seconds:.2f} s)" + (f"\n  {hint}" if hint else ""))
    return Exit.OK if good else Exit.INCONCLUSIVE


def _answer(model: ModelConfig) -> tuple[bool, str, str]:
    """Return the result of asking a model's server, as text, and a remedy."""
    state = key_state(model)
    if model.simulated or model.provider == "local":
        return state.ready, state.text, ""
    if not state.ready:
        return False, state.text, "Set the variable, or use another with api_key_env."
    if not provider_of(model.provider).model_list:
        return (
            False,
            f"only a paid call would show: there is no model list for {model.provider}",
            "Try a new run with three cases.",
        )
    import asyncio  # imported late: only --ping needs it

    from console.cli.doctor_checks import GOOD, check_addresses

    findings = asyncio.run(check_addresses(model))
    worst = next((finding for finding in findings if finding.state != GOOD), findings[0])
    text = worst.text if len(findings) == 1 else "; ".join(f"{finding.name}: {finding.text}" for finding in findings)
    return worst.state == GOOD, text, worst.hint


def _as_json(model: ModelConfig) -> dict[str, Any]:
    state = key_state(model)
    return {
        "name": model.name,
        "model_id": model.model_id,
        "provider": model.provider,
        "base_url": public_address(model.base_url) or None,
        "other_urls": [public_address(address) for address in model.other_urls],
        "mode": model.mode,
        "simulated": model.simulated,
        "ready": state.ready,
        "key": state.text,
        "price_in": model.price.input,
        "price_out": model.price.output,
        "price_source": model.price_source or None,
        "context": model.context,
    }
