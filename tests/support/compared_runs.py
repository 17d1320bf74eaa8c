"""Runs of the same cases that ended differently, for Compare, the grid and the leaderboard."""

import json
from pathlib import Path
from typing import Any

from support.recorded_runs import QUESTION, Recorder, call_reply
from support.run_suites import ReviewedSuite

from console.core.case import Case, Setting
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome, Verdict
from console.core.run import ModelFacts
from console.store.runs import RunFolder

WANTED = {"location": ("'Chicago, IL'", "'Chicago'"), "unit": ("'fahrenheit'",), "days": ()}
CASES = (
    ("live_multiple_131-52", "p", "u"),
    ("live_multiple_140-58", "p", "u"),
    ("live_simple_14-3-9", "u", "p"),
    ("live_simple_77-40-0", "p", "l"),
    ("live_simple_80-42-0", "u", "u"),
    ("live_simple_81-43-0", "u", "l"),
    ("live_simple_90-45-0", "p", "p"),
    ("live_simple_91-46-0", "p", "p"),
    ("live_simple_92-47-0", "p", "b"),
)
"""Case id and how A and B ended: passed, wrong unit, wrong lang, broken."""
ANSWERS = {
    "p": {"location": "'Chicago, IL'", "unit": "'fahrenheit'"},
    "u": {"location": "'Chicago, IL'", "unit": "'imperial'"},
    "l": {"location": "'Chicago'", "unit": "'fahrenheit'", "lang": "'en'"},
}


class CallSuite(ReviewedSuite):
    """Lays recorded arguments beside what was wanted."""

    def compare(self, case: Case, output: Any, verdict: Verdict, setting: Setting) -> Comparison:
        if not isinstance(output, dict):  # a loop's answers
            return Comparison("")
        rows = []
        for name in dict.fromkeys([*WANTED, *output]):
            allowed, given = WANTED.get(name, ()), output.get(name)
            mark = Mark.OMITTED if given is None else Mark.EXTRA if name not in WANTED else Mark.SAME
            mark = Mark.DIFFERS if given and allowed and given not in allowed else mark
            rows.append(Row(mark, name, allowed, given, decisive=mark is Mark.DIFFERS, optional=not allowed))
        return Comparison("", (Pair(Mark.SAME, "get_current_weather", "get_current_weather", tuple(rows)),))


def call_run(root: Path, name: str, model: str, side: int, asks: str = "", **more: Any) -> RunFolder:
    """Write a run of `CASES`, as A or B ended; `asks` is the only case with another prompt, if prompts are known."""
    recorder = Recorder(root, cases=len(CASES), name=name, suite="bfcl", model=ModelFacts(model, **more))
    for id, *letters in CASES:
        letter = letters[side]
        key = recorder.start(id, id.rsplit("_", 1)[0], QUESTION)
        arguments = ANSWERS.get(letter, {})
        recorder.ask(
            key,
            QUESTION,
            call_reply("get_current_weather", json.dumps({it: text.strip("'") for it, text in arguments.items()})),
            digest="edited" if id == asks else "usual" if asks else "",
        )
        outcome, reason, subject = {
            "p": (Outcome.PASSED, "", ""),
            "u": (Outcome.FAILED, "value_error:string", "unit"),
            "l": (Outcome.FAILED, "simple_function_checker:unexpected_param", "lang"),
            "b": (Outcome.BROKEN, "server", ""),
        }[letter]
        recorder.finish(key, outcome, reason, subject, output=arguments or None, seconds=1.9 + side, cost_usd=0.004)
    return recorder.close()


def answer_count_run(root: Path, name: str, model: str, counts: tuple[int, ...]) -> RunFolder:
    recorder = Recorder(root, cases=len(counts), name=name, suite="aidan", model=ModelFacts(model, simulated=True))
    for place, count in enumerate(counts):
        key = recorder.start(f"q{place}", "what", f"What is {place}?")
        verdict = Verdict(Outcome.PASSED, "low_embedding_novelty", scores={"aidanbench_score": float(count)})
        from console.core.record import Finished

        recorder.write(Finished(at=recorder.tick(), key=key, verdict=verdict, output=[], seconds=2.0, cost_usd=0.0))
    return recorder.close()
