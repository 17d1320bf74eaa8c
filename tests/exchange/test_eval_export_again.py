"""An imported Inspect log that is exported again differs in nothing: its parsed logs are compared, shape by shape."""

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.exports import EXPORT_FILES, export_file
from support.inspect_logs import Json, eval_members, header, sample, write_eval, write_json_log, write_zstd_eval

from console.core.case import Key
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.imports.in_place import open_in_place
from console.store.notes import Note, Notes
from console.store.runs import RunFolder

PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEklEQVR4nGP4z8AARAwQCkgDAB3+BvyxREESAAAAAElFTkSuQmCC"
)
USAGE = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7, "input_tokens_cache_read": 3}


def with_tools() -> list[Json]:
    call = {"id": "c1", "function": "add", "arguments": {"x": 1}, "type": "function", "view": {"title": "Add"}}
    messages = [
        {"id": "m0", "role": "system", "content": "Be brief."},
        {"id": "m1", "role": "user", "content": "1+1?", "source": "input"},
        {"id": "m2", "role": "assistant", "content": "I add.", "tool_calls": [call], "model": "mock/model"},
        {"role": "tool", "tool_call_id": "c1", "function": "add", "content": "", "error": {"type": "timeout"}},
        {"role": "user", "content": "Go on."},
    ]
    tool = {"event": "tool", "id": "c1", "function": "add", "arguments": {"x": 1}, "error": {"type": "timeout"}}
    return [sample("tools", "I", messages=messages, events=[tool, {"event": "info", "data": [1, None]}])]


def with_choices() -> list[Json]:
    return [sample("q", choices=["Paris", "Rome"], target=["A", "B"], metadata={"kind": "geo", "deep": {"a": [1, {}]}})]


def with_images() -> list[Json]:
    asked = {"role": "user", "content": [{"type": "text", "text": "attachment://t"}, {"type": "image", "image": PNG}]}
    return [sample("see", input=[asked], messages=[asked], attachments={"t": "What is it?"})]


def with_limits_and_errors() -> list[Json]:
    error = {"message": "ValueError('boom')", "traceback": "…", "traceback_ansi": "\x1b[31m…"}
    retried = sample("late", "I", error_retries=[error, error], working_time=0.25, uuid="u1")
    cut = sample("long", "I", limit={"type": "token", "limit": 100, "reason": "too many"})
    return [retried, cut, sample("bad", scores={}, error=error), sample("none", scores={})]


def with_scores_of_all_kinds() -> list[Json]:
    scores = {
        "match": {"value": "P", "answer": "4", "explanation": "half", "metadata": {"why": ["x"]}, "history": []},
        "parts": {"value": {"style": 0.25, "length": 3}},
        "list": {"value": [1, 0, "C"]},
        "unscored": {"value": math.nan, "explanation": "no judge"},
        "words": {"value": "great"},
    }
    return [sample("a", scores=scores)]


def with_roles() -> list[Json]:
    output = {"model": "judge/m", "choices": [{"message": {"role": "assistant", "content": "C"}}], "usage": USAGE}
    graded = {"event": "model", "model": "judge/m", "role": "grader", "input": [], "tools": [], "output": output}
    whole = sample("a")
    usage = {"model_usage": {"mock/model": USAGE, "judge/m": USAGE}, "role_usage": {"grader": USAGE}}
    return [whole | usage | {"events": [*whole["events"], graded]}]


def with_epochs() -> list[Json]:
    return [
        sample(name, value, epoch=epoch)
        for name in ("a", "org/repo-1", 7)
        for epoch, value in enumerate(["C", "I", 0.25], 1)
    ]


def with_store_and_pools() -> list[Json]:
    whole = sample("a", store={"seen": [3], "nothing": None}, timelines=[{"name": "t"}])
    pool = [{"role": "user", "content": "What is a?"}]
    events = [{**whole["events"][0], "input": [], "input_refs": [[0, 1]]}, {"event": "span_begin", "id": "s"}]
    return [whole | {"events": events, "events_data": {"messages": pool, "calls": []}}]


