"""A run, or several, as a folder of pages: what they say, that links lead somewhere, and what is never overwritten."""

import html.parser
import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from support.compared_runs import call_run
from support.exported_runs import simulated_starter
from support.graded_runs import graded_run
from support.hostile_texts import HOSTILE
from support.recorded_runs import Recorder

from console.core.chat import Reply
from console.core.comparison import Comparison, Mark, Pair, Row
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.run import ModelFacts
from console.exchange.document import Item
from console.exchange.document_reader import document_of
from console.exchange.run_reader import RunReader
from console.exchange.site.case_page import SharedTexts, case_page, cut_middle, even_limit
from console.exchange.site.run_pages import script_value
from console.exchange.site.site_run import SiteRun
from console.exchange.site.writer import CASE_BYTES, export_site
from console.store.runs import RunFolder

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; media-src data:; "
    "base-uri 'none'; form-action 'none'"
)
TEXTS = (
    *HOSTILE,
    '<script>alert(1)</script><img src=x onerror="x()">',
    "'\"><svg onload=x>",
    "]]>--></style>",
    "../../x",
)
VOID = {"meta", "link", "br", "input", "rect", "path"}


class Page(html.parser.HTMLParser):
    """One page: its elements in order, its words, and whether everything is closed where it was opened."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    def values(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.elements if name in attributes]

    def link(self, key: str) -> str | None:
        """Return where a key leads."""
        places = [attributes["href"] for _, attributes in self.elements if attributes.get("data-key") == key]
        return places[0] if places else None


def site_of(tmp_path: Path, *folders: RunFolder) -> Path:
    out = tmp_path / "site"
    export_site(folders, out, None)
    return out


def pages(out: Path) -> list[Page]:
    return [Page(path) for path in sorted(out.rglob("*.html"))]


def list_of(path: Path) -> dict[str, list[Any]]:
    text = path.read_text(encoding="ascii")
    assert text.startswith("window.siteList = ")
    return json.loads(text.removeprefix("window.siteList = ").rstrip(";\n"))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Return a site of two runs of the same cases."""
    runs = tmp_path / "runs"
    return site_of(tmp_path, call_run(runs, "a", "gpt-x", 0), call_run(runs, "b", "gpt-y", 1))


def hostile_run(root: Path) -> RunFolder:
    recorder = Recorder(root, cases=len(TEXTS), name="hostile", model=ModelFacts("m </title><script>"))
    for number, text in enumerate(TEXTS):
        question = [{"role": "system", "content": text * 30}, {"role": "user", "content": text}]
        key = recorder.start(f"{number} {text}", f"c {text}", text)
        reply = Reply(f"{text}</pre></main><script src='//e.example/x'></script>")
        recorder.ask(key, "", reply, messages=question)
        recorder.finish(key, Outcome.FAILED, f"r {text}", text, output=text)
    return recorder.close()


def test_every_link_leads_somewhere(two: Path) -> None:
    for page in pages(two):
        for place in [*page.values("href"), *page.values("src")]:
            parts = urlsplit(place)
            assert (parts.scheme, parts.netloc) == ("", "")
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            assert target.is_file(), f"{page.path}: {place}"
            assert target.is_relative_to(two)
            if parts.fragment:
                assert parts.fragment in Page(target).values("id"), f"{page.path}: {place}"


def test_each_page_has_a_heading_landmarks_and_a_policy(two: Path) -> None:
    for page in pages(two):
        tags = [tag for tag, _ in page.elements]
        assert (tags.count("h1"), tags.count("main"), tags.count("header")) == (1, 1, 1)
        levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
        assert all(after <= before + 1 for before, after in pairwise(levels)), page.path
        assert page.values("lang") == ["en"]
        assert [attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes] == [POLICY]
        assert "#main" in page.values("href")
        names = [attributes.get("aria-label") for tag, attributes in page.elements if tag == "nav"]
        assert all(names)
        assert len(names) == len(set(names))


