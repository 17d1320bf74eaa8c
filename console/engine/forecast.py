"""What runs will ask, write and cost, found out by the same checks that a start goes through."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from console.config.model import ModelConfig
from console.core.case import Case, Setting
from console.core.fault import UsageError
from console.core.price import price_of
from console.core.run import ModelFacts
from console.core.statistics.power import Detectable
from console.engine.earlier_runs import detectable, earlier_use
from console.engine.plan import Plan, PreparedRun, prepare
from console.suites.suite import Estimate

ASK_ABOVE_USD = 5.0
"""Estimated price from which a start asks once more."""
_MOST_ESTIMATED = 400
"""Cases whose calls and tokens are reckoned one by one; beyond that, a spread-out sample stands for all."""


@dataclass(frozen=True, slots=True)
class RunForecast:
    """One run. Estimates are expected values, not bounds."""

    model: str
    suite: str
    mode: str
    cases: int
    """Different cases that are graded; each is played `rollouts` times."""
    setup: int
    """Different cases besides, which are not graded: graded ones build on them. Played as often."""
    rollouts: int
    calls: float
    """Of all roles, like tokens and cost."""
    input_tokens: float
    output_tokens: float
    cost_usd: float
    """What is known of it."""
    unpriced: tuple[str, ...]
    """Models that cost money of which models.toml names no price."""
    simulated: bool
    """Whether nothing that is asked costs money."""
    cap_usd: float | None
    """Where the run stops; None: nowhere."""
    protocols: Mapping[str, "RunForecast"] = field(default_factory=dict[str, "RunForecast"])
    """The same run by each protocol that the suite offers, the chosen one included; empty when it has but one."""
    basis: str = ""
    """What calls and tokens rest on, in words, where the suite itself gives no estimate."""
    detectable: Detectable | None = None
    """What it can show beside another run of the same cases; None where a score stands for passing."""


@dataclass(slots=True)
class Forecast:
    """All runs that were asked for."""

    runs: list[RunForecast] = field(default_factory=list[RunForecast])
    refusals: list[UsageError] = field(default_factory=list[UsageError])
    """Why some of them cannot start. May hold foreign text."""
    warnings: list[str] = field(default_factory=list[str])
    models: list[Mapping[str, ModelConfig]] = field(default_factory=list[Mapping[str, ModelConfig]])
    """The models of each run by role."""

    @property
    def cases(self) -> int:
        """Rollouts of all runs that are graded."""
        return sum(run.cases * run.rollouts for run in self.runs)

    @property
    def setup(self) -> int:
        """Rollouts besides that are not graded."""
        return sum(run.setup * run.rollouts for run in self.runs)

    @property
    def calls(self) -> float:
        """Calls of all runs."""
        return sum(run.calls for run in self.runs)

    @property
    def input_tokens(self) -> float:
        """Tokens sent by all runs."""
        return sum(run.input_tokens for run in self.runs)

    @property
    def output_tokens(self) -> float:
        """Tokens answered in all runs."""
        return sum(run.output_tokens for run in self.runs)

    @property
    def cost_usd(self) -> float:
        """What is known of the price of all runs; see `unpriced`."""
        return sum(run.cost_usd for run in self.runs)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models without a price, each once; the price is then a lower bound."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.unpriced))

    @property
    def is_free(self) -> bool:
        """Whether nothing that is asked costs money."""
        return all(run.simulated or (not run.unpriced and not run.cost_usd) for run in self.runs)

    @property
    def cost_warning(self) -> str:
        """Why a start should ask once more, with the amount, or nothing."""
        paid = [run for run in self.runs if run.cost_usd or run.unpriced]
        bound = "at least " if self.unpriced else "about "
        amount = f"{bound}${self.cost_usd:,.2f}" if self.cost_usd else "an unknown amount"
        caps = [run.cap_usd for run in paid if run.cap_usd is not None]
        if not paid:
            return ""
        if len(caps) < len(paid):
            return f"This will cost {amount}, and no limit stops it."
        if self.cost_usd > ASK_ABOVE_USD:
            return f"This will cost {amount}; it stops at ${sum(caps):,.2f}."
        if self.unpriced and sum(caps) > ASK_ABOVE_USD:
            return f"The price of {self.unpriced[0]} is not known; the limit counts only what its provider reports."
        return ""


def never_stale() -> bool:
    """Say that a forecast is always waited for."""
    return False


def forecast_runs(plans: Sequence[Plan], is_stale: Callable[[], bool] = never_stale) -> Forecast | None:
    """Check every plan and reckon what it will take; None when `is_stale` says nobody waits for it any more."""
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
            notes = [*prepared.warnings, *_basis_notes(total.runs[-1])]
            total.warnings += [warning for warning in notes if warning not in total.warnings]
    return total


def _basis_notes(run: RunForecast) -> list[str]:
    return [f"{run.suite}: {run.basis}"] if run.basis else []


def forecast_of(prepared: PreparedRun) -> RunForecast:
    """Reckon what one prepared run will take, by each protocol of its suite."""
    suite, setting = prepared.suite, prepared.manifest.setting
    protocols = {name: _forecast(prepared, other) for name, other in suite.protocols(setting).items()}
    return replace(_forecast(prepared, setting), protocols=protocols, detectable=_detectable(prepared))


def _detectable(prepared: PreparedRun) -> Detectable | None:
    manifest = prepared.manifest
    if manifest.headline:
        return None
    graded = sum(case.graded for case in prepared.cases)
    return detectable(prepared.runs_root, manifest.suite, graded, manifest.rollouts)


def _forecast(prepared: PreparedRun, setting: Setting) -> RunForecast:
    manifest, cases = prepared.manifest, prepared.cases
    step = max(len(cases) // _MOST_ESTIMATED, 1)
    sample = cases[::step]
    scale = len(cases) / len(sample) * manifest.rollouts
    estimates, basis = _estimates(prepared, sample, setting)
    by_role: dict[str, list[Estimate]] = {"model": estimates}
    for estimate in estimates:
        for role, part in estimate.roles.items():
            by_role.setdefault(role, []).append(part)
    facts = {"model": manifest.model, **manifest.roles}
    used = {role: (_sum(parts, "input_tokens", scale), _sum(parts, "output_tokens", scale))
            for role, parts in by_role.items()}  # fmt: skip
    costs = {role: _price(facts[role], *tokens) for role, tokens in used.items()}
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
        unpriced=tuple(dict.fromkeys(facts[role].name for role, cost in costs.items() if cost is None)),
        simulated=all(facts[role].simulated for role in used),
        cap_usd=manifest.budget.cost_usd,
        basis=basis,
    )


def _estimates(prepared: PreparedRun, sample: Sequence[Case], setting: Setting) -> tuple[list[Estimate], str]:
    """Return what each case will take and, where the suite does not know, what that rests on, in words."""
    own = [prepared.suite.estimate(case, setting) for case in sample]
    known_to_suite = [estimate for estimate in own if estimate is not None]
    if len(known_to_suite) == len(own):
        return known_to_suite, ""
    use = earlier_use(prepared.runs_root, prepared.manifest.suite)
    if use is None:
        usual = Estimate(1, 0, 0)
        words = "the suite gives no estimate and no run of it has ended yet: at least one call for each case"
    else:
        usual = Estimate(use.calls, use.input_tokens, use.output_tokens)
        words = f"estimated from {use.runs} earlier run{'s' if use.runs > 1 else ''} of the suite"
    return [usual if estimate is None else estimate for estimate in own], words


def _sum(parts: Sequence[Estimate], name: str, scale: float) -> float:
    return sum(getattr(part, name) for part in parts) * scale


def _price(model: ModelFacts, input_tokens: float, output_tokens: float) -> float | None:
    """Return the price of so many tokens in US dollars; None when a model that is asked has none in models.toml."""
    if model.simulated or not (input_tokens or output_tokens):
        return 0.0
    return price_of(model, input_tokens, 0, output_tokens)
