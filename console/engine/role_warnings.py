"""Warnings about role models that their servers do not list, checked before the first paid call and free of charge.

Otherwise a judge retired by its provider would be noticed only after a paid call of the model. Model lists can be
incomplete, so a mismatch is a warning and never blocks the run. `run` checks before it starts and the form for a new
run while it is filled in; the engine checks whenever it opens a run (resumed, retried, in the background).
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping

from console.config.model import ModelConfig
from console.config.models import public_address
from console.core.fault import Fault
from console.core.provider import provider_of
from console.engine.roles import role_words

RoleModelId = tuple[str, tuple[str, ...], str]
"""A model in a role: role, addresses, and the model's id there."""


def warnings_about_roles(runs: Iterable[Mapping[str, ModelConfig]]) -> list[str]:
    """Ask the servers of all roles but `model` for their model lists; return one sentence for each problem.

    Takes up to about ten seconds; must not be called from a running event loop.

    Args:
        runs: models of each run by role; a model with the same role in several runs is checked once.
    """
    return [warning for warning in warnings_about(askable(runs)).values() if warning]


def askable(runs: Iterable[Mapping[str, ModelConfig]]) -> dict[RoleModelId, ModelConfig]:
    """Return the models in roles other than `model` whose server has a model list, each once."""
    pairs = (pair for models in runs for pair in _askable(models))
    return {(role, model.addresses, model.model_id): model for role, model in pairs}


def warnings_about(asked: Mapping[RoleModelId, ModelConfig]) -> dict[RoleModelId, str]:
    """Ask each server whether it serves the model; an empty string means no problem.

    Takes up to about ten seconds; must not be called from a running event loop.
    """
    pairs = [(role, model) for (role, _, _), model in asked.items()]
    return dict(zip(asked, asyncio.run(_ask_all(pairs)), strict=True)) if asked else {}


class RoleWarnings:
    """An engine's warnings about role models that may not be served; a warning is dropped once its model answers."""

    def __init__(
        self, models: Mapping[str, ModelConfig], shown: Collection[str], notify: Callable[[str], None]
    ) -> None:
        """Store the models by role, the warnings already `shown`, and a callback for new ones."""
        self._models, self._shown, self._notify = models, shown, notify
        self._warnings: dict[str, str] = {}

    async def check(self, changed: asyncio.Event, is_over: Callable[[], bool]) -> None:
        """Ask the servers and report problems; stops when `changed` is set and the run is over."""
        asked = list(_askable(self._models))
        listing = asyncio.ensure_future(_ask_all(asked))
        listing.add_done_callback(lambda _: changed.set())
        while not listing.done() and not is_over():
            changed.clear()
            await changed.wait()
        if not listing.done():
            listing.cancel()
            return
        warnings = zip(asked, listing.result(), strict=True)
        self._warnings = {role: warning for (role, _), warning in warnings if warning}
        for warning in self._warnings.values():
            if warning not in self._shown:
                self._notify(warning)

    def clear(self, role: str) -> None:
        """Drop the warning about a role whose model has answered."""
        self._warnings.pop(role, None)

    @property
    def text(self) -> str:
        """All remaining warnings."""
        return "; ".join(self._warnings.values())


def _askable(models: Mapping[str, ModelConfig]) -> Iterable[tuple[str, ModelConfig]]:
    return (
        (role, model) for role, model in models.items() if role != "model" and provider_of(model.provider).model_list
    )


async def _ask_all(asked: Iterable[tuple[str, ModelConfig]]) -> list[str]:
    return await asyncio.gather(*(_warning_about(role, model) for role, model in asked))


async def _warning_about(role: str, model: ModelConfig) -> str:
    """Return the problems at all of a model's addresses."""
    models = model.at_each_address()
    warnings = await asyncio.gather(*(_warning_about_address(role, at_address) for at_address in models))
    return "; ".join(filter(None, warnings))


async def _warning_about_address(role: str, model: ModelConfig) -> str:
    from console.llm.servers.model_list import served_models, served_models_text

    place = public_address(model.base_url) or "its provider"
    try:
        served = await served_models(model)
    except Fault as fault:
        if fault.status in (404, 405, 501):  # a server without a model list proves nothing about the model
            return ""
        why = f"{place} reports: {fault.message} ({fault.kind.value})"
        return f"the {role_words(role)} {model.name} may not answer: {why}"
    if not served or model.model_id in served:
        return ""
    words = served_models_text(model.model_id, served)
    named = role_words(role)
    return f"the {named} {model.model_id} is not served by {place}; {words}; choose another {named}"
