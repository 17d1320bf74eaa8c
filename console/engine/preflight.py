"""Whether the models of a run's other roles are served at all, asked before the run and without cost.

A judge that its provider has retired would otherwise be noticed at the first answer, after a paid call of the model.
Lists of servers can be incomplete, so what is found here is said and never forbids the run.
"""

import asyncio
from collections.abc import Mapping

from console.config.model import ModelConfig
from console.config.models import public_address
from console.core.fault import Fault
from console.core.nearest import nearest


def doubts_about_roles(models: Mapping[str, ModelConfig]) -> list[str]:
    """Ask the servers of all roles but `model` for what they serve; return one sentence for each doubt.

    Takes at most about ten seconds; must not be called from a running event loop.
    """
    asked = {role: model for role, model in models.items() if role != "model" and model.provider == "openai"}
    return asyncio.run(_ask_all(asked)) if asked else []


async def _ask_all(models: Mapping[str, ModelConfig]) -> list[str]:
    found = await asyncio.gather(*(_doubt(role, model) for role, model in models.items()))
    return [doubt for doubt in found if doubt]


async def _doubt(role: str, model: ModelConfig) -> str:
    from console.llm.served import served_models

    place = public_address(model.base_url) or "its provider"
    try:
        served = await served_models(model)
    except Fault as fault:
        if fault.status in (404, 405, 501):  # such a server keeps no list, which says nothing about the model
            return ""
        return f"the {role} {model.name} may not answer: {place} says {fault.message} ({fault.kind.value})"
    if not served or model.model_id in served:
        return ""
    close = nearest(model.model_id, served)
    hint = f"did you mean {close}?" if close else f"it lists {len(served)} others"
    return f"the {role} {model.model_id} is not among the models that {place} serves; {hint} (--{role} NAME)"
