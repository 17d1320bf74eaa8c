"""`suites check NAME`: checks a suite free of charge: its rows, a case of each category, and the cost of a run."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any, cast

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.config.models import load_models
from console.config.paths import find_models_file
from console.core.captured_output import capture_output
from console.core.case import Case, Setting
from console.core.fault import Fault, UsageError
from console.core.outcome import Outcome
from console.core.price import dollars
from console.core.run import Selection
from console.core.suggestion import nearest
from console.exchange.json_kind import JsonKind
from console.insight.number_format import plural
from console.suites.catalog import KEYS, read_suite_toml
from console.suites.guard import describe_error, is_of_code
from console.suites.headline import headlines_of
from console.suites.selection import select_cases
from console.suites.simple import SimpleSuite
from console.suites.suite import Suite
from console.testing.case_play import PlayedCase, play_case, usual_setting

SUITE_CHECK = JsonKind(
    "suite_check",
    "suites check SUITE",
    "Result of checking a suite with simulated models.",
    {
        "suite": "its name",
        "cases": "their number",
        "played": "a case of each category with a right and a wrong answer, and what the suite's code printed",
        "run": "calls, tokens and cost of a complete run",
        "warnings": "settings that fit no played case, such as a headline that no case has as a score",
        "ok": "true if there are no problems",
    },
)

_LEAST_PLAYED, _MOST_PLAYED = 5, 40
_MOST_PRICES = _MOST_PRINTED = 5
_MOST_ESTIMATED = 400
_USED = ("calls", "input_tokens", "output_tokens")


def check_one(args: Arguments, name: str) -> int:
    """Check a suite and report; the exit code is 2 if there are problems."""
    suite = args.catalog.open(name)
    setting = usual_setting(suite)
    cases = select_cases(suite, Selection(), setting)
    chosen = _spread_over(cases)
    if not args.json:
        _write_cases(args, name, cases, chosen)
    played: list[_Played] = []
    for case in chosen:
        played.append(_play(suite, case, setting))
        if not args.json:
            _write_played(args, played[-1])
    prices = _prices(args, suite, setting, cases, played)
    warnings = [*_misspelled_keys(suite), *(_unknown_scores(suite, played) or _headline_gaps(suite, played))]
    warnings += suite.notices(setting)
    is_sound = not any(item.problems for item in played)
    if args.json:
        args.output.data(
            SUITE_CHECK,
            {
                "suite": name,
                "cases": len(cases),
                "played": [item.row() for item in played],
                "run": prices,
                "warnings": warnings,
                "ok": is_sound,
            },
        )
    else:
        _write_prices(args, len(cases), prices)
        for warning in warnings:
            args.output.text(warning, "warning")
    return Exit.OK if is_sound else Exit.USAGE


class _Played:
    """One case played twice: with a right and a wrong answer."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.right: PlayedCase | None = None
        self.wrong: PlayedCase | None = None
        self.problems: list[str] = []
        """Defects of the suite."""
        self.warning = ""
        self.printed = ""
        """Output of the suite's code. Untrusted text."""

    def judge(self, *, by_score: bool) -> None:
        """Report odd verdicts on the right and wrong answer; they are defects unless a judge or a score decides."""
        if self.right is None or self.wrong is None:
            return
        is_lenient = by_score or "judge" in self.right.stage.roles
        if self.right.verdict.outcome is Outcome.FAILED:
            words = f"its scripted right answer fails: {self.right.verdict.reason}"
            if is_lenient:
                self.warning = words
            else:
                self.problems.append(words)
        elif self.wrong.verdict.outcome is Outcome.PASSED and not is_lenient:
            self.warning = "a wrong answer passes too"

    def watch_tools(self) -> None:
        """Warn about a tool that reports an error for a correct call, which may be a bug in its code."""
        output = self.right.output if self.right is not None else None
        calls = cast("dict[str, Any]", output).get("calls") if isinstance(output, dict) else None
        for call in cast(list[Any], calls) if isinstance(calls, list) else ():
            if isinstance(call, dict) and (error := cast("dict[str, Any]", call).get("error")):
                self.warning = f"a tool reports an error to the right answer: {error}"
                return

    def require_roles(self, declared: Collection[str]) -> None:
        """Report a role that the case calls but a run of the suite would not have."""
        for played in filter(None, (self.right, self.wrong)):
            if missing := sorted(played.stage.roles - {"model", *declared}):
                self.problems.append(f"it calls the role {missing[0]}, which `needs_roles` of the suite does not name")
                return

    @property
    def scores(self) -> set[str]:
        return {name for played in filter(None, (self.right, self.wrong)) for name in played.verdict.scores}

    def row(self) -> dict[str, Any]:
        ends = {
            name: played.verdict.outcome.value
            for name, played in (("right", self.right), ("wrong", self.wrong))
            if played is not None
        }
        more = {name: text for name, text in (("warning", self.warning), ("printed", self.printed)) if text}
        return {"id": self.case.id, **ends, "problems": self.problems, **more}


