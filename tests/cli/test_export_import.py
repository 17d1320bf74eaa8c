"""Runs out of the program and results of others in, by command line: files, layouts, round trips, clear refusals."""

import csv
import io
import json
import zipfile

import pytest
from support.exports import EXPORT_FILES

from console.cli.exitcode import Exit


@pytest.fixture
def bfcl(console) -> str:
    """The name of a finished simulated BFCL run in the current folder."""
    line = ["run", "-m", "sim/hasty", "-s", "bfcl-starter", "--category", "simple_python,irrelevance"]
    ended = console(*line, "--json", "--quiet")
    assert ended.code == Exit.OK, ended.err
    return ended.data["run"]


@pytest.mark.parametrize("form", EXPORT_FILES)
def test_every_form_is_written_to_a_file_that_is_named(console, home, bfcl, form):
    refused = console("export", bfcl, "--format", form, "-o", "out/file")
    assert (refused.code, refused.err.splitlines()[0]) == (
        Exit.USAGE,
        "eval-console: out/file: is in a folder that does not exist",
    )
    (home / "out").mkdir()
    ended = console("export", bfcl, "--format", form, "-o", "out/file")
    assert ended.code == Exit.OK, ended.err
    assert ended.out == "out/file  (simulated)\n"
    assert b"simulated" in (home / "out" / "file").read_bytes() or form == "eval"


def test_text_goes_to_stdout_and_archives_to_a_file(console, home, bfcl):
    rows = list(csv.DictReader(io.StringIO(console("export", bfcl).out)))
    assert len(rows) == len(console("review", bfcl, "--all", "--json").lines)
    ended = console("export", bfcl, "--format", "eval", "--json")
    (name,) = ended.data["files"]
    assert ended.data["simulated"] is True
    assert zipfile.ZipFile(home / name).testzip() is None


def test_a_folder_is_filled_with_a_file_named_after_the_run(console, home, bfcl):
    (home / "reports").mkdir()
    assert console("export", bfcl, "--format", "html", "-o", "reports").code == Exit.OK
    assert [path.name for path in (home / "reports").iterdir()] == [f"{bfcl}.html"]


def test_notes_of_the_command_line_travel_with_exports(console, bfcl):
    case = console("review", bfcl, "--json").lines[0]["case"]
    assert console("dispute", f"{bfcl}#{case}", "two answers").code == 0
    ended = console("tag", f"{bfcl}#{case}", "data", "--comment", "=odd", "--json")
    assert (ended.data["tag"], ended.data["comment"]) == ("data", "=odd")
    row = next(it for it in csv.DictReader(io.StringIO(console("export", bfcl).out)) if it["case"] == case)
    assert (row["tag"], row["comment"], row["dispute"]) == ("data", "'=odd", "two answers")
    assert row["disputed_by"]
    assert console("tag", f"{bfcl}#{case}", "none", "--comment", "").out.startswith(f"{case}  dispute: two answers\n")
    assert console("dispute", bfcl, "--json").data["disputed"][0]["dispute"] == "two answers"
    assert console("dispute", f"{bfcl}#{case}", "--withdraw", "--json").data["case"] == case
    assert console("dispute", bfcl, "--json").data["disputed"] == []


def test_tag_refuses_what_it_does_not_know(console, bfcl):
    for line, words in (
        (("tag", bfcl, "model"), "a case is required"),
        (("tag", f"{bfcl}#simple_python_9999", "model"), "has no case"),
        (("tag", f"{bfcl}#simple_python_0", "modle"), "Did you mean model?"),
        (("tag", f"{bfcl}#simple_python_0", "model", "--rollout", 7), "no rollout 7"),
        (("tag", "nothing#x", "model"), "no run is named"),
    ):
        ended = console(*line)
        assert (ended.code, ended.out) == (Exit.USAGE, "")
        assert words in ended.err


def test_tags_are_those_of_the_review_screen():
    from console.store.notes import TAGS
    from console.tui.screens.review.case_pane import LETTERS

    assert set(LETTERS) == set(TAGS)


def test_bfcl_files_go_out_and_come_back_with_the_same_verdicts(console, home, bfcl):
    assert console("export", bfcl, "--format", "bfcl", "-o", "result").code == Exit.OK
    ended = console("import", "result", "-s", "bfcl-starter", "--json")
    assert ended.code == Exit.OK, ended.err
    imported = ended.data["imported"][0]
    assert imported["simulated"] is True
    there, back = (console("review", run, "--all", "--json").lines for run in (bfcl, imported["run"]))
    verdicts = [{it["case"]: (it["outcome"], it["verdict"].get("reason")) for it in lines} for lines in (there, back)]
    assert verdicts[0] == verdicts[1]
    assert console("compare", bfcl, imported["run"], "--json").data["table"]["lost"] == 0


