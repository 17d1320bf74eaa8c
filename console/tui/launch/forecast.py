"""What the chosen runs will ask, write and cost, found out by the same checks that a start goes through."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from console.core.fault import UsageError
from console.engine.plan import Plan, Prepared, prepare

_MOST_ESTIMATED = 400
"""Cases whose calls and tokens are reckoned one by one; beyond that, a spread-out sample stands for all."""


@dataclass(slots=True)
class Forecast:
    """Sums over all runs. Estimates are expected values, not bounds."""

    runs: int = 0
    cases: int = 0
    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cost_usd: float | None = 0.0
    """None: a model without a price in models.toml is asked."""
    simulated: bool = True
    refusals: list[str] = field(default_factory=list[str])
    """Why some of them cannot start, each with its cure. May hold foreign text."""
    warnings: list[str] = field(default_factory=list[str])
    first_case: tuple[str, str] = ("", "")
    """Id and title of the first case. Foreign text."""


def foresee(plans: Sequence[Plan], is_stale: Callable[[], bool]) -> Forecast | None:
    """Check every plan and add up what it will take; None when `is_stale` says nobody waits for it any more."""
    total = Forecast(runs=len(plans))
    for plan in plans:
        if is_stale():
            return None
        try:
            _add(total, prepare(plan))
        except UsageError as error:
            if str(error) not in total.refusals:
                total.refusals.append(str(error))
    return total


def _add(total: Forecast, prepared: Prepared) -> None:
    cases, times = prepared.cases, prepared.manifest.rollouts
    step = max(len(cases) // _MOST_ESTIMATED, 1)
    sample = cases[::step]
    scale = len(cases) / len(sample) * times
    estimates = [prepared.suite.estimate(case, prepared.manifest.setting) for case in sample]
    tokens_in = sum(one.input_tokens for one in estimates) * scale
    tokens_out = sum(one.output_tokens for one in estimates) * scale
    total.cases += len(cases) * times
    total.calls += sum(one.calls + sum(role.calls for role in one.roles.values()) for one in estimates) * scale
    total.input_tokens += tokens_in
    total.output_tokens += tokens_out
    total.simulated = total.simulated and prepared.manifest.model.simulated
    total.warnings += [warning for warning in prepared.warnings if warning not in total.warnings]
    if not total.first_case[0]:
        total.first_case = (cases[0].id, cases[0].title)
    for name, facts in {"model": prepared.manifest.model, **prepared.manifest.roles}.items():
        if name == "model":
            used = (tokens_in, tokens_out)
        else:
            parts = [one.roles[name] for one in estimates if name in one.roles]
            used = (sum(p.input_tokens for p in parts) * scale, sum(p.output_tokens for p in parts) * scale)
        if facts.simulated or used == (0.0, 0.0) or total.cost_usd is None:
            continue
        if facts.price_in is None or facts.price_out is None:
            total.cost_usd = None
        else:
            total.cost_usd += (used[0] * facts.price_in + used[1] * facts.price_out) / 1e6
