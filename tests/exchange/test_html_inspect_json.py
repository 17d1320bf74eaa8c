"""A hostile run in every form: each is read back by a reader of that form, and nothing foreign acts or escapes."""

import csv
import dataclasses
import html.parser
import io
import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import msgspec
import pytest
from support.exports import EXPORT_FILES, export_file

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, ToolCall, Usage
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Closed, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.exchange.document import Item, RunDocument
from console.exchange.document_reader import read_document
from console.exchange.exports.html_page import html_page
from console.exchange.exports.html_parts import STYLE
from console.store.journal import JournalWriter
from console.store.notes import Note, Notes
from console.store.runs import RunFolder, create_run
from console.suites.suite import Report
from console.tui.themes import DARK, LIGHT, roles_of

HOSTILE = (
    '=cmd|"/c calc"!A1',
    '<script>alert(1)</script><img src=x onerror="x()">',
    "\x1b]52;c;cm0gLXJm\x07\x1b[2J\x9b31m",
    "lone \ud800 surrogate \ufffe and \u202e back",
    "</testsuite>]]><!--",
    "'\"><svg onload=x>",
    "[/x][@click=app.quit]| `x` |\n| y |",
)
MIX = " ".join(HOSTILE)
KEPT = MIX.replace("\ud800", "")
"""As far as a manifest or a note can hold it."""
OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.BROKEN, Outcome.UNDECIDED, Outcome.NOT_RUN, Outcome.FAILED)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A simulated run whose every foreign text is hostile: one case an outcome, one interrupted, with notes."""
    manifest = Manifest(
        id="hostile", at=1_800_000_000.0, suite="gone <b>", model=ModelFacts(KEPT, simulated=True), setting=Setting(),
        cases=7, dataset={"name": KEPT},
    )  # fmt: skip
    folder = create_run(tmp_path / "runs", manifest)
    journal = JournalWriter(folder.journal_path)
    journal.append(Opened(at=1.0, pid=1))
    for place, outcome in enumerate(OUTCOMES):
        key = Key(f"{HOSTILE[place]}/../{place}")
        journal.append(Started(at=2.0, key=key, case=Case(key.case, MIX, {"answer": MIX}, title=MIX)))
        call = ToolCall("c1", MIX, "{not json" if place else '{"a": 1}')
        reply = Reply(MIX, (call,), usage=Usage(7, 3), model=MIX, finish="length")
        messages = [{"role": "system", "content": MIX}, {"role": "user", "content": MIX}]
        journal.append(Asked(at=2.5, key=key, n=1, digest="d", reply=reply, messages=messages))
        reason = None if outcome is Outcome.PASSED else f"reason {MIX}"
        verdict = Verdict(outcome, reason, MIX, (MIX,), {"s": 0.5})
        journal.append(Finished(at=3.0, key=key, verdict=verdict, output=[MIX], seconds=1.0, input_tokens=7))
    journal.append(Started(at=4.0, key=Key("open"), case=Case("open", "c")))
    journal.append(Closed(at=5.0, reason="stopped"))
    journal.close()
    notes = Notes(folder.path)
    for kind in ("tag", "comment", "dispute"):
        notes.add(Note(Key(f"{HOSTILE[1]}/../1"), kind, f"{kind} {KEPT}"))
    return folder


def written(run: RunFolder, name: str) -> bytes:
    document, why = read_document(run, None, with_conversations=EXPORT_FILES[name].with_conversations)
    assert "gone" in why
    return EXPORT_FILES[name].content(document)


@pytest.mark.parametrize("name", EXPORT_FILES)
def test_every_form_says_that_the_run_is_simulated(run, name):
    data = written(run, name)
    if name == "eval":
        data = zipfile.ZipFile(io.BytesIO(data)).read("header.json")
    assert b"simulated" in data or b"True" in data


@pytest.mark.parametrize("name", ["csv", "json", "markdown", "junit", "html"])
def test_no_control_character_reaches_a_terminal(run, name):
    text = written(run, name).decode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", text)


def test_csv_holds_every_rollout_and_note_and_no_formula(run):
    rows = list(csv.DictReader(io.StringIO(written(run, "csv").decode())))
    assert len(rows) == 7
    assert rows[0]["case"].startswith("'=cmd")
    assert rows[1]["tag"].startswith("tag =cmd")
    assert rows[1]["dispute"].startswith("dispute")
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row.values())


def test_json_holds_the_source_texts(run):
    found = json.loads(written(run, "json"))
    assert found["simulated"] is True
    assert [it["outcome"] for it in found["rollouts"]] == [*(outcome.value for outcome in OUTCOMES), "interrupted"]
    assert found["rollouts"][0]["case"] == f"{HOSTILE[0]}/../0"
    assert "\x1b]52" in found["rollouts"][1]["messages"][0]
    assert found["rollouts"][1]["remarks"]["comment"].startswith("comment =cmd")
    assert found["rollouts"][0]["output"][0].startswith("=cmd")


def test_junit_is_one_tree_with_notes_as_properties(run):
    suite = ElementTree.fromstring(written(run, "junit"))
    assert [len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error", "skipped")] == [2, 2, 2]
    properties = suite.findall("testcase/properties/property")
    assert [it.get("name") for it in properties] == ["tag", "comment", "dispute", "disputed_by"]
    assert "<script>" in properties[0].get("value")


class Tags(html.parser.HTMLParser):
    """Everything in a page that could act."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.policy = ""
        self.depth: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"]
        if tag not in ("meta", "rect", "path"):
            self.depth.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.depth.pop() == tag


