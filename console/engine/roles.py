"""Which model plays which role of a run: named by the person, by the suite's options, or the best one at hand.

Models are looked up before cases are selected, because a suite's options may name them; whether a role is needed at all
is known only from the selected cases.
"""

from collections.abc import Iterable, Sequence

from console.config.model import ModelConfig
from console.config.models import ModelBook, key_state
from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.suggestion import nearest
from console.suites.stage import SECOND_JUDGE
from console.suites.suite import RoleModel, Suite


def role_flag(role: str) -> str:
    """Return the option that names a role's model: a second judge is a second `--judge`."""
    return "--judge" if role == SECOND_JUDGE else f"--{role}"


def role_words(role: str) -> str:
    """Return a role as texts name it."""
    return role.replace("_", " ")


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


def usable_roles(suite: Suite, options: dict[str, object], chosen: Iterable[str]) -> tuple[str, ...]:
    """Return the roles that a suite may need, and of the chosen ones those that it can do without."""
    roles = tuple(suite.roles(options))
    return roles + tuple(role for role in chosen if role not in roles and f"{role}_model" in options)


def find_role_models(
    book: ModelBook, model: ModelConfig, suite: Suite, options: dict[str, object], chosen: dict[str, str]
) -> dict[str, ModelConfig]:
    """Return a model for every role that the suite may need or can use, `model` included, where there is one.

    Raises:
        UsageError: a role that the suite has no use for, or a model that is not known.
    """
    named = suite.role_models(options)
    usable = usable_roles(suite, options, chosen)
    for role in chosen:
        if role not in usable:
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
    """Return those of the models that the selected cases need; all of them where the suite does not tell by case.

    Raises:
        UsageError: a role that they need has no model.
    """
    by_case = suite.roles_of(cases, setting)
    needed = tuple(suite.roles(setting.options) if by_case is None else by_case)
    for role in needed:
        if role not in models:
            words = f"the suite needs a model for the role {role_words(role)}"
            raise UsageError(words, where=role_flag(role), hint="`eval-console models` lists the models.")
    return {role: models[role] for role in ("model", *needed)} if by_case is not None else models


def idle_roles(chosen: dict[str, str], models: dict[str, ModelConfig], suite: str) -> list[str]:
    """Say of each role that a person has filled and no selected case needs that its model is not asked."""
    return [
        f"{suite}: no selected case needs the role {role}, so {name} is not asked in it"
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
    """Return the model that a suite's options describe: an entry, or an id with its own address and key variable."""
    if name in book.models:
        return book.models[name]
    if named.is_entry or name != named.model:
        return pick_model(book, name)
    return ModelConfig(name=name, model_id=name, base_url=named.base_url or None, api_key_env=named.api_key_env or None)