def test_failed_inferences_of_bfcl_files_come_in_as_broken(console, home):
    folder = home / "result" / "peer" / "non_live"
    folder.mkdir(parents=True)
    lines = [
        {"id": "irrelevance_0", "result": "Error during inference: 502", "traceback": "…"},
        {"id": "irrelevance_1", "result": "none fits", "latency": 1.5, "input_token_count": 7, "output_token_count": 3},
    ]
    file = folder / "BFCL_v4_irrelevance_result.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = console("import", "result/peer", "-s", "bfcl-starter", "--mode", "prompt", "--json")
    imported = ended.data["imported"][0]
    tally = console("show", imported["run"], "--json").data["summary"]["tally"]
    assert (tally["broken"], tally["passed"], tally["input_tokens"]) == (1, 1, 7)
    assert imported["model"] == "peer"
    broken = console("show", f"{imported['run']}#irrelevance_0", "--json").data["finished"]["verdict"]
    assert (broken["reason"], broken["official"]) == ("server", "passed")


def test_aidan_results_go_out_and_come_back(console, finished):
    folder = console("export", finished, "--format", "verifiers", "-o", "outputs").out.split("  ")[0]
    back = console("import", folder, "--json")
    assert back.code == Exit.OK, back.err
    found = console("compare", finished, back.data["imported"][0]["run"], "--json").data
    assert found["compared_by"] == "aidanbench_score"
    assert found["table"]["difference"]["value"] == 0


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nothing", None, "does not exist"),
        ("empty", "", "no recognized results"),
        ("result/qwq-32b/live/BFCL_v4_live_simple_result.json", "{oops\n", "not a JSON object"),
        (
            "result/qwq-32b/live/BFCL_v4_live_simple_result.json",
            '{"id": "live_simple_x", "result": "f"}\n',
            "no entry",
        ),
        ("result/qwq-32b/live/BFCL_v4_live_simple_result.json", "", "has no results"),
    ],
)
def test_import_says_what_is_wrong_and_makes_no_run(console, home, name, text, words):
    path = home / name
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ended = console("import", name, "-s", "bfcl-starter")
    assert ended.code == Exit.USAGE
    assert words in ended.err
    assert not (home / "runs").exists() or not list((home / "runs").iterdir())


def test_runs_go_out_as_a_site_which_may_be_written_again(console, home, finished, bfcl):
    for _ in range(2):
        ended = console("export", bfcl, finished, "--format", "site", "-o", "pages")
        assert (ended.code, ended.err) == (Exit.OK, "")
        assert ended.out == "pages/index.html  (simulated)\n"
    assert "without a case in common" in (home / "pages" / "index.html").read_text(encoding="utf-8")
    assert console("export", bfcl, "--format", "site", "--json").data["files"] == ["site"]
    assert "Expected and actual" in "".join(
        path.read_text(encoding="utf-8") for path in (home / "site" / "cases").iterdir()
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--format", "csv"), "csv is for one run"),
        (("--format", "site", "-o", "taken"), "is not empty"),
        (("--format", "site", "-o", "no/such/place"), "folder"),
    ],
)
def test_a_site_goes_nowhere_else(console, home, finished, bfcl, line, words):
    (home / "taken").mkdir()
    (home / "taken" / "mine.txt").write_text("mine")
    ended = console("export", bfcl, finished, *line)
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert words in ended.err
    assert (home / "taken" / "mine.txt").read_text() == "mine"


def test_a_run_named_twice_is_refused(console, bfcl):
    ended = console("export", bfcl, bfcl, "--format", "site")
    assert (ended.code, ended.out) == (Exit.USAGE, "")
    assert "twice" in ended.err


def test_layouts_of_other_benchmarks_are_refused(console, finished, bfcl):
    for line in (("export", finished, "--format", "bfcl"), ("export", bfcl, "--format", "verifiers"),
                 ("export", bfcl, "--format", "cavebench"), ("export", bfcl, "--format", "docx"),
                 ("export", "nobody"), ("export", bfcl, "-o", "/dev/null/x")):  # fmt: skip
        ended = console(*line)
        assert (ended.code, ended.out) == (Exit.USAGE, ""), line
        assert ended.err


def test_a_written_file_is_opened_on_request(console, home, bfcl, monkeypatch):
    folder = home / "bin"
    folder.mkdir()
    for name in ("xdg-open", "open"):
        (folder / name).write_text(f"#!/bin/sh\nprintf %s \"$1\" > '{home}/opened'\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    ended = console("export", bfcl, "--format", "html", "-o", "report.html", "--open")
    assert ended.code == Exit.OK, ended.err
    assert (home / "opened").read_text() == str(home / "report.html")
    console("export", bfcl, "--format", "site", "-o", "pages", "--open")
    assert (home / "opened").read_text() == str(home / "pages" / "index.html")


def test_text_on_stdout_is_not_opened_and_a_missing_opener_is_a_warning(console, home, bfcl, monkeypatch):
    monkeypatch.setenv("PATH", str(home))
    refused = console("export", bfcl, "--open")
    assert refused.code == Exit.USAGE
    assert "only a file can be opened" in refused.err
    ended = console("export", bfcl, "-o", "rows.csv", "--open")
    assert ended.code == Exit.OK
    assert "cannot be opened" in ended.err
    assert (home / "rows.csv").exists()
