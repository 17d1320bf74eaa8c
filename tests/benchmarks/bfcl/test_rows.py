"""`bfcl_name` in models.toml: the registry's row decides how a run of ours is asked and how its answers are read."""

import pytest

from console.cli.exitcode import Exit

MODEL = '[{name}]\nmodel_id = "careful"\nprovider = "simulated"\nbfcl_name = "{row}"\n'
ELSEWHERE = '[elsewhere]\nmodel_id = "claude"\nbfcl_name = "claude-haiku-4-5-20251001"\n'
ROWS = {
    "gemini": "gemini-2.5-flash-FC",
    "agent": "qwen3-4b-nothink-FC",
    "qwen": "qwen3-8b-FC",
    "claude": "claude-haiku-4-5-20251001",
    "hammer": "MadeAgents/Hammer2.1-7b",
    "typo": "gemini-2.5-flsh-FC",
}
CATEGORIES = "simple_python,irrelevance,multi_turn_base"


@pytest.fixture
def models(home) -> None:
    rows = "".join(MODEL.format(name=name, row=row) for name, row in ROWS.items())
    (home / "models.toml").write_text(rows + ELSEWHERE)


def run(console, name, *more):
    return console("run", "-m", name, "-s", "bfcl-starter", "--category", CATEGORIES, "--json", *more)


@pytest.mark.parametrize(
    ("name", "mode", "form"),
    [
        ("gemini", "fc", dict),
        ("qwen", "fc", str),
        ("claude", "prompt", None),
    ],
)
def test_a_row_decides_how_calls_are_asked_recorded_and_read(console, models, name, mode, form):
    ended = run(console, name)
    assert ended.code == Exit.OK, ended.err
    generic = run(console, "sim/careful", "--mode", mode)
    assert ended.data["summary"]["tally"]["passed"] == generic.data["summary"]["tally"]["passed"]
    case = f"{ended.data['run']}#simple_python_0"
    output = console("show", case, "--json").data["finished"]["output"]
    if form is None:
        assert isinstance(output, str)
    else:
        assert isinstance(next(iter(output[0].values())), form)
    assert console("export", ended.data["run"], "--format", "bfcl", "-o", "result").code == Exit.OK
    evaluated = console("bfcl", "evaluate", "-s", "bfcl-starter", "--partial-eval", "--json")
    assert {score["handler"] for score in evaluated.data["scores"]} == {ROWS[name]}
    assert sum(score["correct_count"] for score in evaluated.data["scores"]) == ended.data["summary"]["tally"]["passed"]


def test_rows_that_cannot_be_asked_are_refused_before_the_first_call(console, home, models):
    for name, words in {
        "typo": ("models.toml:21: [typo] bfcl_name", "Nearest: gemini-2.5-flash-FC"),
        "hammer": ("read from the official release", "pull bfcl"),
        "agent": ("qwen3-4b-nothink-FC", "QwenAgentNoThinkHandler are not sent", "cannot load this row"),
        "elsewhere": ("models.toml:25: [elsewhere]", "cannot be used with provider openai", 'provider = "anthropic"'),
    }.items():
        ended = run(console, name)
        assert ended.code == Exit.USAGE
        assert all(text in ended.err for text in words)
    ended = run(console, "gemini", "--mode", "prompt")
    assert (ended.code, "whose mode is fc" in ended.err) == (Exit.USAGE, True)
    assert not (home / "runs").exists() or not list((home / "runs").iterdir())
