"""Which handler speaks to a model: that of its registry row, or a generic one."""

from functools import partial

from console.core.case import Setting
from console.suites.bfcl.dataset import Dataset
from console.suites.bfcl.execution import executable_calls
from console.suites.bfcl.handlers.completion import CompletionHandler
from console.suites.bfcl.handlers.generic import GENERIC
from console.suites.bfcl.handlers.handler import Handler
from console.suites.bfcl.profile import Profile
from console.suites.bfcl.templates.release_texts import ReleaseTexts
from console.suites.bfcl.templates.table import template_named


def handler_of(setting: Setting, dataset: Dataset) -> Handler:
    """Return the handler of a setting."""
    del dataset
    return GENERIC[setting.mode]


def handler_for(profile: Profile, dataset: Dataset) -> Handler:
    """Return the handler of a registry row.

    Raises:
        UsageError: its template or wire is not offered.
    """
    return CompletionHandler(
        template=template_named(profile.template),
        texts=ReleaseTexts(dataset.wording_root),
        executable=partial(executable_calls, family=profile.family),
    )
