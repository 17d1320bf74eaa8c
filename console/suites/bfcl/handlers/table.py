"""Which handler speaks to a model: that of its registry row, or a generic one."""

from functools import partial

from console.core.case import Setting
from console.core.fault import UsageError
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.decode.family import PROMPTED
from console.suites.bfcl.decoding import profile_of
from console.suites.bfcl.execution import executable_calls
from console.suites.bfcl.handlers.completion import CompletionHandler
from console.suites.bfcl.handlers.generic import GENERIC, NATIVE_FORMS, NativeHandler, PromptHandler
from console.suites.bfcl.handlers.handler import Handler
from console.suites.bfcl.handlers.own_prompts import DMCitoHandler, NemotronHandler, own_prompt_texts
from console.suites.bfcl.handlers.service import ServiceHandler
from console.suites.bfcl.handlers.services import SERVICES
from console.suites.bfcl.handlers.wires import READINGS
from console.suites.bfcl.profile import Profile
from console.suites.bfcl.templates.release_texts import ReleaseTexts
from console.suites.bfcl.templates.table import template_named

_OWN_PROMPTS = {"DMCitoHandler": DMCitoHandler, "NemotronHandler": NemotronHandler}


def handler_of(setting: Setting, dataset: Dataset) -> Handler:
    """Return the handler of a setting: chat completions, as the model's row has them, or in their generic form.

    Raises:
        UsageError: a row that cannot be asked by chat completions.
    """
    profile = profile_of(setting)
    if profile is None:
        return GENERIC[setting.mode]
    if profile.wire == "chat":
        return handler_for(profile, dataset)
    if profile.family in PROMPTED:
        return PromptHandler(profile.family)
    if profile.family in NATIVE_FORMS and not profile.template:
        return NativeHandler(profile.family)
    way = "/v1/completions with a template of its own" if profile.template else f"requests of the {profile.wire} kind"
    raise UsageError(
        f"{profile.name} is asked by {way}, which runs do not offer",
        hint="`bfcl evaluate` scores results of it; without bfcl_name it is asked in the generic way.",
    )


def handler_for(profile: Profile, dataset: Dataset) -> Handler:
    """Return the handler of a registry row.

    Raises:
        UsageError: its template or wire is not offered.
    """
    executable = partial(executable_calls, family=profile.family)
    if profile.wire == "completions":
        texts = ReleaseTexts(dataset.wording_root)
        return CompletionHandler(template_named(profile.template), texts, executable)
    if profile.handler in _OWN_PROMPTS:
        texts = own_prompt_texts(dataset.wording_root)
        return _OWN_PROMPTS[profile.handler](SERVICES[profile.handler], texts, executable)
    service, reading = SERVICES.get(profile.handler), READINGS.get(profile.wire)
    if service is None or reading is None:
        raise UsageError(
            f"{profile.name}: requests of the official {profile.handler} are not offered",
            hint="docs/bfcl.md lists them.",
        )
    return ServiceHandler(service, reading, profile.is_fc, profile.reasons, profile.wire == "gemini", executable)
