"""Every verb, with every option and format that its parser knows, over names that attack the terminal: none gets out.

The command lines are made from the parser, so a verb, an option or a format that is added is walked as well. An option
whose word for its value is new fails here until `values` says what to give it.
"""

import argparse
import itertools
import json
import re
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.exports import EXPORT_FILES
from support.hostile_workspace import (
    ATTACK,
    CASE,
    CATEGORY,
    DEAD_MODEL,
    MODEL,
    PRESET,
    SUITE,
    HostileWorkspace,
    attack,
    write_workspace,
)

from console.cli.exitcode import Exit
from console.cli.parser import HIDDEN, VerbParser, build, own_verbs
from console.suites.new_folder import template_kinds

RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""What must not reach a terminal: control bytes but line feed and tab, bidirectional controls, what nobody sees."""
MARK = re.compile(r"\^\[|‹|\\u001b|\\x1b|\\033|&#x1b|U\+")
"""How a name that attacks is told from others: a mark of ours, or an escape of JSON or Python."""
SAYS_NO_NAMES = {"runner", "index"}
"""Verbs that have nothing of these names to say in any line below."""
OUTPUTS = attack("outputs")
QUICK = ("-n", "1", "--option", "max_turns=2")


def leaves(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], VerbParser]]:
    """Yield every verb with its parser; a verb that has verbs of its own gives those."""
    if isinstance(parser, VerbParser):
        parser.load()
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in inner:
        for name, below in action.choices.items():
            yield from leaves(below, (*words, name))
    if not inner and isinstance(parser, VerbParser):
        yield words, parser


LEAVES = dict(leaves(build(own_verbs())))


def values(place: HostileWorkspace, played: str, outputs: Path) -> dict[str, list[str]]:
    """What there is of everything that an option can name, by the option's own name or its word for the value."""
    run, rows, results = place.runs[1], str(place.rows), str(place.foreign_results)
    return {
        "A,B": [CATEGORY],
        "A,B|@FILE": [f"{CASE}0", f"@{rows}"],
        "CASE": [f"{CASE}1"],
        "DIR": [str(place.root)],
        "FILE": [rows],
        "FILE|HARNESS:TASK": [rows, attack("harness:task")],
        "FORMAT": ["dialogue", attack("format")],
        "FOLDER": [str(place.runs_root / run), str(place.runs_root / played), str(place.runs_root)],
        "K/N": ["1/2"],
        "FIELD=A,B": [f"prompt={rows},{rows}"],
        "K=V": [f"{ATTACK}=1", f"questions_path={rows}"],
        "KIND": [*template_kinds(), attack("kind")],
        "M": ["1pt"],
        "MODEL": [MODEL, DEAD_MODEL],
        "N": ["1"],
        "NAME|FAMILY": ["hammer", "gpt-4o-2024-11-20-FC"],
        "NAME=PATH": [f"{ATTACK}={place.root}"],
        "NAME[/CATEGORY]": [SUITE, f"{SUITE}/{CATEGORY}"],
        "PATH": [results, str(outputs), str(place.root)],
        "PLACE": ["local"],
        "R": ["8"],
        "REASON": [attack("why")],
        "RULE": ["decided", "2pt", attack("rule")],
        "RUN": [played, run],
        "RUN#CASE": [f"{run}#{CASE}{number}" for number in (1, 5)],
        "RUN[#CASE]": [run, *(f"{run}#{CASE}{number}" for number in range(6))],
        "S": ["1"],
        "SERVER": ["openai", "ollama"],
        "SHARE": ["0.9"],
        "STATUS": ["broken", "failed", attack("status")],
        "SUITE": [SUITE, "aidanbench"],
        "K": ["2", attack("count")],
        "T": ["9s"],
        "TURN.STEP": ["1.1", attack("step")],
        "WHAT": ["opening", attack("what")],
        "WHAT=FILE": ["params.top_p=0.5", f"system={attack('file')}", attack("what")],
        "TAG": ["model"],
        "TERMS": [f"reason:{ATTACK}", ATTACK, "is:disputed"],
        "TEXT": [attack("text")],
        "ID": [attack("id")],
        "URL": ["http://127.0.0.1:9/v1", attack("url")],
        "USD": ["9"],
        "VARIABLE": ["HOSTILE_KEY"],
        "VERB": ["run", ATTACK],
        "WORDS": ["failed", ATTACK],
        "JSON": [json.dumps([{"contains": ATTACK}]), ATTACK],
        "X": ["0.5"],
        "X,Y": ["simple_python"],
        # and by the option's own name, where its word for the value says less
        "embedding": ["sim/embedding"],
        "ids": [f"{CASE}1"],
        "judge": [MODEL],
        "mode": [attack("mode")],
        "model": [MODEL],
        "metric": ["passed", attack("metric")],
        "models": [MODEL],
        "name": ["cavebench", "aidanbench"],
        "preset": [PRESET, attack("mistake")],
        "reader": [attack("reader")],
        "keep": [attack("kept")],
        "save_preset": [attack("saved")],
        "suite": [SUITE],
        "user": ["sim/user"],
    }