def test_case_pages_show_the_verdict_expected_beside_actual_and_what_was_said(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "runs", cases=1)
    key = recorder.start("x", "sums", "How many?")
    recorder.ask(key, "1+1?", Reply("It is 3"))
    recorder.finish(key, Outcome.FAILED, "wrong_sum", "x", messages=("expected 2, got 3",))
    run = SiteRun(RunReader(recorder.close()), "")
    items: list[Item] = []
    document_of(run.reader, None, visit=items.append)
    rows = (Row(Mark.DIFFERS, "sum", ("2", "two"), "3", decisive=True),)
    comparison = Comparison("wrong sum: x", (Pair(Mark.SAME, "f()", "f()", rows),), hint="say 2")
    path = tmp_path / "page.html"
    path.write_text(case_page(run, replace(items[0], comparison=comparison), [], SharedTexts(), 9000), encoding="utf-8")
    words = " ".join(Page(path).words.split())
    order = ["x", "failed: wrong sum: x", "How many?", "expected 2, got 3", "Expected and actual", "2 | two",
             "say 2", "Transcript", "1+1?", "It is 3"]  # fmt: skip
    places = [words.index(part) for part in order]
    assert places == sorted(places)


def test_a_long_comparison_is_shortened_and_says_so(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "runs", cases=1)
    recorder.finish(recorder.start("x"), Outcome.FAILED, "wrong_sum")
    run = SiteRun(RunReader(recorder.close()), "")
    items: list[Item] = []
    document_of(run.reader, None, visit=items.append)
    rows = tuple(Row(Mark.DIFFERS, f"v{number}", ("<" * 900,), ">" * 900) for number in range(300))
    comparison = Comparison("", (Pair(Mark.SAME, "f()", "f()", rows),))
    page = case_page(run, replace(items[0], comparison=comparison), [], SharedTexts(), 8000)
    assert len(page) < 9000
    assert "more rows" in page
    assert "more characters" in page


def test_the_next_failure_is_one_key_away_from_the_overview_to_the_last_one(two: Path) -> None:
    page, seen = Page(two / "run-2" / "index.html"), list[str]()
    while (place := page.link("n")) is not None:
        page = Page((page.path.parent / place).resolve())
        seen.append(page.path.name)
        assert "passed" not in page.words.split("Elsewhere")[0]
    rows = list_of(two / "run-2" / "data" / "list.js")
    failing = [row for row in rows["rows"] if rows["outcomes"][row[1]][0] in ("failed", "broken")]
    assert seen == [f"{row[0]:05}.html" for row in failing]
    assert len(seen) == 6


def test_the_comparison_says_what_compare_says_and_changed_cases_lead_to_both(two: Path) -> None:
    page = Page(two / "compare-2.html")
    assert "B − A: " in page.words
    assert re.search(r"p = |p < ", page.words)
    assert page.words.index("lost") < page.words.index("gained")
    places = page.values("href")
    assert any(place.startswith("run-1/cases/") for place in places)
    assert any(place.startswith("run-2/cases/") for place in places)
    assert "Elsewhere" in Page(two / "run-1" / "cases" / "00001.html").words


def test_lists_hold_every_case_with_and_without_a_script(two: Path) -> None:
    rows = list_of(two / "run-1" / "data" / "list.js")["rows"]
    linked = [place for place in Page(two / "run-1" / "list-1.html").values("href") if place.startswith("cases/")]
    assert linked == [f"cases/{row[0]:05}.html" for row in rows]
    assert len(rows) == 9