def with_long_texts() -> list[Json]:
    asked = [{"role": "user", "content": "word " * 5000}]
    return [sample("a", input=asked, answer="é🙂\u2028" * 3000, metadata={"text": "x" * 5000, "list": [1] * 5000})]


def with_names_that_look_like_paths() -> list[Json]:
    return [sample("../../evil", "I"), sample("/etc/passwd"), sample("a\\b"), sample("x" * 3000), sample("‮b")]


SHAPES: dict[str, Callable[[], list[Json]]] = {
    "tools": with_tools,
    "choices": with_choices,
    "images": with_images,
    "limits": with_limits_and_errors,
    "scores": with_scores_of_all_kinds,
    "roles": with_roles,
    "epochs": with_epochs,
    "pools": with_store_and_pools,
    "long": with_long_texts,
    "paths": with_names_that_look_like_paths,
}


def head_of(samples: list[Json]) -> Json:
    """Return a head with what Inspect's viewer shows of an evaluation."""
    metrics = {
        "accuracy": {"name": "accuracy", "value": 0.5, "params": {}},
        "k1": {"name": "k1", "group": "grouped", "value": 0.5, "params": {"group_key": "kind"}},
    }
    scores = [{"name": "match", "scorer": "match", "reducer": "mean", "metrics": metrics, "metadata": {"x": 1}}]
    head = header(samples, results={"total_samples": len(samples), "completed_samples": 1, "scores": scores})
    head["eval"] |= {
        "task": "org/sums",
        "task_display_name": "Sums & more",
        "task_args": {"seed": 3},
        "tags": ["nightly"],
        "metadata": {"team": "x"},
        "model_roles": {"grader": {"model": "judge/m"}},
        "scorers": [{"name": "match", "metrics": [{"name": "pkg/accuracy", "options": {}}]}],
        "revision": {"type": "git", "commit": "abc"},
    }
    head["plan"] = {"name": "plan", "steps": [{"solver": "generate", "params": {"cache": False}}]}
    head["stats"] = {"started_at": "2026-01-02T03:04:05+00:00", "role_usage": {"grader": USAGE}}
    return head


def parsed(path: Path) -> tuple[Json, dict[str, Json], Any]:
    """Return head, samples and reductions of a log as plain text, in which NaN equals NaN."""
    if not zipfile.is_zipfile(path):
        head = json.loads(path.read_bytes())
        samples, reductions = head.pop("samples"), head.pop("reductions", None)
    else:
        from backports.zstd import zipfile as zstd_zipfile

        with zstd_zipfile.ZipFile(path) as archive:
            parts = {name: json.loads(archive.read(name)) for name in archive.namelist()}
        head, reductions = parts["header.json"], parts.get("reductions.json")
        samples = [part for name, part in parts.items() if name.startswith("samples/")]
    by_name = {
        json.dumps([item["id"], item["epoch"]]): json.loads(json.dumps(item), parse_constant=str) for item in samples
    }
    assert len(by_name) == len(samples)
    return head, by_name, reductions


def exported_again(path: Path, *notes: Note) -> Path:
    """Import a log, delete it, and export the run."""
    (item,) = find_items(path)
    (report,) = item.form.load(path, ImportSettings(path.parent / "runs"))
    run = RunFolder(path.parent / "runs" / report.run)
    path.unlink()
    Notes(run.path).add_all(notes)
    out = path.with_name("again.eval")
    export_file(run, EXPORT_FILES["eval"], out, None)
    return out


