"""The suite of pairs: both answers to a case of two runs, compared by a judge in both orders. Its folder is `runs/`."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from console.benchmarks.recorded.rules.score import NO_TEXT, RUBRIC, judgement_of, rubric_of, score
from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.fault import UsageError
from console.core.json_text import canonical_json
from console.core.outcome import Outcome, Verdict
from console.suites.judging.rubric import WIN_RATE, Grade, Judgement, Rubric
from console.suites.suite import Category, Estimate, Option, Report, Result, Suite, SuiteEntry

if TYPE_CHECKING:
    from console.core.chat import ScriptedAnswers
    from console.suites.stage import Stage

_TIE = Grade(WIN_RATE, 0.5, "both answers are the same", "TIE")


class PairwiseSuite(Suite):
    """Suite whose cases are pairs of answers."""

    options = (
        Option("runs", "json", [], "runs whose answers are compared, the first one against all others"),
        Option("names", "json", [], "their display names"),
        Option("rubric", "text", RUBRIC, "what makes an answer better"),
        Option("length_control", "bool", False, "also report results without the advantage of longer answers"),
    )
    headline = WIN_RATE
    scales: Mapping[str, tuple[float, float]] = MappingProxyType({WIN_RATE: (0.0, 1.0)})
    grader_sources = ("console.suites.judging", "console.benchmarks.recorded.rules")

    def __init__(self, entry: SuiteEntry) -> None:
        self._entry = entry
        self._digest = ""

    @property
    def entry(self) -> SuiteEntry:
        """The entry, with the digest of the answers once they are read, so that a resumed run compares the same."""
        source = {**self._entry.source, "answers": self._digest} if self._digest else self._entry.source
        return replace(self._entry, source=source)

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ("judge",)

    def grading(self, setting: Setting) -> Mapping[str, Any]:
        return {"rubric": setting.options.get("rubric", RUBRIC)}

    def categories(self) -> Sequence[Category]:
        """Return nothing, as the cases are in the runs."""
        return ()

    def cases(self, categories: Sequence[str], setting: Setting) -> Sequence[Case]:
        """Return the pairs of all runs that the options name.

        Raises:
            UsageError: a run no longer exists, or the runs have no case in common.
        """
        from console.benchmarks.recorded.data.pairs import read_pairs
        from console.store.runs import RunFolder

        folders = [RunFolder(self._entry.folder / name) for name in setting.options["runs"]]
        for folder in folders:
            if not folder.has_journal:
                raise UsageError(
                    "the run whose answers are compared no longer exists", where=folder.name, hint="Put it back."
                )
        pairs = list(read_pairs(folders))
        if not pairs:
            names = " and ".join(folder.name for folder in folders)
            raise UsageError("no case was answered in two of the runs", where=names, hint="Compare runs of one suite.")
        self._digest = hashlib.sha256(canonical_json([[pair.id, pair.data] for pair in pairs])).hexdigest()[:16]
        return pairs

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        """Return the calls of the judge."""
        texts = [case.data["conversation"], *case.data["answers"], setting.options["rubric"]]
        tokens = sum(map(len, texts)) / 4 + 250
        return Estimate(0, 0, 0, {"judge": Estimate(2, 2 * tokens, 2 * 60)})

    async def play(self, case: Case, stage: "Stage", setting: Setting) -> Any:
        """Ask the judge in both orders; equal answers tie without a call."""
        from console.suites.judging.judge import Judge

        one, other = case.data["answers"]
        if one == other:
            stage.score(WIN_RATE, _TIE.grade)
            return msgspec.to_builtins(Judgement([_TIE]))
        judgement = await Judge(stage).judge(
            rubric_of(case, setting.options["rubric"]),
            one or NO_TEXT,
            conversation=case.data["conversation"],
            simulated=lambda part: _simulated(case, part),
        )
        return msgspec.to_builtins(judgement)

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        return score(case, output, setting.options["rubric"])

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        """Show the two answers side by side, with the judge's words in each order."""
        one, other = (str(answer) for answer in case.data["answers"])
        mark = Mark.SAME if verdict.outcome is Outcome.PASSED else Mark.DIFFERS
        first, second = (_name(setting, number) for number in case.data["pair"])
        question = Row(Mark.SAME, "question", (str(case.data["conversation"]),))
        words = [
            Row(Mark.SAME, f"{shown_first} shown first", actual=vote, note=why)
            for shown_first, vote, why in _votes(output, first, second)
        ]
        pair = Pair(mark, second, first, (question, Row(mark, "answer", (other,), one), *words), kind="judge")
        return Comparison(sentence(case, verdict, setting), (pair,))

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        """Report win rates, position bias, and strengths of several runs."""
        from console.benchmarks.recorded.rules.report import report

        options = setting.options
        return report(results, options["names"], length_control=bool(options["length_control"]))


def sentence(case: Case, verdict: Verdict, setting: Setting) -> str:
    """Say which answer is better."""
    first, second = (_name(setting, number) for number in case.data["pair"])
    won = verdict.detail.get("won")
    if won is None:
        return "not decided"
    if won == _TIE.grade:
        return f"{first} and {second} tie"
    return f"{first if won > _TIE.grade else second} is better"


def _votes(output: Any, first: str, second: str) -> Iterator[tuple[str, str, str]]:
    """For each order, yield the answer shown first, the decision as text, and the reason."""
    judgement = judgement_of(output)
    if judgement is None or not judgement.grades:
        return
    [grade] = judgement.grades
    for (shown_first, shown_last), vote, why in zip(
        ((first, second), (second, first)), grade.votes, grade.reasons, strict=False
    ):
        better = {"FIRST": shown_first, "SECOND": shown_last}.get(str(vote))
        yield shown_first, f"{better} is better" if better else "a tie", why


def _name(setting: Setting, number: int) -> str:
    return str(setting.options["names"][number])


def _simulated(case: Case, part: Rubric) -> "ScriptedAnswers":
    """Return the replies of a simulated judge, who prefers the answer that passed."""
    from console.suites.judging.judge import scripted_grades, scripted_reply

    one, other = case.data["passed"]
    return scripted_reply(part, "TIE") if one == other else scripted_grades(part, is_right=one)
