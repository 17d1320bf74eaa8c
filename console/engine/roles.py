"""Assignment of models to a run's roles: chosen by the user, by the suite's options, or the best available default.

Models are resolved before cases are selected, because a suite's options may name them; only the selected cases
determine whether a role is needed at all.
"""

from collections.abc import Iterable, Sequence

from console.config.model import ModelConfig
from console.config.models import ModelBook, key_state
from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.names import find_name
from console.core.suggestion import suggest
from console.suites.stage import SECOND_JUDGE
from console.suites.suite import RoleModel, Suite


def role_flag(role: str) -> str:
    """Return the option that sets a role's model: a second judge is a second `--judge`."""
    return "--judge" if role == SECOND_JUDGE else f"--{role}"


def role_words(role: str) -> str:
    """Return a role's name in text."""
    return role.replace("_", " ")


def pick_model(book: ModelBook, name: str) -> ModelConfig:
    """Return a model of models.toml by name.

    Raises:
        UsageError: unknown (names the nearest) or invalid (shows the error).
    """
    full_name = find_name(name, book.models)
    if full_name is not None:
        return book.models[full_name]
    for mistake in book.mistakes:
        if f"[{name}]" in mistake.message or f"[{name}]" in mistake.where:
            raise UsageError(mistake.message, where=mistake.where, hint=mistake.hint)
    hint = suggest(name, book.models, "`eval-console models` lists the models.")
    raise UsageError(f"no model is named {name!r}", where=str(book.path or "models.toml"), hint=hint)


def usable_roles(suite: Suite, options: dict[str, object], chosen: Iterable[str]) -> tuple[str, ...]:
    """Return the roles a suite may need, and those of the chosen ones that are optional."""
    roles = tuple(suite.roles(options))
    return roles + tuple(role for role in chosen if role not in roles and f"{role}_model" in options)


def find_role_models(
    book: ModelBook, model: ModelConfig, suite: Suite, options: dict[str, object], chosen: dict[str, str]
) -> dict[str, ModelConfig]:
    """Return the available model for every role that the suite may use, including `model`.

    Raises:
        UsageError: a role that the suite does not use, or an unknown model.
    """
    named = suite.role_models(options)
    usable = usable_roles(suite, options, chosen)
    for role in chosen:
        if role not in usable:
            suite.categories()  # invalid rows have no roles; report them first
            raise UsageError(
                f"the suite {suite.entry.name} does not use the role {role_words(role)}", where=role_flag(role)
            )
    models = {"model": model}
    for role in usable:
        config = _find(book, model, role, named.get(role), chosen.get(role))
        if config is not None:
            models[role] = config
    return models


def needed_models(
    suite: Suite, cases: Sequence[Case], setting: Setting, models: dict[str, ModelConfig]
) -> dict[str, ModelConfig]:
    """Return the models that the selected cases need; all of them if the suite does not specify this by case.

    Raises:
        UsageError: a needed role has no model.
    """
    by_case = suite.roles_of(cases, setting)
    needed = tuple(suite.roles(setting.options) if by_case is None else by_case)
    for role in needed:
        if role not in models:
            words = f"the suite needs a model for the role {role_words(role)}"
            raise UsageError(words, where=role_flag(role), hint="`eval-console models` lists the models.")
    return {role: models[role] for role in ("model", *needed)} if by_case is not None else models


def idle_roles(chosen: dict[str, str], models: dict[str, ModelConfig], suite: str) -> list[str]:
    """Return a warning for each role that the user filled but no selected case needs."""
    return [
        f"{suite}: no selected case needs the role {role}, so {name} is not used"
        for role, name in chosen.items()
        if role not in models
    ]


def _find(
    book: ModelBook, model: ModelConfig, role: str, named: RoleModel | None, chosen: str | None
) -> ModelConfig | None:
    if chosen is not None:
        return pick_model(book, chosen) if chosen in book.models or named is None else _of_options(book, named, chosen)
    simulated = book.models.get(f"sim/{role}") if model.simulated else None
    if simulated is not None and (named is None or named.is_default):
        return simulated
    if named is None:
        return None
    config = _of_options(book, named, named.model)
    fallback = book.models.get(named.fallback) if named.is_default else None
    if fallback is not None and not key_state(config).ready and key_state(fallback).ready:
        return fallback
    return config


def _of_options(book: ModelBook, named: RoleModel, name: str) -> ModelConfig:
    """Return the model described by a suite's options: an entry, or an id with its own address and key variable."""
    if name in book.models:
        return book.models[name]
    if named.is_entry or name != named.model:
        return pick_model(book, name)
    return ModelConfig(name=name, model_id=name, base_url=named.base_url or None, api_key_env=named.api_key_env or None)