def _play(suite: Suite, case: Case, setting: Setting) -> _Played:
    played = _Played(case)
    with capture_output() as printed:
        _try(suite, played, setting)
    played.printed = printed.text
    return played


def _try(suite: Suite, played: _Played, setting: Setting) -> None:
    case = played.case
    try:
        played.right = asyncio.run(_with_what_it_needs(suite, case, setting, right=True))
        if played.right.stage.scripted:
            played.wrong = asyncio.run(_with_what_it_needs(suite, case, setting, right=False))
        played.judge(by_score=bool(headlines_of(suite.headline)[0]))
        played.watch_tools()
        played.require_roles(suite.roles(setting.options))
    except (UsageError, Fault) as error:
        played.problems.append(str(error))
    except (Exception, SystemExit) as error:  # a suite's code may raise anything
        if not is_of_code(error):
            raise
        played.problems.append(describe_error(error, suite))


async def _with_what_it_needs(suite: Suite, case: Case, setting: Setting, *, right: bool) -> PlayedCase:
    outputs: dict[str, Any] = {}
    try:
        for other in select_cases(suite, Selection(ids=(case.id,)), setting):
            played = await play_case(suite, other, setting, right=right, outputs=outputs)
            outputs[other.id] = played.output
            if other.id == case.id:
                return played
    finally:
        await suite.aclose()
    raise UsageError(f"the case {case.id!r} is missing when selected by its id")


def _misspelled_keys(suite: Suite) -> list[str]:
    """Return a sentence for each unused key in a Python suite's suite.toml that resembles a real one."""
    if not suite.entry.module:
        return []
    close = {key: nearest(key, KEYS) for key in read_suite_toml(suite.entry.folder) if key not in KEYS}
    return [f"suite.toml: nothing reads the key {key!r}; did you mean {word}?" for key, word in close.items() if word]


def _unknown_scores(suite: Suite, played: Sequence[_Played]) -> list[str]:
    """Return a sentence for each score that a Python suite declares but that no answer has."""
    if not isinstance(suite, SimpleSuite) or any(item.problems for item in played):
        return []
    known = {name for item in played for name in item.scores}
    declared = {"headline": [*filter(None, headlines_of(suite.headline))], "units": suite.units, "scales": suite.scales}
    has = f"they have {', '.join(sorted(known))}" if known else "they have none"
    return [
        f"{place}: no answer tried here has a score {name!r}; {has}"
        for place, names in declared.items()
        for name in names
        if name not in known
    ]


def _headline_gaps(suite: Suite, played: Sequence[_Played]) -> list[str]:
    """Warn if some of the cases played lack the score that runs of a Python suite are ranked by."""
    name = headlines_of(suite.headline)[0]
    if not name or not isinstance(suite, SimpleSuite) or any(item.problems for item in played):
        return []
    lacking = sum(name not in item.scores for item in played)
    words = f"headline: {lacking} of {len(played)} cases tried here have no score {name!r}"
    return [f"{words}, so runs are not ranked by it"] if lacking else []


