"""Decode family and naming rule in the setting of a run, which may come from a registry row.

Without a row, our own runs use one of two formats: text of a prompted model, or recorded native calls.
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
"""Key of a setting's extras: function names were sent with underscores for dots."""
PROFILE = "bfcl_name"
"""Key of a setting's extras: name of the registry row, which defines the two values above."""


def family_of(setting: Setting) -> str:
    """Return the decode family of a run's answers."""
    family = setting.extras.get(FAMILY)
    return family if isinstance(family, str) else "fc_json" if setting.mode == "fc" else "prompt"


def sent_underscored(setting: Setting) -> bool:
    """Return whether function names were sent with underscores; by default in fc mode only."""
    explicit = setting.extras.get(UNDERSCORE_TO_DOT)
    return setting.mode == "fc" if explicit is None else bool(explicit)


def profile_setting(profile: Profile) -> Setting:
    """Return the setting of a row: mode, decode family and naming rule.

    Locally served models are always prompted, with tools in their own templates.
    """
    extras = {PROFILE: profile.name, FAMILY: profile.family, UNDERSCORE_TO_DOT: profile.underscore_to_dot}
    return Setting(mode="fc" if profile.is_fc and not profile.template else "prompt", extras=extras)


def profile_of(setting: Setting) -> Profile | None:
    """Return the registry row of a run's model, if any."""
    name = setting.extras.get(PROFILE)
    return profiles().get(name) if isinstance(name, str) else None


def with_row(setting: Setting, model: "ModelConfig", mode: str | None) -> Setting:
    """Apply the registry row of a model's `bfcl_name` to a setting.

    Args:
        setting: common to all models.
        model: model with a `bfcl_name`.
        mode: chosen by the user, if any.

    Raises:
        UsageError: unknown row, or a conflicting mode.
    """
    where = f"models.toml:{model.line}" if model.line else "models.toml"
    try:
        row = profile_setting(find_profile(str(model.bfcl_name)))
    except UsageError as error:
        raise UsageError(f"[{model.name}] bfcl_name: {error.message}", where=where, hint=error.hint) from None
    if mode is not None and mode != row.mode:
        raise UsageError(
            f"{model.name} uses the row {model.bfcl_name}, whose mode is {row.mode}",
            where="--mode",
            hint=f"Omit the mode or bfcl_name ({where}).",
        )
    return msgspec.structs.replace(setting, mode=row.mode, extras=setting.extras | row.extras)


def reading_of(setting: Setting) -> str:
    """Return the registry name or decode family of a setting, as accepted by `find_setting`."""
    name = setting.extras.get(PROFILE)
    return name if isinstance(name, str) else family_of(setting)


def find_setting(reading: str) -> Setting:
    """Return the setting for a registry name, official class or decode family.

    A family uses the naming rule of most of its rows.

    Raises:
        UsageError: unknown name (suggests one), or a class with different rows.
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
    raise UsageError(f"unknown name {reading!r}", hint=f"{hint}Families: {', '.join(FAMILIES)}.")


def _family_setting(family: str, rows: Sequence[Profile]) -> Setting:
    native = sum(row.is_fc for row in rows) * 2 > len(rows)
    underscored = sum(row.underscore_to_dot for row in rows) * 2 > len(rows)
    return Setting(mode="fc" if native else "prompt", extras={FAMILY: family, UNDERSCORE_TO_DOT: underscored})
