"""Writes runs of loops and of code as their suites record them, for tests of the screens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.recorded_runs import Recorder
from support.run_suites import ReviewedSuite

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, Usage
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.core.record import Finished, Noted, Performed, Scored
from console.core.run import ModelFacts
from console.suites.suite import Metric, Report, Result

ANSWERS = (
    "A doorstop that sings when the wind turns.",
    "A plant pot for a single stubborn succulent, drilled with a star.",
    "A bookend for a shelf of very light books, engraved with the first line of each.",
    "A doorstop that sings whenever the wind turns.",
)
NOVELTY = (1.0, 0.62, 0.41, 0.04)
LIMIT = 0.15


def take_round(recorder: Recorder, key: Key, turn: int, answer: str, novelty: float, *, last: bool = False) -> None:
    """Write one round as AidanBench records it."""
    listed = "\n".join(
        f"<previous_answer id='{n}'>\n{text}\n</previous_answer>" for n, text in enumerate(ANSWERS[:turn])
    )
    prompt = [{"role": "user", "content": f"A use for a brick?\n{listed}"}]
    reply = Reply(f"<answer>{answer}</answer>", usage=Usage(100 + turn, 20), latency_s=0.8)
    recorder.ask(key, "", reply, n=3 * turn + 1, turn=turn, messages=prompt)
    judge = Reply(f"<coherence_score>{80 - turn}</coherence_score>", usage=Usage(400, 6))
    asked = [{"role": "user", "content": f"Grade this:\n\n{answer}\n\nWith\na number."}]
    recorder.ask(key, "", judge, n=3 * turn + 2, role="judge", turn=turn, messages=asked)
    at = recorder.tick(0.1)
    recorder.write(Scored(at, key=key, name="coherence", value=80.0 - turn, threshold=15, turn=turn, role="judge"))
    recorder.write(Scored(at, key=key, name="novelty", value=novelty, threshold=LIMIT, turn=turn))
    replies = [judge.content]
    recorder.write(Noted(at, key=key, kind="judged", data={"replies": replies, "value": 80 - turn}, turn=turn))
    if turn:
        near = {"turn": 0, "similarity": 1 - novelty, "answer": ANSWERS[0]}
        recorder.write(Noted(at, key=key, kind="nearest", data=near, turn=turn))
    data = {"answer": answer, "reason": "low_embedding_novelty" if last else ""}
    recorder.write(Noted(at, key=key, kind="rejected" if last else "accepted", data=data, turn=turn))


def brick_run(root: Path, *, text: str = "", close: bool = True, **more: Any) -> Recorder:
    """A run of three loops: one that repeated itself, one still going at the cap, one whose judge could not be read."""
    roles = {
        "judge": ModelFacts("judge-x", price_in=1.0, price_out=4.0),
        "embedding": ModelFacts("embed-x", provider="local"),
    }
    recorder = Recorder(root, cases=3, suite="aidan", name="0117-1551-aidan-gpt-x", roles=roles, **more)
    key = recorder.start("q1", "uses", f"A use for a brick? {text}".strip())
    for turn, (answer, novelty) in enumerate(zip(ANSWERS, NOVELTY, strict=True)):
        take_round(recorder, key, turn, f"{answer}{text}", novelty, last=turn == len(ANSWERS) - 1)
    finish_loop(recorder, key, Outcome.PASSED, "low_embedding_novelty", 3)
    key = recorder.start("q2", "causes", "Why did Rome fall?")
    for turn in range(2):
        take_round(recorder, key, turn, f"Lead in the aqueducts, {turn}.", 0.8)
    finish_loop(recorder, key, Outcome.PASSED, "max_turns", 2)
    key = recorder.start("q3", "names", "A name for a cat?")
    take_round(recorder, key, 0, "Professor Whisker.", 1.0)
    finish_loop(recorder, key, Outcome.UNDECIDED, "unreadable_judge", None)
    if close:
        recorder.close()
    return recorder


def finish_loop(recorder: Recorder, key: Key, outcome: Outcome, reason: str, accepted: int | None) -> None:
    scores = {} if accepted is None else {"reward": float(accepted), "aidanbench_score": float(accepted)}
    verdict = Verdict(outcome, reason, scores=scores)
    recorder.write(Finished(at=recorder.tick(0.1), key=key, verdict=verdict, output=[], seconds=1.9, cost_usd=0.004))


class LoopSuite(ReviewedSuite):
    """The part of AidanBench that Review needs: the earlier answer beside the last one, and totals."""

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        pairs = tuple(
            Pair(Mark.SAME, ANSWERS[0] if turn == 3 else "", answer, turn=turn) for turn, answer in enumerate(ANSWERS)
        )
        return Comparison("repeated itself after 3 accepted answers", pairs, rule=verdict.reason or "")

    def report(self, results: Sequence[Result], setting: Setting) -> Report:
        cases = {it.case_id: (Metric("reward", it.verdict.scores["reward"]),) for it in results if it.verdict.scores}
        total = Metric("total", 5.0, 3.2, 6.8, 2, "count", "not the official questions")
        return Report((total,), cases=cases)


CODE = "level = min(level, 80)\nset_light(room='office', level=level)"


def code_run(root: Path, *, text: str = "", **more: Any) -> Recorder:
    """One conversation of cave-bench with three turns, of which the second fails."""
    recorder = Recorder(root, cases=1, suite="cave", name="0117-1302-cave-gpt-x", **more)
    key = recorder.start("smart_home/evening", "smart_home", "Light the office.")
    level = {"files": True, "network": False, "processes": True, "syscalls": True, "text": f"sandbox: files ok{text}"}
    recorder.write(Noted(recorder.tick(), key=key, kind="sandbox", data=level))
    for turn, query in enumerate(("Light the office.", "A little less.", "Good night.")):
        recorder.write(
            Performed(recorder.tick(), key=key, n=9 * turn + 1, digest="", kind="clock", request={"turn": turn})
        )
        asked = [{"role": "user", "content": f"{query}{text}"}]
        reply = Reply(f"```python\n{CODE}{text}\n```", usage=Usage(700, 20), latency_s=1.0)
        recorder.ask(key, "", reply, n=9 * turn + 2, turn=turn, messages=asked)
        cell = {
            "code": CODE + text, "output": f"80{text}\n", "length": 3 + len(text),
            "error": f"NameError{text}" * (turn == 1),
            "calls": [{"function": f"set_light{text}", "arguments": {"room": "office", "level": 80}}],
            "reads": ["level"], "writes": [f"level{text}"],
        }  # fmt: skip
        recorder.write(Performed(recorder.tick(), key=key, n=9 * turn + 3, digest="", kind="cell", result=cell))
        recorder.write(Noted(recorder.tick(), key=key, kind="cell", data=cell, turn=turn))
        told = [{"role": "user", "content": f"<execution_output>\n80{text}\n</execution_output>"}]
        recorder.ask(key, "", Reply("Done."), n=9 * turn + 4, turn=turn, step=1, prefix=2, messages=told)
        answer = {"success": turn != 1, "message": f"Expected 20 °C, got 18{text}", "trouble": ""}
        ended = {"query": query, "steps": 2, "tokens": [1400, 22, 1422], "validator": answer}
        recorder.write(Noted(recorder.tick(), key=key, kind="turn", data=ended, turn=turn))
    said = [f"turn 2: Custom validator failed: Expected 20 °C, got 18{text}"]
    recorder.finish(key, Outcome.FAILED, "validator_failed", messages=said)
    recorder.close()
    return recorder


class CodeSuite(ReviewedSuite):
    """The part of cave-bench that Review needs."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        pairs: list[Pair] = []
        for turn in range(3):
            bad, call = turn == 1, f"set_light(room='office', level=80){self.text}"
            row = Row(Mark.DIFFERS if bad else Mark.SAME, "level", ("60" if bad else "80",), "80", decisive=bad)
            pairs.append(Pair(row.mark, call, call, (row,), turn=turn))
            pairs.append(Pair(Mark.SAME, "read level", "read level", turn=turn, kind="read"))
            missing = Mark.MISSING if bad else Mark.SAME
            pairs.append(Pair(missing, "write scene", "" if bad else "write scene", turn=turn, kind="write"))
            agrees = Mark.DIFFERS if bad else Mark.SAME
            said = f"Expected 20 °C, got 18{self.text}" if bad else "validator agrees"
            pairs.append(Pair(agrees, "validator agrees", said, turn=turn, kind="validator"))
        pairs.append(Pair(Mark.EXTRA, "", "beep()", note="extra calls never fail", turn=0))
        marks = (Mark.SAME, Mark.DIFFERS, Mark.SAME)
        return Comparison("the scenario's validator disagreed", tuple(pairs), turns=marks)