def _spread_over(cases: Sequence[Case]) -> list[Case]:
    """Return the first case of each category, in order, and more if there are few categories."""
    graded = [case for case in cases if case.graded] or list(cases)
    seen: set[str] = set()
    first_of = [case for case in graded if not (case.category in seen or seen.add(case.category))]
    others = [case for case in graded if case not in first_of] if len(first_of) < _LEAST_PLAYED else []
    return [*first_of[:_MOST_PLAYED], *others[: _LEAST_PLAYED - len(first_of)]]


def _prices(
    args: Arguments, suite: Suite, setting: Setting, cases: Sequence[Case], played: Sequence[_Played]
) -> dict[str, Any]:
    """Return the calls and tokens of a complete run, from the suite's estimate or else from the cases played here."""
    run: dict[str, Any] = _estimated(suite, setting, cases) or _measured(len(cases), played)
    if not run:
        return run
    models = load_models(find_models_file(args.models), args.data).models.values()
    run["cost_usd"] = {
        model.name: (run["input_tokens"] * model.price.input + run["output_tokens"] * (model.price.output or 0.0)) / 1e6
        for model in models
        if model.price.input is not None and not model.simulated and model.provider != "local"
    }
    return run


def _estimated(suite: Suite, setting: Setting, cases: Sequence[Case]) -> dict[str, int]:
    sample = cases[:: max(len(cases) // _MOST_ESTIMATED, 1)]
    whole = [estimate for case in sample if (estimate := suite.estimate(case, setting)) is not None]
    if not whole or len(whole) < len(sample):
        return {}
    parts = [*whole, *(part for estimate in whole for part in estimate.roles.values())]
    scale = len(cases) / len(sample)
    return {name: round(sum(getattr(part, name) for part in parts) * scale) for name in _USED}


def _measured(cases: int, played: Sequence[_Played]) -> dict[str, int]:
    stages = [item.right.stage for item in played if item.right is not None]
    if not stages:
        return {}
    return {name: round(sum(getattr(stage, name) for stage in stages) / len(stages) * cases) for name in _USED}


def _write_cases(args: Arguments, name: str, cases: Sequence[Case], chosen: Sequence[Case]) -> None:
    categories = len({case.category for case in cases})
    where = f" in {categories} categories" if categories > 1 else ""
    args.output.text(f"{name}: {plural(len(cases), 'case')}{where} can be read", "strong")
    of_all = "" if len({case.category for case in chosen}) == categories else f", of {len(chosen)} categories"
    args.output.text(f"{len(chosen)} tried here with a simulated model that answers right, then wrong{of_all}:")


def _write_played(args: Arguments, item: _Played) -> None:
    ends = [f"right answer {item.right.verdict.outcome.value}"] if item.right is not None else []
    ends += [f"wrong answer {item.wrong.verdict.outcome.value}"] if item.wrong is not None else []
    if item.right is not None and item.wrong is None:
        ends = [f"{item.right.verdict.outcome.value}; the suite scripts no answers for simulated models"]
    args.output.text(f"  {item.case.id}: {', '.join(ends) or 'not played'}", "bad" if item.problems else "")
    for problem in item.problems:
        args.output.text(f"    {problem}", "bad")
    if item.warning:
        args.output.text(f"    {item.warning}", "warning")
    for line in item.printed.splitlines()[:_MOST_PRINTED]:
        args.output.text(f"    it printed: {line}", "faint")


def _write_prices(args: Arguments, cases: int, run: dict[str, Any]) -> None:
    if run:
        args.output.text(
            f"{plural(cases, 'case')}: about {plural(run['calls'], 'call')}, {run['input_tokens']:,} tokens in, "
            f"{run['output_tokens']:,} out, all roles together"
        )
        for model, price in sorted(run["cost_usd"].items(), key=lambda item: item[1])[:_MOST_PRICES]:
            args.output.text(f"  {model}  about {dollars(price)}")
