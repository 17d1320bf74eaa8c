"""How the answers of a run are decoded: by the family and the name rule in its setting, which a model's row may decide.

Runs of ours that name no row have one of two forms: text of a prompted model, or native calls in the recorded form.
"""

from typing import TYPE_CHECKING, Any

from console.core.case import Setting

if TYPE_CHECKING:
    from console.suites.bfcl.profile import Profile

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


def profile_extras(profile: "Profile") -> dict[str, Any]:
    """Return what a row decides, for a setting's extras."""
    return {
        PROFILE: profile.name,
        FAMILY: profile.family,
        UNDERSCORE_TO_DOT: profile.underscore_to_dot,
    }
