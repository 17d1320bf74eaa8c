"""Forecasts of calls, tokens and cost, using the same checks as a start."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from console.config.model import ModelConfig
from console.core.case import Case, Setting
from console.core.chat import Usage
from console.core.fault import UsageError
from console.core.looks import LookPlan
from console.core.overspend import overspend_words
from console.core.price import dollars, estimated_cost, most_of_call
from console.core.request import asked_tier, cache_lifetime, reply_limit
from console.core.run import ModelFacts, batch_terms
from console.core.statistics.power import Detectable
from console.engine.earlier_runs import detectable, earlier_use
from console.engine.plan import Plan, PreparedRun, prepare
from console.suites.suite import Estimate

ASK_ABOVE_USD = 5.0
"""Estimated cost above which a start needs confirmation."""
_FROM_SUITE = "as the suite estimates"
_MOST_ESTIMATED = 400
"""Maximum number of cases estimated one by one; beyond that, an evenly spaced sample is used."""
_EXACT = 1000
"""Factor by which fractions of tokens become whole numbers."""


@dataclass(frozen=True, slots=True)
class RunForecast:
    """Forecast of one run. Estimates are expected values, not bounds."""

    model: str
    suite: str
    mode: str
    cases: int
    """Number of graded cases; each is played `rollouts` times."""
    setup: int
    """Number of additional setup cases, which are not graded but also played `rollouts` times."""
    rollouts: int
    calls: float
    """Calls of all roles; tokens and cost also cover all roles."""
    input_tokens: float
    output_tokens: float
    cost_usd: float
    """The known part of the cost."""
    unpriced: tuple[str, ...]
    """Paid models without a price in models.toml."""
    simulated: bool
    """True if no call costs money."""
    cap_usd: float | None
    """Cost at which the run stops; None if there is no cap."""
    overspend: str = ""
    """By how much the cap can be exceeded, as text; empty if there is none. May contain untrusted text."""
    protocols: Mapping[str, "RunForecast"] = field(default_factory=dict[str, "RunForecast"])
    """The same run under each protocol that the suite offers, including the chosen one; empty if it offers only one."""
    most_usd: float | None = None
    """Cost if every conversation reaches its maximum length; None if there is no maximum or price."""
    bound: str = ""
    """The condition for `most_usd`, as text; empty if that is None."""
    terms: str = ""
    """Terms of its batches, such as `half price`; empty if all calls are sent one by one."""
    basis: str = ""
    """Basis of the estimate, as text. May contain untrusted text."""
    detectable: Detectable | None = None
    """Detectable difference from another run of the same cases; None if a score replaces passing."""
    looks: LookPlan | None = None
    """The looks that may end the run, with a forecast of when; None if there are no early ends."""


@dataclass(slots=True)
class Forecast:
    """Forecast of all requested runs."""

    runs: list[RunForecast] = field(default_factory=list[RunForecast])
    refusals: list[UsageError] = field(default_factory=list[UsageError])
    """Errors of runs that cannot start. May contain untrusted text."""
    warnings: list[str] = field(default_factory=list[str])
    models: list[Mapping[str, ModelConfig]] = field(default_factory=list[Mapping[str, ModelConfig]])
    """Models of each run by role."""

    @property
    def cases(self) -> int:
        """Graded rollouts of all runs."""
        return sum(run.cases * run.rollouts for run in self.runs)

    @property
    def setup(self) -> int:
        """Setup rollouts of all runs."""
        return sum(run.setup * run.rollouts for run in self.runs)

    @property
    def calls(self) -> float:
        return sum(run.calls for run in self.runs)

    @property
    def input_tokens(self) -> float:
        """Tokens sent by all runs."""
        return sum(run.input_tokens for run in self.runs)

    @property
    def output_tokens(self) -> float:
        """Tokens generated in all runs."""
        return sum(run.output_tokens for run in self.runs)

    @property
    def cost_usd(self) -> float:
        """The known part of the cost of all runs; see `unpriced`."""
        return sum(run.cost_usd for run in self.runs)

    @property
    def most_usd(self) -> float | None:
        """Highest cost of all runs; None if one is unknown, or if no run has one."""
        if not any(run.most_usd for run in self.runs) or self.unpriced:
            return None
        bounds = [run.most_usd if run.cost_usd else 0.0 for run in self.runs]
        return None if None in bounds else sum(bound or 0.0 for bound in bounds)

    @property
    def bound(self) -> str:
        """Condition for the highest cost, as text."""
        return ", ".join(dict.fromkeys(run.bound for run in self.runs if run.bound))

    @property
    def bases(self) -> list[str]:
        """Bases of the estimates without duplicates, each with its suites if there are several."""
        suites: dict[str, dict[str, None]] = {}
        for run in self.runs:
            suites.setdefault(run.basis, {})[run.suite] = None
        return [f"{', '.join(names)}: {basis}" if len(suites) > 1 else basis for basis, names in suites.items()]

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models without a price, without duplicates; the cost is then a lower bound."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.unpriced))

    @property
    def is_free(self) -> bool:
        """True if no call costs money."""
        return all(run.simulated or (not run.unpriced and not run.cost_usd) for run in self.runs)

    @property
    def _paid(self) -> list[RunForecast]:
        return [run for run in self.runs if run.cost_usd or run.unpriced]

    @property
    def is_uncapped(self) -> bool:
        """True if a run that costs money has no cap."""
        return any(run.cap_usd is None for run in self._paid)

    @property
    def overspend(self) -> str:
        """By how much the caps can be exceeded, as text."""
        return "; ".join(dict.fromkeys(run.overspend for run in self.runs if run.overspend))

    @property
    def is_expensive(self) -> bool:
        """True if it may cost more than should be spent without confirmation."""
        return max(self.cost_usd, self.most_usd or 0.0) > ASK_ABOVE_USD

    @property
    def cost_warning(self) -> str:
        """Reason to ask for confirmation, with the amount; empty if there is none."""
        paid = self._paid
        bound = "at least " if self.unpriced else "about "
        amount = f"{bound}{dollars(self.cost_usd)}" if self.cost_usd else "an unknown amount"
        amount += f", at most {dollars(self.most_usd)} ({self.bound})" if self.most_usd is not None else ""
        caps = [run.cap_usd for run in paid if run.cap_usd is not None]
        if not paid:
            return ""
        if self.is_uncapped:
            return f"This will cost {amount}, and no limit stops it."
        if self.is_expensive:
            return (
                f"This will cost {amount}; it stops at {dollars(sum(caps))}{self.overspend and f' ({self.overspend})'}."
            )
        if self.unpriced and sum(caps) > ASK_ABOVE_USD:
            return f"The price of {self.unpriced[0]} is unknown; the limit counts only the cost its provider reports."
        return ""


def never_stale() -> bool:
    """Return False, for forecasts that are needed regardless of later changes."""
    return False


def forecast_runs(plans: Sequence[Plan], is_stale: Callable[[], bool] = never_stale) -> Forecast | None:
    """Check every plan and forecast its run; None as soon as `is_stale` returns True."""
    total = Forecast()
    for plan in plans:
        if is_stale():
            return None
        try:
            prepared = prepare(plan)
        except UsageError as error:
            if str(error) not in [str(other) for other in total.refusals]:
                total.refusals.append(error)
        else:
            total.runs.append(forecast_of(prepared))
            total.models.append(prepared.models)
            total.warnings += [warning for warning in prepared.warnings if warning not in total.warnings]
    return total


def forecast_of(prepared: PreparedRun, *, is_shown: bool = True) -> RunForecast:
    """Forecast one prepared run under each protocol of its suite.

    Args:
        prepared: the run.
        is_shown: False omits the detectable difference, which requires reading two earlier runs.
    """
    suite, setting = prepared.suite, prepared.manifest.setting
    protocols = {name: _forecast(prepared, other) for name, other in suite.protocols(setting).items()}
    looks = prepared.manifest.looks
    return replace(
        _forecast(prepared, setting),
        protocols=protocols,
        detectable=_detectable(prepared) if is_shown else None,
        looks=looks if looks is not None and looks.until is not None else None,
    )


def _detectable(prepared: PreparedRun) -> Detectable | None:
    manifest = prepared.manifest
    if manifest.headline:
        return None
    graded = sum(case.graded for case in prepared.cases)
    return detectable(prepared.runs_root, manifest.suite, graded, manifest.rollouts)


def _forecast(prepared: PreparedRun, setting: Setting) -> RunForecast:
    manifest, cases = prepared.manifest, prepared.cases
    step = max(math.ceil(len(cases) / _MOST_ESTIMATED), 1)
    sample = cases[::step]
    scale = len(cases) / len(sample) * manifest.rollouts
    estimates, basis = _estimates(prepared, sample, setting)
    facts = {"model": manifest.model, **manifest.roles}
    by_role = _by_role(estimates, facts)
    used = _tokens(by_role, scale)
    costs = {role: _price(facts[role], parts, scale) for role, parts in by_role.items()}
    unpriced = tuple(dict.fromkeys(facts[role].name for role, cost in costs.items() if cost is None))
    has_cap = manifest.budget.cost_usd is not None
    longest = [estimate.most for estimate in estimates if estimate.most is not None]
    most_usd = None
    if len(longest) == len(estimates) and not unpriced:
        most_usd = sum(_most(facts[role], parts, scale) for role, parts in _by_role(longest, facts).items())
    return RunForecast(
        model=manifest.model.name,
        suite=manifest.suite,
        mode=setting.mode,
        cases=(graded := sum(case.graded for case in cases)),
        setup=len(cases) - graded,
        rollouts=manifest.rollouts,
        calls=sum(_sum(parts, "calls", scale) for parts in by_role.values()),
        input_tokens=sum(tokens[0] for tokens in used.values()),
        output_tokens=sum(tokens[1] for tokens in used.values()),
        cost_usd=sum(cost or 0.0 for cost in costs.values()),
        most_usd=most_usd,
        bound=estimates[0].bound if most_usd is not None else "",
        unpriced=unpriced,
        terms=batch_terms(facts.values()),
        simulated=all(facts[role].simulated for role in used),
        cap_usd=manifest.budget.cost_usd,
        overspend=overspend_words((facts[role] for role in used), manifest.most_in_flight) if has_cap else "",
        basis=basis,
    )


def _by_role(estimates: Sequence[Estimate], facts: Mapping[str, ModelFacts]) -> dict[str, list[Estimate]]:
    """Return the estimates of each role, with replies no longer than its `max_tokens`."""
    limits = {role: reply_limit(model.params) or math.inf for role, model in facts.items()}
    by_role: dict[str, list[Estimate]] = {}
    for estimate in estimates:
        for role, part in estimate.by_role.items():
            output = min(part.output_tokens, part.calls * limits.get(role, math.inf))
            by_role.setdefault(role, []).append(Estimate(part.calls, part.input_tokens, output))
    return by_role


def _tokens(by_role: Mapping[str, Sequence[Estimate]], scale: float) -> dict[str, tuple[float, float]]:
    """Return the tokens sent and written by each role."""
    return {
        role: (_sum(parts, "input_tokens", scale), _sum(parts, "output_tokens", scale))
        for role, parts in by_role.items()
    }


def _estimates(prepared: PreparedRun, sample: Sequence[Case], setting: Setting) -> tuple[list[Estimate], str]:
    """Return an estimate for each case, and the basis as text."""
    own = [prepared.suite.estimate(case, setting) for case in sample]
    known_to_suite = [estimate for estimate in own if estimate is not None]
    if len(known_to_suite) == len(own):
        bases = dict.fromkeys(each.basis or _FROM_SUITE for each in known_to_suite)
        longest = [basis for basis in bases if not any(other != basis and other.startswith(basis) for other in bases)]
        return known_to_suite, "; ".join(longest)
    use = earlier_use(prepared.runs_root, prepared.manifest.suite)
    if use is None:
        usual = Estimate(1, 0, 0)
        words = "at least one call per case, as there is no completed run of the suite"
    else:
        usual = Estimate(use.calls, use.input_tokens, use.output_tokens)
        others = f" and {use.runs - 1} before it" if use.runs > 1 else ""
        words = f"from {use.rollouts} rollouts of the {'simulated ' * use.is_simulated}run {use.newest}{others}"
    return [usual if estimate is None else estimate for estimate in own], words


def _sum(parts: Sequence[Estimate], name: str, scale: float) -> float:
    return sum(getattr(part, name) for part in parts) * scale


def _price(model: ModelFacts, parts: Sequence[Estimate], scale: float) -> float | None:
    """Return the price of conversations in USD, or None if a rate that is used is unknown."""
    if model.simulated:
        return 0.0
    total, tier = 0.0, asked_tier(model.params)
    for part in parts:
        use = Usage(round(part.input_tokens * _EXACT), round(part.output_tokens * _EXACT))
        if use == Usage():
            continue
        cost = estimated_cost(model.price, use, tier, part.calls * _EXACT)
        if cost is None:
            return None
        total += cost / _EXACT
    return total * scale


def _most(model: ModelFacts, parts: Sequence[Estimate], scale: float) -> float:
    """Return the price of conversations in USD by the highest rates that may apply."""
    if model.simulated:
        return 0.0
    tier = asked_tier(model.params)
    caches = cache_lifetime(model.params)
    return scale * sum(
        most_of_call(
            model.price, part.input_tokens, part.output_tokens, longest=part.input_tokens, tier=tier, caches=caches
        )
        for part in parts
    )