def test_hostile_text_is_text_on_every_page_and_in_the_data(tmp_path: Path) -> None:
    out = site_of(tmp_path, hostile_run(tmp_path / "runs"))
    for page in pages(out):
        scripts = [attributes.get("src") or "" for tag, attributes in page.elements if tag == "script"]
        assert all(re.fullmatch(r"(\.\./)*(site\.js|data/list\.js)", script) for script in scripts)
        assert not {tag for tag, _ in page.elements} & {"img", "iframe", "object", "base", "style", "b:x"}
        names = {name for _, attributes in page.elements for name in attributes}
        assert not {name for name in names if name.startswith("on") or name == "style"}
        text = page.path.read_text(encoding="utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    data = (out / "data" / "list.js").read_text(encoding="ascii")
    assert "<" not in data
    assert len(list_of(out / "data" / "list.js")["rows"]) == len(TEXTS)


def test_what_scripts_hold_cannot_end_them() -> None:
    assert script_value("</script>\u2028<!--") == '"\\u003c/script>\\u2028\\u003c!--"'


def test_simulated_runs_are_marked_on_every_page_of_theirs(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    real, simulated = call_run(runs, "a", "gpt-x", 0), call_run(runs, "b", "sim/y", 1, simulated=True)
    out = site_of(tmp_path, real, simulated)
    for page in pages(out):
        assert ("simulated:" in page.words) is ("run-1" not in page.path.parts)
    assert json.loads((out / "eval-console-site.json").read_bytes())["simulated"] is True


def test_an_earlier_site_is_replaced_whole_and_nothing_else_ever_is(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    large = graded_run(runs, "large", {f"c{number}": "f" for number in range(5)})
    small = graded_run(runs, "small", {"only": "f"})
    out = site_of(tmp_path, large)
    export_site([small], out, None)
    assert [path.name for path in (out / "cases").iterdir()] == ["00001.html"]
    (out / "cases" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="would be lost") as refusal:
        export_site([large], out, None)
    assert str(refusal.value.where).endswith("mine.txt")
    (out / "cases" / "mine.txt").unlink()
    (out / "run-1").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="would be lost"):
        export_site([large], out, None)
    other = tmp_path / "other"
    other.mkdir()
    export_site([small], other, None)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "index.html").write_text("a page of somebody else")
    with pytest.raises(UsageError, match="is not empty"):
        export_site([small], foreign, None)
    assert (foreign / "index.html").read_text() == "a page of somebody else"
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        export_site([small], tmp_path / "file", None)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_two_thousand_long_cases_stay_within_their_part_of_fifty_megabytes(tmp_path: Path) -> None:
    count, shared = 2000, "You are asked for a sum. " * 60
    recorder = Recorder(tmp_path / "runs", cases=count, name="long", model=ModelFacts("m"))
    for number in range(count):
        question = [{"role": "system", "content": shared}, {"role": "user", "content": f"{number} <&> " * 800}]
        key = recorder.start(f"case_{number}", "sums")
        recorder.ask(key, "", Reply("é" * 9000 + f" the end of {number}"), messages=question)
        recorder.finish(key, Outcome.FAILED, "wrong_sum", output="x")
    out = site_of(tmp_path, recorder.close())
    sizes = [path.stat().st_size for path in (out / "cases").iterdir()]
    assert len(sizes) == count
    assert max(sizes) <= CASE_BYTES // count * 1.05
    others = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) - sum(sizes)
    assert CASE_BYTES * 1.05 + others * (10_000 / count) < 50_000_000
    page = Page(out / "cases" / "01000.html")
    assert "characters left out" in page.words
    assert "the end of 999" in page.words
    assert "../texts/00001.html" in page.values("href")
    assert shared in Page(out / "texts" / "00001.html").words


def test_cuts_leave_both_ends() -> None:
    assert cut_middle("a" * 10, 40) == "a" * 10
    shown = cut_middle("begin" + "x" * 5000 + "end", 100)
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert even_limit([10, 10, 1000], 520) == 500
    assert even_limit([10, 10], 520) >= 10


def test_the_script_writes_foreign_text_as_text_only() -> None:
    source = (Path(__file__).parents[2] / "console/exchange/site/site.js").read_text(encoding="utf-8")
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|fetch\(|import"
    assert not re.search(ways, source)


def test_passed_cases_have_expected_beside_actual_too_and_each_page_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_CONSOLE_SIM_PACE", "flat")
    counted: list[tuple[int, int]] = []
    export_site([simulated_starter(tmp_path / "runs")], tmp_path / "site", None, lambda *count: counted.append(count))
    pages = [path.read_text(encoding="utf-8") for path in sorted((tmp_path / "site" / "cases").iterdir())]
    assert counted == [(number, len(pages)) for number in range(1, len(pages) + 1)]
    for outcome in ("passed", "failed"):
        verdicts = [page for page in pages if f"<strong>{outcome}</strong>" in page]
        assert verdicts
        assert all("<h2>Expected and actual</h2>" in page for page in verdicts)
