"""A data set and a model that attack whoever reads them: every text is shown as what it is, and nothing happens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.openai_server import OpenAIServer, Scripted
from support.exports import EXPORT_FILES
from support.lookup_suite import right, write_models, write_rows, write_suite
from support.tmux_terminal import TmuxTerminal

ATTACKS = {
    "markup": "[/x]",
    "action": "[@click=app.quit]here[/]",
    "clipboard": "\x1b]52;c;aGk=\x07",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\",
    "device": "\x1bP+q544e\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "c1": "\x9b2J\x9d0;owned\x9c",
    "bidi": "\u202egnp.exe\u2066\u2069",
    "invisible": "a\u200b\u2060\ufeffb",
    "path": "../../../../tmp/escaped",
    "long": "x" * 300,
    "nul": "a\x00b",
    "combining": "e" + "\u0301" * 2000,
    "carriage": "right\rwrong\x08\x08",
    "formula": "=cmd|' /C calc'!A0",
    "script": "<script>alert(1)</script>",
    "emoji": "👩‍👩‍👧‍👦 ｗｉｄｅ",
}
FOREIGN = re.compile(
    "\x1b\\]52|\x1b\\]0;owned|\x1b\\]8;|\x1bP\\+q|[\x80-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\x00]"
)


@pytest.fixture
def hostile(home: Path) -> Iterator[Path]:
    """The folder of a suite whose every id and question is an attack, and a model that answers with them."""
    data = write_suite(home / "data", 0)
    rows = [(f"simple_python_{n}{text}", f"Look up number {n}. {text}", n) for n, text in enumerate(ATTACKS.values())]
    write_rows(data / "lookups", rows)
    texts = list(ATTACKS.values())

    def answer(request: dict[str, Any]) -> Scripted:
        said = right(request)
        number = int(re.findall(r"\d+", said.content or "0")[-1])
        if number % 3 == 0:
            return said
        if number % 3 == 1:
            return Scripted(texts[number] + (said.content or ""), model=texts[2])
        return Scripted(f'[look_up(number="{texts[number]}")]', finish="stop")

    with OpenAIServer(answer) as server:
        write_models(home, server)
        yield data


def outside(home: Path) -> set[Path]:
    return {path for path in home.rglob("*") if path.is_file()}


def test_commands_and_exports(console, home: Path, hostile: Path, record_property) -> None:
    before = outside(home)
    ended = console("run", "-m", "m", "-s", "lookups", "--data", hostile)
    assert ended.code == 0, ended.err
    told = [ended]
    run = next((home / "runs").iterdir())
    listed = console("review", run.name, "--all", "--json").lines
    assert len(listed) == len(ATTACKS)
    assert [one["case"] for one in listed].count("simple_python_12a\x00b") == 1, "the true id is kept"
    told += [console(*line) for line in (("show", run.name), ("review", run.name, "--all"), ("failures", run.name))]
    told += [console("show", f"{run.name}#{one['case']}") for one in listed if "\x00" not in one["case"]]
    told += [console("runs"), console("show", "\x1b]52;c;aGk=\x07"), console("resume", "[/x]")]
    record_property("trials", len(told) + len(EXPORT_FILES))
    for one in told:
        shown = one.out + one.err
        assert not FOREIGN.search(shown), FOREIGN.search(shown)
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert one.code in (0, 2)
    (home / "out").mkdir()
    for form in EXPORT_FILES:
        assert console("export", run.name, "--format", form, "-o", home / "out" / form).code == 0, form
    page = (home / "out" / "html").read_text()
    assert "<script>alert" not in page
    cells = (home / "out" / "csv").read_text()
    assert "=cmd|" in cells
    assert not re.search(r"(^|,|\n)\"?=cmd", cells)
    made = outside(home) - before
    assert not Path("/tmp/escaped").exists()
    assert all(path.is_relative_to(run) or path.is_relative_to(home / "out") or "state" in path.parts for path in made)
    assert console("check", "bfcl", home / "out" / "jsonl", "--data", hostile).code in (0, 2)


def test_the_app_sends_no_foreign_byte(console, home: Path, hostile: Path) -> None:
    assert console("run", "-m", "m", "-s", "lookups", "--data", hostile, "--quiet", "--json").code == 0
    app = TmuxTerminal(home, "--data", str(hostile), size=(160, 45))
    raw = home / "raw"
    try:
        app._tmux("pipe-pane", "-o", f"cat > '{raw}'")
        app.until("Try the demo", "lookups")
        app.press("3")
        app.until("Review", "1 of ")
        for _ in range(len(ATTACKS)):
            app.press("n")
        app.press("p")
        app.until("[Raw]")
        app.press("1")
        app.until("Try the demo")
        app.press("q")
        app.until("exit 0", "icanon")
        screen = app.screen()
    finally:
        app.close()
    sent = raw.read_bytes().decode("utf-8", "replace")
    assert "look_up" in sent
    assert not FOREIGN.search(sent), sent[FOREIGN.search(sent).start() - 40 :][:100]  # type: ignore[union-attr]
    assert "owned" not in screen
