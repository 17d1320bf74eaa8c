"""What a run has used so far, in words: it moves with every answer; which roles are simulated is named."""

from collections.abc import Iterable

from console.core.run import Manifest, ModelFacts
from console.insight import number_format
from console.insight.overview import Overview
from console.insight.spending import RoleSpending

Used = tuple[ModelFacts, RoleSpending]


def token_words(overview: Overview) -> str:
    """Return `1.91 M in  184 k out`, of all roles."""
    tally, unsettled = overview.fold.tally, _unsettled(overview)
    sent = tally.input_tokens + sum(spending.input_tokens for _, spending in unsettled)
    written = tally.output_tokens + sum(spending.output_tokens for _, spending in unsettled)
    return f"{number_format.count(sent)} in  {number_format.count(written)} out"


def cost_words(overview: Overview, manifest: Manifest) -> str:
    """Return the sum and what of it each role took: `$1.15   $0.84 model   $0.31 judge   embedding simulated`."""
    roles = _roles(manifest)
    if all(facts.simulated for facts in roles.values()):
        return "simulated, free"
    parts = [_of_role(role, facts, overview.spending.get(role)) for role, facts in roles.items() if len(roles) > 1]
    return "   ".join([_sum(overview, manifest), *(parts if overview.spending else [])])


def short_cost(overview: Overview, manifest: Manifest) -> str:
    """Return what the run cost, and which roles are simulated: `$1.15, embedding simulated`; or just `simulated`."""
    roles = _roles(manifest)
    simulated = [role for role, facts in roles.items() if facts.simulated]
    if len(simulated) == len(roles):
        return "simulated"
    return ", ".join([_sum(overview, manifest), *([f"{' and '.join(simulated)} simulated"] if simulated else [])])


def _roles(manifest: Manifest) -> dict[str, ModelFacts]:
    return {"model": manifest.model, **manifest.roles}


def _unsettled(overview: Overview) -> list[tuple[str, RoleSpending]]:
    return [pair for roles in overview.unsettled.values() for pair in roles.items()]


def _sum(overview: Overview, manifest: Manifest) -> str:
    """Return what finished conversations cost and what the others have used; a lower bound when some is unknown."""
    tally, roles = overview.fold.tally, _roles(manifest)
    unsettled = [(roles[role], spending) for role, spending in _unsettled(overview) if role in roles]
    return _money(unsettled, tally.cost_usd, partial=tally.cost_unknown > 0)


def _of_role(role: str, facts: ModelFacts, used: RoleSpending | None) -> str:
    if facts.simulated:
        return f"{role} simulated"
    if facts.provider == "local":
        return f"{role} local"
    words = _money([(facts, used)] if used else [])
    return f"{role} cost unknown" if words == _UNKNOWN else f"{words} {role}"


_UNKNOWN = "cost unknown"


def _money(used: Iterable[Used], cost_usd: float = 0.0, *, partial: bool = False) -> str:
    for facts, spending in used:
        cost_usd += spending.cost_usd(facts) or 0.0
        partial |= spending.is_partial(facts)
    return _UNKNOWN if partial and not cost_usd else number_format.money(cost_usd, at_least=partial)
