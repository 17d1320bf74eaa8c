"""Which model plays which role of a run: named by the person, by the suite's options, or the best one at hand."""

from console.config.model import ModelConfig
from console.config.models import ModelBook, key_state
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.suites.suite import NamesRoles, RoleModel, Suite


def pick_model(book: ModelBook, name: str) -> ModelConfig:
    """Return a model of models.toml by name.

    Raises:
        UsageError: unknown (names the nearest) or defined with a mistake (shows that mistake).
    """
    model = book.models.get(name)
    if model is not None:
        return model
    for mistake in book.mistakes:
        if f"[{name}]" in mistake.message or f"[{name}]" in mistake.where:
            raise UsageError(mistake.message, where=mistake.where, hint=mistake.hint)
    close = nearest(name, book.models)
    hint = f"Did you mean {close}?" if close else "`eval-console models` lists the models."
    raise UsageError(f"no model is called {name!r}", where=str(book.path or "models.toml"), hint=hint)


def fill_roles(
    book: ModelBook, model: ModelConfig, suite: Suite, options: dict[str, object], chosen: dict[str, str]
) -> dict[str, ModelConfig]:
    """Return a model for every role of the run, `model` included, and for those that a suite can do without.

    Raises:
        UsageError: a role without a model, or one that is not known.
    """
    named = suite.role_models(options) if isinstance(suite, NamesRoles) else {}
    needed = suite.roles(options)
    needed += tuple(role for role in chosen if role not in needed and f"{role}_model" in options)
    for role in chosen:
        if role not in needed:
            raise UsageError(f"the suite {suite.entry.name} has no use for a {role}", where=f"--{role}")
    models = {"model": model}
    for role in needed:
        models[role] = _fill(book, model, role, named.get(role), chosen.get(role))
    return models


def _fill(book: ModelBook, model: ModelConfig, role: str, named: RoleModel | None, chosen: str | None) -> ModelConfig:
    if chosen is not None:
        return pick_model(book, chosen) if chosen in book.models or named is None else _of_options(book, named, chosen)
    simulated = book.models.get(f"sim/{role}") if model.simulated else None
    if simulated is not None and (named is None or named.is_default):
        return simulated
    if named is None:
        raise UsageError(f"the suite needs a model for the role {role}", hint=f"Name one with --{role} NAME.")
    config = _of_options(book, named, named.model)
    fallback = book.models.get(named.fallback) if named.is_default else None
    if fallback is not None and not key_state(config).ready and key_state(fallback).ready:
        return fallback
    return config


def _of_options(book: ModelBook, named: RoleModel, name: str) -> ModelConfig:
    """Return the model that a suite's options describe: an entry, or an id with its own address and key variable."""
    if name in book.models:
        return book.models[name]
    if name != named.model:
        return pick_model(book, name)
    return ModelConfig(name=name, model_id=name, base_url=named.base_url or None, api_key_env=named.api_key_env or None)
