"""No byte of foreign text reaches the terminal unescaped, on any screen or on any sheet over it."""

import itertools
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.recorded_runs import QUESTION, Recorder, WeatherSuite, call_reply
from support.run_suites import compare_by
from support.screen_text import assert_no_control_byte
from support.screen_tour import PLACES, tour_screens

from console.core.case import Case, Key, Setting
from console.core.chat import Reply
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.outcome import Outcome
from console.core.record import Noted, Performed, Tried
from console.core.run import Manifest, ModelFacts
from console.store.notes import Note, Notes
from console.store.run_queue import Queued, RunQueue
from console.store.runs import RunFolder, create_run
from console.suites.suite import Category, SuiteEntry
from console.tui.data.entry_checks import Checksum, Ping
from console.tui.data.models import ModelLine
from console.tui.data.suites import SuiteLine
from console.tui.render.catalog_details import case_blocks, category_blocks, model_blocks, suite_blocks
from console.tui.sanitize import ControlCharacterFilter

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)
NASTY = st.sampled_from(
    [chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F))]
    + list("\u2066\u2067\u2068\u2069\u2028\u2029\u200b\u200d\u2060\ufeff\u061c\u00ad\u034f\u180e\ufffe\ufff9")
    + list("\ud800\udbff\udc00\udfff\u0301\u20dd\u0e47\u0489\ufe0f\U000e0041\U000e0100\U000f0000\U0010ffff")
    + list("漢한ｗ👩🏽🇩😀ﷺ𝕏אع[]/\\\"'$%{}<>|= \tx")
)
SEQUENCES = st.sampled_from(
    ["\x1b[2J", "\x1b]52;c;eA==\x07", "\x9b31m", "\x1bP+q\x1b\\", "[/x]", "[@click=app.quit]", "\r\n"]
)
DENSE = st.one_of(
    st.text(NASTY, min_size=6, max_size=30),
    st.builds("".join, st.lists(SEQUENCES | st.characters(exclude_categories=()), min_size=4, max_size=12)),
    st.builds(
        lambda base, marks, count: base + marks * count, NASTY, st.text(NASTY, min_size=1, max_size=2), st.just(300)
    ),
)
"""Text as no person writes it: controls, bidi, surrogates, floods of combining marks, half sequences, markup."""
EXAMPLES = int(os.environ.get("EVAL_CONSOLE_UNICODE") or 0)
"""How many random runs are shown; without it two, always the same ones."""