def test_the_page_has_nothing_that_acts_and_is_well_nested(run):
    page, tags = written(run, "html").decode(), Tags()
    tags.feed(page)
    assert tags.depth == []
    assert "default-src 'none'" in tags.policy
    assert "script-src" not in tags.policy
    assert not tags.tags & {"script", "img", "iframe", "a", "link", "object", "form"}
    assert page.count("<input") == page.count('<input type="radio" name="f"')
    assert not {name for name in tags.attributes if name.startswith("on") or name in ("href", "src", "style")}
    assert "&lt;script&gt;" in page
    assert "tag =cmd" in page


def test_the_page_has_examples_of_every_reason_and_a_filter(run):
    document, _ = read_document(run, None)
    failed = document.items[1]
    rare = msgspec.structs.replace(failed.rollout, reason="value_error:others", order=999)
    many = [
        dataclasses.replace(failed, rollout=msgspec.structs.replace(failed.rollout, key=Key(f"case-{n}"), order=n))
        for n in range(600)
    ]
    page = html_page(
        dataclasses.replace(document, items=[*many, dataclasses.replace(failed, rollout=rare)], report=None)
    )
    assert page.count("<details><summary><span") == 21
    assert "600; 20 of them below" in page
    assert page.count('type="radio"') == 3
    assert "body:has(#f1:checked) section:not(.r1){display:none}" in page
    assert "<script" not in page


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_the_page_has_the_colors_of_the_app(theme):
    roles = roles_of(theme)
    for role in ("pass", "fail", "broken", "undecided", "muted"):
        assert f".{role}{{color:{roles[role]}}}" in STYLE.replace("\n", "")


def test_lone_surrogates_are_shown_and_never_written(run):
    document, _ = read_document(run, None, with_conversations=True)
    rollout = msgspec.structs.replace(document.items[1].rollout, message="\ud800", subject="\udfff", title="\ud83d")
    item = dataclasses.replace(document.items[1], rollout=rollout)
    for form in EXPORT_FILES.values():
        data = form.content(dataclasses.replace(document, items=[item]))
        if form.is_text:
            data.decode("utf-8")
    assert b"U+D83D" in EXPORT_FILES["html"].content(dataclasses.replace(document, items=[item]))


