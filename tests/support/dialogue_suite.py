"""A small suite for engine tests: some turns with a model, each judged, with an effect of its own and notes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from console.core.case import Case, Setting
from console.core.chat import Message, ScriptedAnswers, Utterance
from console.core.comparison import Comparison
from console.core.outcome import Outcome, Verdict
from console.suites.stage import Stage
from console.suites.suite import Category, Estimate, Metric, Report, Result, Suite, SuiteEntry


class DialogueSuite(Suite):
    """Case `d3-2` has two turns; it passes when every reply ends with the turn's number."""

    def __init__(self, cases: int = 4, turns: int = 3, judged: bool = True, depends: bool = False) -> None:
        super().__init__(SuiteEntry("dialogue", "dialogue", Path("."), "Dialogue"))
        self.count, self.turns, self.judged, self.depends = cases, turns, judged, depends

    def roles(self, options: dict[str, Any]) -> tuple[str, ...]:
        return ("judge",) if self.judged else ()

    def categories(self) -> Sequence[Category]:
        return [Category("talk", self.count)]

    def cases(self, categories: Sequence[str], setting: Setting) -> list[Case]:
        made: list[Case] = []
        for n in range(self.count):
            before = (f"d{n - 1}-{self.turns}",) if self.depends and n else ()
            made.append(Case(f"d{n}-{self.turns}", "talk", {"turns": self.turns}, depends_on=before))
        return made

    def estimate(self, case: Case, setting: Setting) -> Estimate:
        return Estimate(self.turns, 10, 10)

    async def play(self, case: Case, stage: Stage, setting: Setting) -> Any:
        messages: list[Message] = []
        said: list[str | None] = []
        for turn in range(case.data["turns"]):
            messages.append({"role": "user", "content": f"{case.id} turn {turn}"})
            right = Utterance(f"answer {turn}")
            reply = await stage.ask(
                messages, turn=turn, scripted=lambda right=right: ScriptedAnswers(right, (Utterance("wrong"),))
            )
            messages.append(reply.message())
            said.append(reply.content)
            if self.judged:
                question: list[Message] = [{"role": "user", "content": f"judge {case.id} turn {turn}: {reply.content}"}]
                judged = await stage.ask(question, role="judge", turn=turn)
                stage.score("length", float(len(judged.content or "")), threshold=1.0, turn=turn)
            counted = await stage.perform("count", [case.id, turn], lambda turn=turn: _count(turn))
            stage.note("counted", counted, turn=turn)
        return said

    def score(self, case: Case, output: Any, setting: Setting) -> Verdict:
        right = [isinstance(text, str) and text.endswith(str(turn)) for turn, text in enumerate(output)]
        if all(right):
            return Verdict(Outcome.PASSED, scores={"right": 1.0})
        return Verdict(Outcome.FAILED, reason="wrong_number", subject=str(right.index(False)), scores={"right": 0.0})

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        return Comparison(verdict.reason or "")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        return Report((Metric("accuracy", None),))


async def _count(turn: int) -> dict[str, int]:
    return {"turn": turn}
