"""The suite of imported runs. It has no cases; prompts and scores are in each journal.

Our own judge can grade them again; its decision is then the verdict.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.source import DECISIVE
from console.suites.judging.judge import Judge, scripted_grades
from console.suites.judging.rubric import Rubric
from console.suites.metrics import first_scores, rate_metric, score_metrics
from console.suites.stage import Stage
from console.suites.suite import Category, EarlierOutput, Estimate, Metric, Option, Report, Result, Suite

_LONGEST_VALUE = 4000
RUBRIC = "The answer does what was asked. If a reference is given, it says the same as the reference."


class RecordedSuite(Suite):
    """Suite of imported runs, for review and for grading by another judge."""

    options = (Option("rubric", "text", RUBRIC, "what the judge of a new grading checks"),)
    grader_sources = ("console.suites.judging", "console.benchmarks.recorded.suite")

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        """Return the rubric of our own judge."""
        return {"rubric": setting.options["rubric"]} if "rubric" in setting.options else {}

    def categories(self) -> Sequence[Category]:
        """Return nothing, as the cases are in the runs."""
        return ()

    def cases(self, categories: Sequence[str], setting: Setting) -> Iterable[Case]:
        """Raise UsageError."""
        raise _cannot_be_played(self.entry.name)

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Return zero cost."""
        return Estimate(0, 0, 0)

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        """Raise UsageError."""
        raise _cannot_be_played(self.entry.name)

    async def play_again(self, case: Case, stage: Stage, setting: Setting, earlier: EarlierOutput) -> Any:
        """Ask our own judge about the recorded answer."""
        recorded = cast("dict[str, Any]", earlier.output) if isinstance(earlier.output, dict) else {}
        answer, passed = _whole(recorded.get("answer")), earlier.verdict.outcome is Outcome.PASSED
        if earlier.verdict.outcome is Outcome.BROKEN or not (answer or earlier.messages):
            return recorded
        rubric = Rubric(
            setting.options["rubric"],
            categories={"PASSED": "passed", "FAILED": "failed"},
            reference=_whole(case.data.get("target")),
        )
        judgement = await Judge(stage).judge(
            rubric,
            answer,
            conversation="\n".join(_line(message) for message in earlier.messages),
            simulated=lambda part: scripted_grades(part, is_right=passed),
        )
        if not judgement.grades:
            return recorded | {"judged": {"problem": judgement.problem}}
        [grade] = judgement.grades
        return recorded | {"judged": {"passed": grade.category == "PASSED", "why": grade.why}}

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        """Return the decision of our own judge; undecided if there is none, as only the tool can score the output."""
        judged = cast("dict[str, Any]", output).get("judged") if isinstance(output, dict) else None
        if isinstance(judged, dict):
            return _judged_verdict(cast("dict[str, Any]", judged))
        why = "only the tool that ran it can judge it"
        return Verdict(Outcome.UNDECIDED, reason="scored elsewhere", messages=(why,))

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Compare target and answer, and list the scores."""
        recorded = cast("dict[str, Any]", output) if isinstance(output, dict) else {"answer": output}
        scores = cast("dict[str, Any]", recorded.get("scores") or {})
        targets = _texts(case.data.get("target"))
        answer = _text(recorded.get("answer"))
        passed = verdict.outcome is Outcome.PASSED
        row = Row(
            mark=Mark.SAME if passed else Mark.DIFFERS,
            name="answer",
            expected=targets,
            actual=answer if answer else None,
            decisive=not passed,
        )
        rows = [_score_row(name, value, verdict) for name, value in scores.items()]
        pair = Pair(row.mark, expected=" | ".join(targets), actual=answer, rows=(row, *rows), kind="result")
        return Comparison(sentence=_sentence(verdict), pairs=(pair,), rule="\n".join(verdict.messages))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Report pass rate, mean scores, and the metrics reported by the tool."""
        names = dict.fromkeys(result.category for result in results)
        by_category = {name: [result for result in results if result.category == name] for name in names}
        is_divided = len(by_category) > 1
        return Report(
            metrics=(*_metrics(results, setting), *_reported(setting)),
            categories={name: _metrics(part, setting) for name, part in by_category.items()} if is_divided else {},
            outcomes=_counts(results),
        )


def _judged_verdict(judged: dict[str, Any]) -> Verdict:
    if not isinstance(judged.get("passed"), bool):
        return Verdict(Outcome.UNDECIDED, reason="judge_unreadable", messages=(str(judged.get("problem", "")),))
    messages = tuple(filter(None, (str(judged.get("why", "")),)))
    scores = {"judge": float(judged["passed"])}
    if judged["passed"]:
        return Verdict(Outcome.PASSED, messages=messages, scores=scores)
    return Verdict(Outcome.FAILED, "refused_by_judge", messages=messages, scores=scores)


def _cannot_be_played(name: str) -> UsageError:
    return UsageError(f"{name} was recorded by another tool", hint="It can be reviewed and compared but not played.")


def _score_row(name: str, value: Any, verdict: Verdict) -> Row:
    """Return the row of a score; if the rollout failed, only scores of at least 1 are marked as right."""
    is_right = verdict.outcome is Outcome.PASSED or verdict.scores.get(name, 0.0) >= 1
    return Row(mark=Mark.SAME if is_right else Mark.DIFFERS, name=f"score {name}", actual=_text(value))


def _sentence(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.PASSED:
        return "passed"
    return f"not passed: {verdict.reason}" if verdict.reason else verdict.outcome.value


def _line(message: dict[str, Any]) -> str:
    parts = (message.get("content"), message.get("tool_calls"))
    return f"{message.get('role', '')}: {' '.join(_whole(part) for part in parts if part)}"


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(_text(item) for item in cast("list[Any]", value)) if isinstance(value, list) else (_text(value),)


def _text(value: Any) -> str:
    shown = _whole(value)
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}…"


def _whole(value: Any) -> str:
    import msgspec

    return value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()


def _metrics(results: Sequence[Result], setting: Setting) -> tuple[Metric, ...]:
    """Return pass rate and mean scores; where the tool also counts, only what decides or is an accuracy is a rate."""
    rates: set[str] | None = None
    if DECISIVE in setting.extras:
        reported = cast("dict[str, dict[str, float]]", setting.extras.get("reported") or {})
        rates = {name for name, metrics in reported.items() if "accuracy" in metrics}
        rates |= {str(setting.extras[DECISIVE]), *first_scores(results)}
    return (rate_metric("passed", results), *score_metrics(results, rates=rates))


def _reported(setting: Setting) -> tuple[Metric, ...]:
    reported = cast("dict[str, dict[str, float]]", setting.extras.get("reported") or {})
    return tuple(
        Metric(f"{score} {metric}", value, unit="score", note="as the tool reports it")
        for score, metrics in reported.items()
        for metric, value in metrics.items()
    )


def _counts(results: Sequence[Result]) -> dict[Outcome, int]:
    counts: dict[Outcome, int] = {}
    for result in results:
        counts[result.verdict.outcome] = counts.get(result.verdict.outcome, 0) + 1
    return counts
