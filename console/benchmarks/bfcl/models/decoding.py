"""How the answers of a run are decoded: by the family and the name rule in its setting, which a model's row may decide.

Runs of ours that name no row have one of two forms: text of a prompted model, or native calls in the recorded form.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from console.benchmarks.bfcl.models.decode.families import FAMILIES
from console.benchmarks.bfcl.models.profile import Profile, find_profile, profiles
from console.core.case import Setting
from console.core.fault import UsageError
from console.core.suggestion import nearest_names

if TYPE_CHECKING:
    from console.config.model import ModelConfig

FAMILY = "family"
"""Key of a setting's extras: the decode family."""
UNDERSCORE_TO_DOT = "underscore_to_dot"
"""Key of a setting's extras: dots of function names were sent as underscores."""
PROFILE = "bfcl_name"
"""Key of a setting's extras: the registry name whose row decides both."""


def family_of(setting: Setting) -> str:
    """Return the decode family of a run's answers."""
    family = setting.extras.get(FAMILY)
    return family if isinstance(family, str) else "fc_json" if setting.mode == "fc" else "prompt"


def sent_underscored(setting: Setting) -> bool:
    """Whether names went out so: in fc mode they did, in prompt mode not, unless what is judged says otherwise."""
    explicit = setting.extras.get(UNDERSCORE_TO_DOT)
    return setting.mode == "fc" if explicit is None else bool(explicit)


def profile_setting(profile: Profile) -> Setting:
    """Return the setting of a row: its mode, its decode family and its name rule.

    Models that are served locally are all prompted, with tools in their own templates.
    """
    extras = {PROFILE: profile.name, FAMILY: profile.family, UNDERSCORE_TO_DOT: profile.underscore_to_dot}
    return Setting(mode="fc" if profile.is_fc and not profile.template else "prompt", extras=extras)


def profile_of(setting: Setting) -> Profile | None:
    """Return the row that decides how a run's model is asked and read; None where none does."""
    name = setting.extras.get(PROFILE)
    return profiles().get(name) if isinstance(name, str) else None


def with_row(setting: Setting, model: "ModelConfig", mode: str | None) -> Setting:
    """Return a setting with what the row of a model's `bfcl_name` decides.

    Args:
        setting: the same for every model.
        model: with a `bfcl_name`.
        mode: what a person chose; None: nothing.

    Raises:
        UsageError: there is no such row, or a person chose another mode.
    """
    where = f"models.toml:{model.line}" if model.line else "models.toml"
    try:
        row = profile_setting(find_profile(str(model.bfcl_name)))
    except UsageError as error:
        raise UsageError(f"[{model.name}] bfcl_name: {error.message}", where=where, hint=error.hint) from None
    if mode is not None and mode != row.mode:
        raise UsageError(
            f"{model.name} is asked as {model.bfcl_name}, whose mode is {row.mode}",
            where="--mode",
            hint=f"Leave the mode out, or bfcl_name ({where}).",
        )
    return msgspec.structs.replace(setting, mode=row.mode, extras=setting.extras | row.extras)


def reading_of(setting: Setting) -> str:
    """Return the word for how a run's answers are decoded, for `find_setting`: a registry name or a family."""
    name = setting.extras.get(PROFILE)
    return name if isinstance(name, str) else family_of(setting)


def find_setting(reading: str) -> Setting:
    """Return the setting of answers that are decoded as those of a registry name, an official class or a family.

    A family's name rule is that of most of its rows.

    Raises:
        UsageError: there is nothing of this name, or the rows of a class differ; names the nearest.
    """
    rows = profiles()
    if reading in rows:
        return profile_setting(rows[reading])
    if reading in FAMILIES:
        return _family_setting(reading, [row for row in rows.values() if row.family == reading])
    handlers = {row.handler for row in rows.values()}
    handler = reading if reading in handlers else f"{reading}Handler"
    if handler in handlers:
        of_handler = [row for row in rows.values() if row.handler == handler]
        families = {row.family for row in of_handler}
        if len(families) == 1:
            return _family_setting(families.pop(), of_handler)
        named = ", ".join(sorted(families))
        raise UsageError(f"{reading} decodes in more than one way: {named}", hint="Name the family, or a model of it.")
    close = nearest_names(reading, [*FAMILIES, *handlers, *rows])
    hint = f"Nearest: {', '.join(close)}. " if close else ""
    raise UsageError(f"nothing is called {reading!r}", hint=f"{hint}Families: {', '.join(FAMILIES)}.")


def _family_setting(family: str, rows: Sequence[Profile]) -> Setting:
    native = sum(row.is_fc for row in rows) * 2 > len(rows)
    underscored = sum(row.underscore_to_dot for row in rows) * 2 > len(rows)
    return Setting(mode="fc" if native else "prompt", extras={FAMILY: family, UNDERSCORE_TO_DOT: underscored})