def test_the_page_shows_expected_beside_actual(run):
    document, _ = read_document(run, None)
    failed = document.items[1]
    rows = (Row(Mark.DIFFERS, "unit", ("'f'", "'F'"), "'<i>k'", decisive=True), Row(Mark.OMITTED, "days"))
    comparison = Comparison("wrong value: unit", (Pair(Mark.DIFFERS, "f()", "f()", rows),), hint="say 'f'")
    items = [Item(failed.rollout, failed.case, failed.finished, comparison)]
    page = html_page(RunDocument(document.manifest, document.summary, None, items))
    assert "wrong value: unit" in page
    assert "<code>&#x27;f&#x27; | &#x27;F&#x27;</code>" in page
    assert "<code>&#x27;&lt;i&gt;k&#x27;</code>" in page
    assert "would pass: say &#x27;f&#x27;" in page


def test_the_inspect_log_is_whole(run):
    archive = zipfile.ZipFile(io.BytesIO(written(run, "eval")))
    assert archive.testzip() is None
    header = json.loads(archive.read("header.json"))
    assert {"version", "status", "eval", "plan", "results", "stats"} <= set(header)
    assert (header["version"], header["status"], header["eval"]["tags"]) == (2, "cancelled", ["simulated"])
    assert {"run_id", "eval_id", "created", "task", "task_id", "task_version", "dataset", "model", "config"} <= set(
        header["eval"]
    )
    score, *others = header["results"]["scores"]
    assert (score["name"], score["scored_samples"], score["unscored_samples"]) == ("eval_console", 3, 4)
    assert [scorer["name"] for scorer in header["eval"]["scorers"]] == [score["name"], *(it["name"] for it in others)]
    assert score["metrics"]["accuracy"]["value"] == pytest.approx(1 / 3)
    names = [name for name in archive.namelist() if name.startswith("samples/")]
    assert len(set(names)) == 7
    assert all(re.fullmatch(r"samples/[\w.-]+_epoch_1\.json", name) and ".." not in name for name in names)
    summaries = json.loads(archive.read("summaries.json"))
    assert [f"samples/{it['id']}_epoch_{it['epoch']}.json" for it in summaries] == names
    samples = [json.loads(archive.read(name).decode("utf-8")) for name in names]
    assert [sample["scores"].get("eval_console", {}).get("value") for sample in samples] == [
        "C", "I", None, None, None, "I", None,
    ]  # fmt: skip
    assert [bool(sample.get("error")) for sample in samples] == [False, False, True, True, True, False, True]
    first = samples[0]
    assert [message["role"] for message in first["messages"]] == ["system", "user", "assistant"]
    assert first["messages"][2]["tool_calls"][0]["arguments"] == {"a": 1}
    assert "{not json" in samples[1]["messages"][2]["tool_calls"][0]["parse_error"]
    assert first["metadata"]["case"] == f"{HOSTILE[0]}/../0"
    assert samples[1]["metadata"]["tag"].startswith("tag")
    assert first["output"]["choices"][0]["stop_reason"] == "max_tokens"
    for sample in samples:
        json.dumps(sample, ensure_ascii=False).encode("utf-8")


def test_the_same_run_gives_the_same_log(run):
    assert written(run, "eval") == written(run, "eval")


def test_files_are_replaced_and_bad_places_are_said(run, tmp_path):
    path = tmp_path / "deep" / "run.csv"
    with pytest.raises(UsageError, match="does not exist"):
        export_file(run, EXPORT_FILES["csv"], path, None)
    path.parent.mkdir()
    assert "gone" in export_file(run, EXPORT_FILES["csv"], path, None)
    export_file(run, EXPORT_FILES["json"], path, None)
    assert path.read_bytes().startswith(b"{")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="does not exist"):
        export_file(run, EXPORT_FILES["csv"], tmp_path / "file" / "run.csv", None)


def test_a_report_that_failed_says_why_instead_of_an_empty_table(run: RunFolder) -> None:
    document, _ = read_document(run, None)
    page = html_page(dataclasses.replace(document, report=Report((), fault=f"the suite failed: {MIX}")))
    assert '<h2>Metrics</h2><p class="fail">the suite failed: =cmd' in page
    assert "<th>metric</th>" not in page
    assert "<script" not in page