@pytest.mark.parametrize("form", ["deflated", "zstd", "json"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_imported_is_exported_as_it_was(tmp_path: Path, shape: str, form: str):
    samples = SHAPES[shape]()
    head = head_of(samples)
    path = tmp_path / ("log.json" if form == "json" else "log.eval")
    if form == "json":
        head["reductions"] = [{"scorer": "match", "reducer": "mean", "samples": [{"sample_id": 1, "value": 0.5}]}]
        write_json_log(path, samples, head)
    else:
        members = eval_members(samples, head) | {"reductions.json": b'[{"scorer": "match"}]'}
        (write_eval if form == "deflated" else write_zstd_eval)(path, members)
    before = parsed(path)
    assert parsed(exported_again(path)) == before


def test_the_summaries_of_a_json_log_are_made_as_short_as_those_of_inspect(tmp_path: Path):
    samples = [*with_limits_and_errors(), *with_images(), *with_long_texts()]
    out = exported_again(write_json_log(tmp_path / "log.json", samples))
    with zipfile.ZipFile(out) as archive:
        text = archive.read("summaries.json").decode()
    summaries = {summary["id"]: summary for summary in json.loads(text)}
    assert list(summaries) == [item["id"] for item in samples]
    assert summaries["bad"]["error"] == "ValueError('boom')"
    assert (summaries["long"]["limit"], summaries["late"]["retries"]) == ("token", 2)
    assert summaries["see"]["input"][0]["content"][1] == {"type": "text", "text": "(Image)"}
    assert len(text) < 20_000

    odd = {"id": "odd", "epoch": "/../../evil"}
    samples = with_names_that_look_like_paths()
    out = exported_again(write_json_log(tmp_path / "log.json", [*samples, odd], header(samples)))
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
    assert len(names) == len(samples) + 1 + len({"start", "summaries", "header"})
    assert not [name for name in names if ".." in name or name.startswith("/") or "\\" in name]
    assert all(name.isprintable() for name in names)


def test_what_readers_wrote_is_added_to_the_metadata_of_their_samples_only(tmp_path: Path):
    samples = with_epochs()
    path = write_eval(tmp_path / "log.eval", eval_members(samples))
    head, before, _ = parsed(path)
    again, after, _ = parsed(exported_again(path, Note(Key("org/repo-1", 1), "comment", "odd")))
    changed = [name for name in before if before[name] != after[name]]
    assert (again, changed) == (head, ['["org/repo-1", 2]'])
    assert after[changed[0]] == before[changed[0]] | {"metadata": {"eval_console": {"comment": "odd"}}}


def test_of_a_log_that_was_cut_off_the_complete_samples_are_exported(tmp_path: Path):
    samples = [sample(f"s{number}", answer="4" * 50) for number in range(20)]
    path = write_zstd_eval(tmp_path / "log.eval", eval_members(samples))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(exported_again(path)) as archive:
        kept = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert "_journal/start.json" in kept
    assert 5 < len(kept) < 20
    assert kept["samples/s0_epoch_1.json"] == samples[0]


def test_a_log_shown_in_place_is_exported_as_it_is(tmp_path: Path):
    path = write_eval(tmp_path / "log.eval", eval_members(with_tools()))
    export_file(open_in_place(path), EXPORT_FILES["eval"], tmp_path / "again.eval", None)
    assert (tmp_path / "again.eval").read_bytes() == path.read_bytes()


def test_a_run_imported_before_logs_were_kept_is_still_exported(tmp_path: Path):
    path = write_eval(tmp_path / "log.eval", eval_members([sample("a"), sample("b", "I")]))
    (item,) = find_items(path)
    (report,) = item.form.load(path, ImportSettings(tmp_path / "runs"))
    run = RunFolder(tmp_path / "runs" / report.run)
    assert run.kept_log_path.stat().st_mode & 0o777 == 0o600
    run.kept_log_path.unlink()
    export_file(run, EXPORT_FILES["eval"], tmp_path / "again.eval", None)
    _, samples, _ = parsed(tmp_path / "again.eval")
    assert [item["scores"]["match"]["value"] for item in samples.values()] == [1.0, 0.0]


def test_a_log_that_changes_while_it_is_imported_is_not_kept(tmp_path: Path):
    path = write_json_log(tmp_path / "log.json", [sample("a"), sample("b")])
    (item,) = find_items(path)

    def change(done: int, planned: int | None) -> None:
        path.write_bytes(path.read_bytes() + b" " * done)

    (report,) = item.form.load(path, ImportSettings(tmp_path / "runs", progress=lambda path: change))
    assert not RunFolder(tmp_path / "runs" / report.run).kept_log_path.exists()