def lines_of(
    words: tuple[str, ...], parser: VerbParser, place: HostileWorkspace, by_name: dict[str, list[str]]
) -> Iterator[list[str]]:
    """Yield command lines of one verb: with each value, flag and choice in turn, what is there and what is not."""
    options = [action for action in parser._actions if action.option_strings and action.dest not in COMMON]
    given = [action for action in parser._actions if not action.option_strings]
    bases = [[*words, *base] for base in _bases(given, by_name, place)]
    bases = [[*base, *_needed(words)] for base in bases]
    for base in bases:
        yield base
        yield [*base, "--json"]
    yield [*words, *(ATTACK for action in given if action.nargs not in ("?", "*")), *_needed(words)]
    yield [*words, f"--{ATTACK}"]
    yield [*words, "--help"]
    for place, action in enumerate(options):
        flag = action.option_strings[-1]
        for base in bases[:2][place % len(bases[:2]) :][:1]:
            if action.nargs == 0:
                yield from ([*base, name] for name in action.option_strings if name.startswith("--"))
                continue
            for value in action.choices or _values(action, by_name):
                yield [*base, flag, str(value)]
        if action.nargs != 0:
            yield [*bases[0], flag, ATTACK]


COMMON = {"help", "models", "data", "runs", "json", "quiet", "no_color", "yes", "ascii", "theme", "no_mouse"}


def _bases(given: list[argparse.Action], by_name: dict[str, list[str]], place: HostileWorkspace) -> list[list[str]]:
    """Return the positional arguments: each value of the first, with the last of the others."""
    if not given:
        return [[]]
    first, others = given[0], given[1:]
    if " | " in str(first.metavar):
        lines = [line for form in str(first.metavar).split(" | ") for line in _in_words(form, by_name)]
        return [[], *lines] if first.nargs == "*" else lines
    rest = [_values(action, by_name)[-1] for action in others]
    heads = [str(value) for value in first.choices or _values(first, by_name)]
    if first.nargs == "+":
        return [list(place.runs[:2]), list(place.runs)]
    return [[head, *rest] for head in heads] + ([[head] for head in heads] if others else [])


def _in_words(form: str, by_name: dict[str, list[str]]) -> Iterator[list[str]]:
    """Yield what one form of several words stands for: small words as they are, each value and an attack for others."""
    parts = [[word] if word.islower() else [*by_name[word], ATTACK] for word in form.split()]
    yield from (list(line) for line in itertools.product(*parts))


def _values(action: argparse.Action, by_name: dict[str, list[str]]) -> list[str]:
    metavar = str(action.metavar)
    return by_name[action.dest] if action.dest in by_name and metavar in ("NAME", "A,B") else by_name[metavar]


def _needed(words: tuple[str, ...]) -> list[str]:
    """What a verb needs besides to get far, and quickly."""
    if words == ("run",):
        return ["-m", MODEL, "-s", SUITE, *QUICK]
    if words == ("bfcl", "generate"):
        return ["--model", MODEL, "-s", "bfcl-starter", "--test-category", "simple_python"]
    return []


@pytest.fixture
def place(home: Path, monkeypatch: pytest.MonkeyPatch) -> HostileWorkspace:
    """The workspace, without any network and without processes that stay behind."""

    def refuse(*_: object, **__: object) -> Any:
        raise OSError(f"no way to {ATTACK}")

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", refuse)
    monkeypatch.setattr("console.engine.process.subprocess.Popen", refuse)
    monkeypatch.setattr("console.engine.runner.wake", lambda _: True)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HOSTILE_KEY", "sk-nothing-0123456789")
    place = write_workspace(home / attack("home"))
    monkeypatch.setenv("EVAL_CONSOLE_PRESETS", str(place.presets))
    return place


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test keeps the workspace with what it played, for the others."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def played(place: HostileWorkspace, kept: Path, console: Callable[..., Any]) -> str:
    """A run that was played in the workspace and exported to `outputs`; each test has it as if it were the first."""
    if (name := kept / "name").exists():
        shutil.rmtree(place.root)
        shutil.copytree(kept / "root", place.root)
        return name.read_text(encoding="utf-8")
    cap = ("-c", "1", "--option", "max_turns=2", "--max-tokens", "9000")
    stopped = console("run", "-m", MODEL, "-s", SUITE, *cap, "--json", *place.options)
    assert stopped.code == Exit.BUDGET, stopped.err
    outputs = ("-o", place.root / OUTPUTS)
    assert console("export", stopped.data["run"], "--format", "verifiers", *outputs, *place.options).code == Exit.OK
    shutil.copytree(place.root, kept / "root")
    name.write_text(stopped.data["run"], encoding="utf-8")
    return stopped.data["run"]


