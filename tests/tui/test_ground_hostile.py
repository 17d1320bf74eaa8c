"""No byte of foreign text reaches the terminal unescaped, on any screen or on any sheet over it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from everywhere import everywhere
from recorded import QUESTION, Recorder, WeatherSuite, call_reply
from shown import assert_no_control_byte

from console.core.case import Case
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.store.runs import RunFolder
from console.suites.suite import Category, SuiteEntry
from console.tui.library.sheets import Checksum, Ping, case_sheet, category_sheet, model_sheet, suite_sheet
from console.tui.review.case_place import CasePlace
from console.tui.stock import ModelLine, SuiteLine

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)


def hostile_run(root: Path, name: str, texts: tuple[str, ...], outcome: Outcome) -> RunFolder:
    """A run whose every foreign field is hostile."""
    kept = tuple(text.encode("utf-8", "replace").decode() for text in texts)  # what a file in UTF-8 can hold
    recorder = Recorder(root, cases=len(kept), name=name, suite="".join(kept[:3]), model=ModelFacts("".join(kept)))
    for place, text in enumerate(kept):
        key = recorder.start(f"{text}{place}", text, f"{text} {QUESTION}")
        recorder.ask(key, text + QUESTION, call_reply(text or "f", json.dumps({"location": text})))
        recorder.finish(key, outcome, text, text, messages=[text], output=text)
    recorder.close()
    return recorder.folder


@pytest.mark.timeout(600)
async def test_hostile_text_on_every_screen(
    opened: Any, desk: Any, all_hostile: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CasePlace, "find_suite", lambda self, manifest: WeatherSuite())
    joined = "".join(all_hostile).encode("utf-8", "ignore").decode().replace("\x00", "")
    hostile = [json.dumps({"id": f"{joined[:40]}{n}", "category": "c\x1b[2Jc", "question": joined}) for n in range(3)]
    (desk.root / "data" / "small-talk" / "questions.jsonl").write_text("\n".join(hostile) + "\n", encoding="utf-8")
    run = hostile_run(desk.root / "runs", "0117-a", all_hostile, Outcome.FAILED)
    other = hostile_run(desk.root / "runs", "0116-b", all_hostile, Outcome.PASSED)
    async with opened((100, 30)) as (app, pilot):
        names = []
        async for name in everywhere(app, pilot, run, other):
            assert_no_control_byte(app)
            names.append(name)
        assert {"home", "live", "review", "compare", "board", "library", "cases", "launch"} <= set(names)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANYTHING)
def test_any_text_on_any_sheet_of_library(text: str) -> None:
    entry = SuiteEntry(text, text, Path("/x") / text.replace("\x00", ""), text, source={"name": text, "licence": text})
    suite = SuiteLine(entry, (Category(text, 3, (text,), text),))
    model = ModelLine(text, text, True, text, False, text, text, "fc", 1, 1.0, 1.0, 1)
    data = {"question": [[{"role": text, "content": text}]], "function": [{"name": text, "description": text}],
            "ground_truth": [{text: text}], text: text}  # fmt: skip
    blocks = [
        *suite_sheet(suite, Checksum(text, text)),
        *category_sheet(suite, text),
        *model_sheet(model, Ping(0.0, 0.1, False, text, text), [], pinging=False),
        *case_sheet(Case(text, text, data, title=text, depends_on=(text,)), text),
    ]
    shown = "".join(line.plain for block in blocks for line in (block.title, block.aside, *block.logical))
    assert not [one for one in shown if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 or 0xD800 <= ord(one) < 0xE000]
