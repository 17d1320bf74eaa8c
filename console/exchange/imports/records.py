"""Convert a sample of another tool's log to journal records, and the log's header to a manifest. Pure.

The run belongs to the suite `TOOL/TASK` of the format `recorded`, which needs no data: nothing is asked or judged
again. Data that our records lack is kept as a `Performed` of the kind `source`, which Review shows under Raw.
"""

import math
import time
from collections.abc import Iterator
from typing import Any, cast

from console.core.case import Case, Key, Setting
from console.core.outcome import Outcome, Verdict
from console.core.record import AnyRecord, Asked, Finished, Noted, Performed, Started
from console.core.request import Thread, digest
from console.core.run import RECORDED, Manifest, ModelFacts
from console.core.source import DECISIVE, NO_JUDGE, SOURCE
from console.exchange.imports.log import LogHead, LogSample
from console.exchange.imports.verdict import RECORDED_ERROR, verdict_of

UNREAD_RESULT = "unread"
"""Kind of a note that contains a message after the model's last reply."""
_LONGEST_TITLE = 2000


class SampleRecords:
    """Converts samples to records in order; their times never decrease."""

    def __init__(self, head: LogHead, decisive: str = "") -> None:
        """Initialize with the header and, if it differs from the header's, the name of the decisive score."""
        self._head = head
        self._decisive = decisive or head.decisive
        self._at = started_at(head)

    def records(self, sample: LogSample, case_id: str) -> Iterator[AnyRecord]:
        """Yield the records of a sample; earlier failed tries become separate attempts."""
        case = case_of(sample, case_id, self._head.task)
        for number, error in enumerate(sample.earlier_errors, 1):
            key = Key(case_id, sample.epoch, number)
            verdict = Verdict(Outcome.BROKEN, RECORDED_ERROR, messages=(error,) if error else ())
            yield Started(at=self._at, key=key, case=case)
            yield Finished(at=self._at, key=key, verdict=verdict)
        key = Key(case_id, sample.epoch, len(sample.earlier_errors) + 1)
        yield Started(at=self._at, key=key, case=case)
        yield from self._calls(sample, key)
        if sample.rest:
            yield Performed(at=self._at, key=key, n=0, digest="", kind=SOURCE, result=sample.rest)
        yield Finished(
            at=self._time(sample.at),
            key=key,
            verdict=verdict_of(sample, self._decisive),
            output=_kept(
                {"answer": sample.answer, "scores": {name: score.value for name, score in sample.scores.items()}}
            ),
            seconds=sample.seconds,
            input_tokens=sample.input_tokens,
            output_tokens=sample.output_tokens,
            cost_usd=0.0 if sample.cost_usd is None and self._head.simulated else sample.cost_usd,
            calls=len(sample.calls),
            cut=_cut(sample),
            model=next((call.reply.model for call in reversed(sample.calls) if call.role == "model"), ""),
        )

    def _calls(self, sample: LogSample, key: Key) -> Iterator[AnyRecord]:
        threads: dict[str, Thread] = {}
        step = -1
        for number, call in enumerate(sample.calls, 1):
            step += call.role == "model"
            prefix, new, tools = threads.setdefault(call.role, Thread()).condense(call.messages, call.tools)
            yield Asked(
                at=self._time(call.at),
                key=key,
                n=number,
                digest=digest("ask", call.role, [call.messages, call.tools, call.params]),
                reply=call.reply,
                role=call.role,
                step=max(step, 0),
                prefix=prefix,
                messages=new,
                tools=tools,
                params=call.params,
            )
        for message in sample.tail:
            yield Noted(at=self._at, key=key, kind=UNREAD_RESULT, data=message.get("content"), step=max(step, 0))

    def _time(self, at: float | None) -> float:
        self._at = max(self._at, at or 0.0)
        return self._at


def _kept(value: Any) -> Any:
    """Return a JSON value with NaN, which tools give for no score and no journal keeps, as a word."""
    if isinstance(value, dict):
        return {name: _kept(part) for name, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_kept(part) for part in cast("list[Any]", value)]
    return str(value) if isinstance(value, float) and math.isnan(value) else value


def started_at(head: LogHead) -> float:
    """Return the log's start time, or now if it has none."""
    return head.at if head.at is not None else time.time()


def _cut(sample: LogSample) -> str:
    asked = [call for call in sample.calls if call.role == "model"]
    finish = asked[-1].reply.finish if asked else ""
    return finish if finish in ("length", "content_filter") else ""


def case_of(sample: LogSample, case_id: str, task: str) -> Case:
    """Return the sample as a case, with its expected result."""
    data: dict[str, Any] = {} if sample.target is None else {"target": sample.target}
    return Case(
        id=case_id,
        category=sample.category or task,
        data={**data, **sample.data},
        title=sample.title[:_LONGEST_TITLE],
    )


def manifest_of(head: LogHead, run_id: str, *, file: str, headline: str, rollouts: int, repeats: int) -> Manifest:
    """Return the manifest of an imported run.

    Args:
        head: header of the log.
        run_id: id of the run.
        file: name of the log file.
        headline: name of the score reported for the run; empty for passing.
        rollouts: number of rollouts.
        repeats: maximum number of rollouts of a case.
    """
    at = started_at(head)
    extras: dict[str, Any] = {"reported": head.reported, "log": head.rest}
    if head.has_counts:
        extras[DECISIVE] = head.decisive
    if head.no_judge:
        extras[NO_JUDGE] = head.no_judge
    return Manifest(
        id=run_id,
        at=at,
        suite=suite_name(head),
        model=ModelFacts(
            name=head.model, model_id=head.model, provider="imported", simulated=head.simulated, params=head.params
        ),
        setting=Setting(mode="imported", extras=extras),
        rollouts=max(repeats, 1),
        cases=rollouts,
        dataset={"name": head.task, "log": file},
        versions={"imported": " ".join(filter(None, (head.tool, head.version)))},
        headline=headline,
        format=RECORDED,
    )


def suite_name(head: LogHead) -> str:
    """Return the name of the suite for runs of this task; the slash keeps it apart from our own suites."""
    return f"{head.tool}/{head.task}"