def test_every_verb_is_walked() -> None:
    assert {words[0] for words in LEAVES} == set(own_verbs()) | set(HIDDEN)


@pytest.mark.parametrize("words", list(LEAVES), ids=" ".join)
def test_nothing_of_a_name_is_obeyed(
    console: Callable[..., Any],
    place: HostileWorkspace,
    played: str,
    words: tuple[str, ...],
    record_property: Callable[[str, object], None],
) -> None:
    lines = list(lines_of(words, LEAVES[words], place, values(place, played, place.root / OUTPUTS)))
    record_property("trials", len(lines))
    marks = 0
    for line in lines:
        ended = console(*line, *place.options)
        shown = ended.out + ended.err
        assert not RAW.search(shown), (line, RAW.search(shown), shown)
        assert ended.code != Exit.INTERNAL, (line, ended.err)
        marks += bool(MARK.search(shown))
    assert marks or words[0] in SAYS_NO_NAMES, "no line showed a name, so nothing was tried"


@pytest.mark.parametrize("form", [form.name for form in EXPORT_FILES.values() if form.is_text])
def test_an_export_says_the_same_on_a_terminal_as_in_a_file(
    console: Callable[..., Any], place: HostileWorkspace, home: Path, form: str
) -> None:
    shown = console("export", place.runs[0], "--format", form, *place.options).out
    assert console("export", place.runs[0], "--format", form, "-o", home / "file", *place.options).code == Exit.OK
    assert (home / "file").read_text(encoding="utf-8") == shown
    if form == "json":
        rollout = json.loads(shown)["rollouts"][1]
        assert (rollout["case"], rollout["reason"]) == (f"{CASE}1", attack("reason")), "JSON keeps every byte, escaped"


def test_a_prompt_is_shown_without_control_bytes_and_goes_back_as_it_was(
    console: Callable[..., Any], place: HostileWorkspace, home: Path
) -> None:
    """Only the lines that a reader changes lose what the marks stand for."""
    case = f"{place.runs[1]}#{CASE}1"
    text = console("branch", case, "--show", "opening", *place.options).out
    assert text.count("second line^[]52") == 1
    (home / "prompt.txt").write_text(text.replace("You are an expert", "You are a novice"))
    ended = console("branch", case, "--set", f"opening={home / 'prompt.txt'}", "--json", *place.options)
    edit = json.loads((Path(ended.data["folder"]) / "run.json").read_text())["experiment"]["arms"][0][0]
    assert [message["role"] for message in edit["after"]] == ["system", "user"]
    assert edit["after"][0]["content"].startswith("You are a novice")
    assert (
        edit["after"][1]["content"] == edit["before"][1]["content"] == attack("prompt") + "\n" + attack("second line")
    )


UNSEEN = "un\u200bseen\u00ad \ufeff\u2060\U000e0041 👩‍👩‍👧"
SEEN = "un‹U+200B›seen‹U+00AD› ‹U+FEFF›‹U+2060›‹U+E0041› 👩‍👩‍👧"


def test_what_is_not_seen_in_a_comment_is_shown_as_a_mark(console: Callable[..., Any], finished: str) -> None:
    case = console("review", finished, "--all", "--json").lines[0]["case"]
    shown = [
        console("tag", f"{finished}#{case}", "--comment", UNSEEN),
        console("dispute", f"{finished}#{case}", UNSEEN),
        console("dispute", finished),
        console("show", f"{finished}#{case}"),
        *(console("export", finished, "--format", form) for form in ("csv", "markdown", "junit", "html")),
    ]
    for ended in shown:
        assert SEEN in ended.out.replace("\\", ""), ended.out
        assert not RAW.search(ended.out)
    assert console("tag", f"{finished}#{case}", "--json").data["comment"] == UNSEEN, "kept as it was written"
