"""Bad input ends in one clear message with its hint, exit code 2 (or the documented one), and never a traceback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cli.conftest import Ended
from support.mounted_folders import on_read_only_disk

from console.cli.exitcode import Exit

RUN = ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1")


def assert_refused(ended, *words: str) -> None:
    """Assert one clear message that holds these words, and nothing on stdout."""
    assert ended.code == Exit.USAGE, ended.err
    assert ended.out == ""
    assert ended.err.count("eval-console:") == 1
    for word in words:
        assert word in ended.err


def test_no_terminal_names_the_headless_verbs(console):
    assert_refused(console(), "terminal", "eval-console run", "--help")


def test_unknown_verb(console):
    assert_refused(console("reviw"), "unknown verb 'reviw'", "did you mean review")


def test_unknown_flag(console):
    assert_refused(console("runs", "--jsno"), "--jsno", "--help")


def test_missing_models_file(console):
    assert_refused(console(*RUN, "--models", "nowhere.toml"), "nowhere.toml", "does not exist")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[a]\nmodel_id = "x"\n[a]\nmodel_id = "y"\n', ["models.toml"]),
        ("not toml at all\n", ["models.toml:1"]),
        ('[mine]\nmodel_idd = "x"\n', ["model_idd", "model_id"]),
        ('[mine]\nmodel_id = "x"\nbase_url = "ftp://x"\n', ["http"]),
    ],
)
def test_malformed_models_file(console, home, text, words):
    (home / "models.toml").write_text(text)
    ended = console("run", "-m", "mine", "-s", "aidan-starter")
    assert_refused(ended, "models.toml")
    listed = console("models")
    assert listed.code == Exit.USAGE
    for word in words:
        assert word in listed.err


def test_unknown_model_names_the_nearest(console):
    assert_refused(
        console("run", "-m", "sim/carefull", "-s", "aidan-starter"), "sim/carefull", "Did you mean sim/careful?"
    )


def test_no_model_or_no_suite(console):
    assert_refused(console("run", "-s", "aidan-starter"), "-m", "eval-console models")
    assert_refused(console("run", "-m", "sim/careful"), "-s", "eval-console suites")


def test_unknown_suite_names_the_nearest(console):
    assert_refused(console("run", "-m", "sim/careful", "-s", "aidan-startre"), "Did you mean aidan-starter?")


def test_unknown_category_and_id(console):
    assert_refused(console(*RUN, "--category", "cuases"), "cuases", "causes")
    assert_refused(console(*RUN, "--ids", "causes-99"), "causes-99", "causes-")


def test_a_branch_without_continuations(console):
    ended = console("branch", "latest#a", "-r", "0")
    assert (ended.code, "--repeats: must be at least 1, not 0" in ended.err) == (2, True)


def test_unknown_option_and_wrong_value(console):
    assert_refused(console(*RUN, "--option", "max_turn=3"), "max_turn", "Did you mean max_turns?")
    assert_refused(console(*RUN, "--option", "max_turns=soon"), "max_turns", "int")
    assert_refused(console(*RUN, "--option", "max_turns"), "name=value")


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (("-n", "0"), "--limit"),
        (("-n", "2", "--sample", "2"), "--sample"),
        (("--seed", "1"), "--seed"),
        (("-r", "0"), "--rollouts: must be at least 1"),
        (("-r", "900000000"), "are more than the 1,000,000 that one run may have"),
        (("-c", "0"), "concurrency"),
        (("--max-time", "soon"), "--max-time"),
        (("--max-cost", "-1"), "--max-cost"),
        (("--fail-under", "much"), "--fail-under"),
        (("--mode", "chat"), "mode"),
        (("-n", "many"), "--limit"),
    ],
)
def test_values_that_do_not_fit(console, flags, word):
    ended = console("run", "-m", "sim/careful", "-s", "aidan-starter", *flags)
    assert_refused(ended, word)


def test_no_key(console, home, monkeypatch):
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    (home / "models.toml").write_text('[mine]\nmodel_id = "x"\napi_key_env = "ABSENT_KEY"\n')
    roles = ("--judge", "sim/judge", "--embedding", "sim/embedding")
    assert_refused(console("run", "-m", "mine", "-s", "aidan-starter", *roles), "mine", "ABSENT_KEY")
    assert not (home / "runs").exists()


def test_refused_connection_breaks_no_case(console, home):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (home / "models.toml").write_text(
        f'[mine]\nmodel_id = "x"\nbase_url = "http://127.0.0.1:{port}/v1"\n'
        "limits = { max_tries = 1, backoff_s = 0.01, max_outage_s = 0.01 }\n"
    )
    roles = ("--judge", "sim/judge", "--embedding", "sim/embedding")
    ended = console("run", "-m", "mine", "-s", "aidan-starter", "-n", "2", *roles, "--json")
    assert ended.code == Exit.INCONCLUSIVE
    tally = ended.data["summary"]["tally"]
    assert tally.get("failed", 0) == tally.get("passed", 0) == 0
    assert str(port) in ended.err + ended.out
    doctor = console("doctor", "--json")
    assert doctor.code == Exit.USAGE
    assert any(one["area"] == "endpoints" and one["state"] == "bad" for one in doctor.data["findings"])


def test_data_not_pulled(console, monkeypatch):
    monkeypatch.setattr("console.config.paths.checkout", lambda: None)
    assert_refused(console("check", "bfcl", os.devnull), "eval-console pull bfcl")
    assert_refused(console("run", "-m", "sim/careful", "-s", "bfcl"), "eval-console pull bfcl")
    assert_refused(console("bfcl", "evaluate"), "eval-console pull bfcl")


def test_damaged_data_file(console, home):
    folder = home / "mine"
    folder.mkdir()
    (folder / "suite.toml").write_text("format = \n")
    assert_refused(console("run", "-m", "sim/careful", "-s", "mine", "--data", home), "suite.toml")
    assert "suite.toml" in console("suites", "--data", home).err


def test_damaged_journal_is_reported_and_the_rest_is_read(console, finished, home):
    journal = home / "runs" / finished / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:40] + b"#" + lines[2][41:]
    journal.write_bytes(b"".join(lines) + b'{"v":1,"t":"asked","at"')
    shown = console("show", finished)
    assert shown.code == Exit.OK
    assert "1 damaged journal line" in shown.out
    assert console("runs", "--json").data["runs"][0]["damaged"] == 1


def test_a_folder_that_is_no_run(console, home):
    (home / "plain").mkdir()
    assert_refused(console("show", "./plain"), "run.json", "plain")
    assert_refused(console("show", "nothing"), "no run is named 'nothing'")
    assert_refused(console("review", "latest"), "eval-console run")


def test_unknown_case_names_the_nearest(console, finished):
    case = console("review", finished, "--all", "--json").lines[0]["case"]
    assert_refused(console("show", f"{finished}#{case}x"), "Did you mean")
    assert_refused(console("retry", finished, "--ids", "nothing-here"), "nothing-here")


def test_read_only_runs_folder(home):
    """Mounted read-only, because root may write into any folder that is merely marked so."""
    (home / "runs").mkdir()
    command = on_read_only_disk(home / "runs", [sys.executable, "-m", "console", *RUN])
    environment = dict(os.environ) | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert_refused(Ended(done.returncode, done.stdout, done.stderr), "cannot be written", "--runs")


def test_runs_folder_that_is_a_file(console, home):
    (home / "file").write_text("")
    assert_refused(console(*RUN, "--runs", home / "file"), "not a folder")
    assert_refused(console(*RUN, "--runs", home / "file" / "below"), "cannot be written")


def test_damaged_lines_for_check_cost_themselves(console, home):
    rows = ('{"case": "a", "kind": "answer", "text": "t"}', "not json", '{"case": "b", "kind": "answer", "text": null}')
    (home / "in.jsonl").write_text("\n".join((*rows, rows[0])))
    ended = console("check", "aidanbench", "in.jsonl")
    assert ended.code == Exit.USAGE
    assert "2 of the lines" in ended.err
    first, second, third, last = ended.lines
    assert first == last == {"case": "a", "value": "t"}
    assert (second["line"], third["line"], third["case"]) == (2, 3, "b")
    assert second["error"].startswith("line 2: not JSON")
    assert third["error"].startswith("line 3")
    assert_refused(console("check", "aidanbench", "absent.jsonl"), "absent.jsonl")
    assert_refused(console("check", "aidanbnch", "in.jsonl"), "aidanbnch")


def test_pull_of_something_unknown(console, home):
    assert_refused(console("pull", "bfcll"), "bfcll", "Did you mean bfcl?")
    (home / "x.whl").write_bytes(b"not a wheel")
    assert_refused(console("pull", "bfcl", "--from", "x.whl", "--data", home / "data"), "x.whl", "sha256")


def test_foreign_text_is_made_visible(console, home):
    ended = console("show", "\x1b]52;c;aGk=\x07")
    assert ended.code == Exit.USAGE
    assert "\x1b" not in ended.err


def test_the_local_embedding_is_looked_for_below_the_folder_that_is_named(console, home):
    (home / "mine" / "minilm").mkdir(parents=True)
    for name in ("model.safetensors", "vocab.txt"):
        (home / "mine" / "minilm" / name).write_text("damaged")
    words = ("-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--embedding", "local/minilm")
    console("run", *words, "--data", home / "mine")
    assert f"the local embedding in {home / 'mine' / 'minilm'} cannot be read" in console("failures", "latest").out