def kept(text: str) -> str:
    """Return what a file in UTF-8 can hold of a text, and a name can."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "").replace("/", "_")


def hostile_run(root: Path, name: str, texts: Sequence[str], outcome: Outcome) -> RunFolder:
    """A run whose every foreign field is hostile."""
    some = itertools.cycle(texts)
    model = ModelFacts("".join(kept(text) for text in texts))
    recorder = Recorder(root, cases=len(texts), name=name, suite="".join(kept(text) for text in texts[:3]), model=model)
    for place, text in enumerate(texts):
        attempts = 2 if place == 0 else 1
        for attempt in range(1, attempts + 1):
            more = {"tools": [{"type": "function", "function": {"name": next(some), "description": next(some)}}]}
            id = f"{text}{place}"
            key = recorder.start(id, next(some), f"{next(some)} {QUESTION}", attempt, question=next(some), **more)
            recorder.write(
                Tried(recorder.tick(), key=key, n=1, kind=next(some), message=next(some), partial=next(some))
            )
            reply = call_reply(next(some), json.dumps({"location": next(some)}), reasoning=next(some))
            recorder.ask(
                key, next(some) + QUESTION, msgspec.structs.replace(reply, content=next(some), model=next(some))
            )
            result = {"content": next(some), next(some): next(some)}
            recorder.write(Performed(recorder.tick(), key=key, n=2, digest="", kind=next(some), result=result))
            recorder.ask(
                key, "", Reply(next(some)), n=3, role="judge", messages=[{"role": "user", "content": next(some)}]
            )
            recorder.write(Noted(recorder.tick(), key=key, kind="judged", data={"replies": [next(some)], "value": 3}))
            recorder.finish(
                key, outcome, next(some), next(some), messages=[next(some)], output={next(some): next(some)}
            )
        comment = Note(Key(kept(id), 0, attempts), "tag" if place % 2 else "comment", kept(text))
        Notes(recorder.folder.path).add(comment)
    recorder.close()
    return recorder.folder


def hostile_suite(folder: Path, texts: Sequence[str]) -> None:
    """Questions of which nothing is ours."""
    joined = "".join(kept(text) for text in texts)
    lines = [json.dumps({"id": f"{joined[:40]}{n}", "category": "c\x1b[2Jc", "question": joined}) for n in range(3)]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def foreign(workspace: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[str]], list[RunFolder]]:
    """Return a function that fills the workspace with texts: three runs, one that waits, a suite and models."""
    current: list[str] = [""]

    def compare(*_: Any) -> Comparison:
        text = "".join(current)
        row = Row(Mark.DIFFERS, text, (text, text), text, text, decisive=True)
        return Comparison(text, (Pair(Mark.DIFFERS, text, text, (row,), text),), text, text, text)

    suite = WeatherSuite()
    monkeypatch.setattr(suite, "compare", compare, raising=False)
    compare_by(monkeypatch, suite)
    # Without the last net, which would hide what a widget lets through; it has tests of its own (test_sanitize.py).
    monkeypatch.setattr(ControlCharacterFilter, "apply", lambda self, segments, background: segments)

    def fill(texts: Sequence[str]) -> list[RunFolder]:
        runs = workspace.root / "runs"
        shutil.rmtree(runs)
        runs.mkdir()
        current[:] = texts
        hostile_suite(workspace.root / "data" / "small-talk", texts)
        outcomes = ((Outcome.FAILED, "0117-a"), (Outcome.PASSED, "0116-b"), (Outcome.BROKEN, "0115-c"))
        made = [hostile_run(runs, name, texts, outcome) for outcome, name in outcomes]
        facts = Manifest("0114-waits", 1.0, kept(texts[0]), ModelFacts(kept(texts[1])), Setting(), cases=3)
        RunQueue(runs).add([Queued(create_run(runs, facts).name, 1.0)])
        return made

    return fill


async def assert_clean_everywhere(opened: Any, size: tuple[int, int], runs: Sequence[RunFolder], find: str) -> int:
    """Walk through everything; nothing of what is painted can act on a terminal. Return how many screens there were."""
    async with opened(size) as (app, pilot):
        names = []
        async for name in tour_screens(app, pilot, *runs):
            assert_no_control_byte(app)
            names.append(name)
        await pilot.press("ctrl+t", *find)
        assert_no_control_byte(app)
        assert set(PLACES) <= set(names)
        assert app.is_running
        return len(names)


@pytest.mark.timeout(600)
async def test_hostile_text_on_every_screen(
    opened: Any, foreign: Any, all_hostile: tuple[str, ...], record_property: Any
) -> None:
    record_property("trials", await assert_clean_everywhere(opened, (80, 24), foreign(all_hostile), "red"))


@pytest.mark.slow
@pytest.mark.timeout(600 + 60 * EXAMPLES)
@settings(
    max_examples=EXAMPLES or 2,
    derandomize=not EXAMPLES,
    database=None,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(texts=st.lists(DENSE, min_size=12, max_size=12, unique=True))
async def test_any_text_on_every_screen(opened: Any, foreign: Any, record_property: Any, texts: list[str]) -> None:
    record_property("trials", await assert_clean_everywhere(opened, (160, 45), foreign(texts), "w"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANYTHING)
def test_any_text_on_any_sheet_of_library(text: str) -> None:
    entry = SuiteEntry(text, text, Path("/x") / text.replace("\x00", ""), text, source={"name": text, "licence": text})
    suite = SuiteLine(entry, (Category(text, 3, (text,), text),))
    model = ModelLine(text, text, True, text, False, text, text, "fc", 1, 1.0, 1.0, 1)
    data = {"question": [[{"role": text, "content": text}]], "function": [{"name": text, "description": text}],
            "ground_truth": [{text: text}], text: text}  # fmt: skip
    blocks = [
        *suite_blocks(suite, Checksum(text, text)),
        *category_blocks(suite, text),
        *model_blocks(model, Ping(0.0, 0.1, False, text, text), [], pinging=False),
        *case_blocks(Case(text, text, data, title=text, depends_on=(text,)), text),
    ]
    shown = "".join(line.plain for block in blocks for line in (block.title, block.aside, *block.logical))
    assert not [one for one in shown if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 or 0xD800 <= ord(one) < 0xE000]
