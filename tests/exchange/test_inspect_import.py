"""Logs of inspect_ai become runs: totals, conversations, scores; and whatever is wrong with a log is said, not lost."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from support.inspect_logs import (
    Json,
    eval_members,
    header,
    sample,
    write_eval,
    write_json_log,
    write_zstd_eval,
)

from console.__main__ import main
from console.config.paths import WorkspacePaths
from console.core.case import Key
from console.core.fault import UsageError
from console.core.outcome import Outcome
from console.core.record import Asked
from console.engine.plan import reopen
from console.exchange.document_reader import read_document
from console.exchange.imports import importing, inspect_log, json_stream, zip_members
from console.exchange.imports.formats import ImportSettings, find_items
from console.exchange.imports.importing import ImportReport, report_object
from console.exchange.run_reader import RunReader
from console.insight.conversation import Conversation
from console.insight.passage import PassageKind
from console.store.journal import JournalReader
from console.store.runs import RunFolder
from console.tui.render.progress import title_words

PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEklEQVR4nGP4z8AARAwQCkgDAB3+BvyxREESAAAAAElFTkSuQmCC"
)


def imported(path: Path) -> tuple[RunFolder, ImportReport]:
    """Import the only evaluation of a file."""
    (item,) = find_items(path)
    (report,) = item.form.load(path, ImportSettings(path.parent / "runs"))
    return RunFolder(path.parent / "runs" / report.run), report


def conversation(folder: RunFolder, case: str, rollout: int = 0) -> Conversation:
    reader = RunReader(folder)
    return reader.conversation(reader.side.rollouts[case, rollout].key)


@pytest.fixture(params=["deflated", "zstd", "json"])
def log_of(request: pytest.FixtureRequest, tmp_path: Path):
    """Write some samples in each of the forms."""

    def write(samples: list[Json], head: Json | None = None) -> Path:
        if request.param == "json":
            return write_json_log(tmp_path / "log.json", samples, head)
        write_zip = write_eval if request.param == "deflated" else write_zstd_eval
        return write_zip(tmp_path / "log.eval", eval_members(samples, head))

    return write


def test_a_log_becomes_a_run_that_says_where_it_is_from(log_of: Any):
    folder, report = imported(log_of([sample("a", "C"), sample("b", "I"), sample("c", "I")]))
    manifest, summary = folder.manifest(), folder.summary()
    assert (manifest.suite, manifest.format, manifest.model.provider) == ("inspect_ai/sums", "recorded", "imported")
    assert manifest.versions == {"imported": "inspect_ai 0.3.285"}
    assert "imported" in title_words(manifest, 80).plain
    assert (summary.tally.passed, summary.tally.failed, summary.state) == (1, 2, "completed")
    assert summary.scores == {"match": pytest.approx(1 / 3)}
    assert (report.samples, report.missing, report.outcomes) == (3, 0, {"passed": 1, "failed": 2})


def test_what_was_recorded_elsewhere_is_not_played(tmp_path: Path):
    path = write_json_log(tmp_path / "log.json", [sample("a")], header([sample("a")], status="cancelled"))
    folder, _ = imported(path)
    assert folder.summary().state == "stopped"
    with pytest.raises(UsageError, match="was recorded by another tool"):
        reopen(folder, WorkspacePaths())


def test_totals_of_the_log_stand_beside_ours(log_of: Any):
    samples = [sample("a", "C"), sample("b", "I")]
    scores = [{"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}]
    head = header(samples, results={"total_samples": 3, "scores": scores})
    _, report = imported(log_of(samples, head))
    (total,) = report.totals
    assert (total.reported, total.ours, total.agrees, report.missing) == (0.5, 0.5, True, 1)


def test_epochs_are_rollouts_and_tries_that_failed_are_attempts(log_of: Any):
    samples = [sample("a", "C"), sample("a", "I", epoch=2, error_retries=[{"message": "TimeoutError('late')"}])]
    folder, _ = imported(log_of(samples))
    rollouts = RunReader(folder).side.rollouts
    assert [rollouts["a", number].outcome for number in (0, 1)] == [Outcome.PASSED, Outcome.FAILED]
    assert rollouts["a", 1].attempts == (Key("a", 1, 1), Key("a", 1, 2))


def test_a_number_that_is_no_verdict_stands_for_the_run(log_of: Any):
    samples = [sample("a", 0.25), sample("b", 1)]
    folder, _ = imported(log_of(samples))
    assert folder.summary().headline == "match"
    assert folder.summary().scores == {"match": 0.625}


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        *(("C", "passed"), ("I", "failed"), (True, "passed"), (0.0, "failed"), ("1.0", "passed"), ("no", "failed")),
        *((80, "passed"), (-0.5, "failed"), (0.7 + 0.2 + 0.1, "passed"), ("N", "failed")),
    ],
)
def test_values_that_say_whether_it_passed(tmp_path: Path, value: Any, outcome: str):
    _, report = imported(write_json_log(tmp_path / "log.json", [sample("a", value)]))
    assert report.outcomes == {outcome: 1}
    assert report.partial == {}


@pytest.mark.parametrize(("value", "words"), [("P", "match is 0.5"), (0.25, "match is 0.25"), ("0.999", "0.999")])
def test_a_partial_value_fails_and_says_so(log_of: Any, capsys: pytest.CaptureFixture[str], value: Any, words: str):
    path = log_of([sample("a", value), sample("b", "C")])
    folder, report = imported(path)
    assert report.outcomes == {"passed": 1, "failed": 1}
    assert report.partial == {"match": 1}
    rollout = RunReader(folder).side.rollouts["a", 0]
    assert (rollout.reason, rollout.subject) == ("partial score", "match")
    assert words in rollout.message
    main(["import", str(path), "--runs", str(path.parent / "again")])
    assert "1 rollout has a match between 0 and 1: counted as failed" in " ".join(capsys.readouterr().out.split())


def test_ids_with_slashes_are_found_in_an_archive(tmp_path: Path):
    members = eval_members([sample("org/repo-1"), sample("org/repo-2", "I")])
    _, report = imported(write_eval(tmp_path / "log.eval", members))
    assert (report.problems, report.outcomes) == ([], {"passed": 1, "failed": 1})
    del members["summaries.json"]
    _, report = imported(write_eval(tmp_path / "bare.eval", members))
    assert (report.problems, report.outcomes) == ([], {"passed": 1, "failed": 1})


# Totals ---------------------------------------------------------------------------------------------------------------

GROUPED = {"metric": {"type": "metric", "name": "accuracy", "params": {}}, "group_key": "kind"}
BY_MEAN = {**GROUPED, "all": "groups", "all_label": "overall", "name_template": "g_{group_name}"}


def totals_of(reducer: str | None, **numbers: float) -> Json:
    """Return one scorer's totals as Inspect writes them: plain ones, and those of two groupings."""
    metrics: dict[str, Json] = {}
    for name, value in numbers.items():
        of_groups = {"k1": GROUPED, "k2": GROUPED, "all": GROUPED, "g_k1": BY_MEAN, "overall": BY_MEAN}.get(name)
        group = {"group": "grouped", "params": of_groups} if of_groups else {"params": {}}
        metrics[name] = {"name": name, "value": value, **group}
    return {"name": "match", "scorer": "match", "reducer": reducer, "metrics": metrics}


def test_totals_of_reducers_and_groups_are_computed_as_inspect_does(log_of: Any):
    """The numbers are those of Inspect 0.3.285 for these values."""
    values = {"a": ["C", "I", "P"], "b": ["C", "C", "I"], "c": ["I", "I", "C"]}
    samples = [
        sample(name, value, epoch=epoch, metadata={"kind": "k1" if name == "a" else "k2"})
        for name, of_epochs in values.items()
        for epoch, value in enumerate(of_epochs, 1)
    ]
    scores = [
        totals_of("mean", accuracy=0.5, stderr=0.0962250448649376, k1=0.5, k2=0.5, all=0.5, g_k1=0.5, overall=0.5),
        totals_of("at_least_2", accuracy=1 / 3, std=0.5773502691896258, k1=0, k2=0.5, all=1 / 3, overall=0.25),
        totals_of("pass_at_2", accuracy=7 / 9, var=0.037037037037037035, k1=2 / 3, k2=5 / 6, overall=0.75),
        totals_of("pass_k_2", accuracy=1 / 9, k1=0),
        totals_of("max", accuracy=1),
        totals_of("median", accuracy=0.5, k1=0.5),
        totals_of("mode", accuracy=2 / 3),
    ]
    head = header(samples, results={"total_samples": 9, "scores": scores})
    _, report = imported(log_of(samples, head))
    assert len(report.totals) == sum(len(scorer["metrics"]) for scorer in scores)
    assert [total for total in report.totals if not total.agrees] == []


def test_totals_are_the_same_after_a_stopped_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from console.store import staged_run

    monkeypatch.setattr(staged_run, "_FLUSHED_BYTES", 1)
    samples = [
        sample("a", value, epoch=epoch, metadata={"kind": "k1"}) for epoch, value in enumerate(["C", "I", "C"], 1)
    ]
    scores = [totals_of("at_least_2", accuracy=1, k1=1)]
    path = write_json_log(
        tmp_path / "log.json", samples, header(samples, results={"total_samples": 3, "scores": scores})
    )
    (item,) = find_items(path)

    def stop_at_two(done: int, planned: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(item.form.load(path, ImportSettings(tmp_path / "runs", progress=lambda path: stop_at_two)))
    _, report = imported(path)
    assert [total.agrees for total in report.totals] == [True, True]


def test_a_total_of_an_unknown_function_reads_not_computed(log_of: Any, capsys: pytest.CaptureFixture[str]):
    samples = [sample("a", "C"), sample("b", "I")]
    scores = [totals_of(None, accuracy=0.75, elegance=0.25), totals_of("weighted", accuracy=0.5)]
    scores[0]["metrics"]["stderr"] = {"name": "stderr", "value": 0.1, "params": {"cluster": "kind"}}
    path = log_of(samples, header(samples, results={"total_samples": 2, "scores": scores}))
    _, report = imported(path)
    assert [(total.metric, total.ours, total.agrees) for total in report.totals] == [
        ("accuracy", 0.5, False),
        ("elegance", None, None),
        ("stderr", None, None),
        ("accuracy", None, None),
    ]
    assert [total["agrees"] for total in report_object(report)["totals"]] == [False, None, None, None]
    main(["import", str(path), "--runs", str(path.parent / "again")])
    lines = [line for line in capsys.readouterr().out.splitlines() if "match" in line]
    assert "≠" in lines[0]
    assert all("not computed" in line and "≠" not in line for line in lines[1:])


@pytest.mark.parametrize("template", ["{group_name:>999999999}", "{group_name.__class__}", "{0}"])
def test_the_template_of_a_group_is_never_executed(tmp_path: Path, template: str):
    samples = [sample("a", "C", metadata={"kind": "k1"})]
    score = totals_of("mean", k1=1)
    score["metrics"]["k1"]["params"] = {**GROUPED, "name_template": template}
    head = header(samples, results={"total_samples": 1, "scores": [score]})
    _, report = imported(write_json_log(tmp_path / "log.json", samples, head))
    assert [total.ours for total in report.totals] == [None]


def test_every_scorer_keeps_its_name_and_members_of_a_score_theirs(log_of: Any):
    scores = {"match": {"value": "C"}, "length": {"value": 0.3}, "both": {"value": {"a": 1, "match": 0.5}}}
    folder, _ = imported(log_of([sample("a", scores=scores)]))
    assert folder.summary().scores == {"match": 1.0, "length": 0.3, "a": 1.0, "both.match": 0.5}


def test_an_error_is_broken_a_limit_a_reason_and_no_score_is_undecided(log_of: Any):
    samples = [
        sample("a", scores={}, error={"message": "ValueError('boom')", "traceback": "…"}),
        sample("b", "I", limit={"type": "message", "limit": 4}),
        sample("c", scores={}),
    ]
    folder, _ = imported(log_of(samples))
    rollouts = RunReader(folder).side.rollouts
    assert [rollouts[name, 0].reason for name in "abc"] == ["error in the log", "message limit", "no score in the log"]
    assert [rollouts[name, 0].outcome for name in "abc"] == [Outcome.BROKEN, Outcome.FAILED, Outcome.UNDECIDED]
    assert rollouts["a", 0].subject == "ValueError"


def with_tools() -> Json:
    """Return a sample with a call of a tool, pooled messages, attachments, an image and a model that judges."""
    call = {"id": "c1", "function": "add", "arguments": {"x": 1, "y": 1}, "type": "function"}
    asked = {"role": "user", "content": [{"type": "text", "text": "attachment://t"}, {"type": "image", "image": PNG}]}
    called = {"role": "assistant", "content": "I add.", "tool_calls": [call]}
    result = {"role": "tool", "content": "2", "tool_call_id": "c1", "function": "add"}
    final = {"role": "assistant", "content": "It is 2."}
    tools = [{"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}]

    def model(span: str, refs: list[list[int]], reply: Json, stop: str) -> Json:
        output = {"model": "m", "choices": [{"message": reply, "stop_reason": stop}], "usage": {"input_tokens": 3}}
        return {"event": "model", "span_id": span, "input": [], "input_refs": refs, "tools": tools, "output": output}

    return sample(
        "tools",
        "I",
        messages=[asked, called, result, final],
        events=[
            {"event": "span_begin", "id": "s", "type": "solver"},
            model("s", [[0, 1]], called, "tool_calls"),
            model("s", [[0, 3]], final, "max_tokens"),
            {"event": "span_begin", "id": "j", "type": "scorers"},
            model("j", [[3, 4]], {"role": "assistant", "content": "GRADE: I"}, "stop"),
            {"event": "info", "data": "kept"},
        ],
        events_data={"messages": [asked, called, result, {"role": "user", "content": "Is it so?"}], "calls": []},
        attachments={"t": "What is 1+1?"},
        store={"seen": 3},
    )


def test_a_conversation_is_shown_as_it_was_with_tools_images_and_the_judge(log_of: Any):
    folder, report = imported(log_of([with_tools()]))
    shown = conversation(folder, "tools")
    kinds = [(passage.kind, passage.role) for passage in shown.passages]
    texts = [passage.text for passage in shown.passages]
    assert kinds == [
        (PassageKind.USER, "model"),
        (PassageKind.ASSISTANT, "model"),
        (PassageKind.CALL, "model"),
        (PassageKind.RESULT, "model"),
        (PassageKind.ASSISTANT, "model"),
        (PassageKind.USER, "judge"),
        (PassageKind.ASSISTANT, "judge"),
        (PassageKind.VERDICT, "model"),
    ]
    assert texts[0] == "What is 1+1?\n[image 2×3 png]"
    assert shown.passages[2].arguments == (("x", "1"), ("y", "1"))
    assert shown.exchanges[0].tools[0]["function"]["name"] == "add"
    assert shown.finished is not None
    assert shown.finished.cut == "length"
    assert shown.source["store"] == {"seen": 3}
    assert [event["event"] for event in shown.source["events"]][-1] == "info"
    assert report.unplaced["store"] == 1
    assert PNG[30:] not in folder.journal_path.read_text()


def test_a_sample_that_is_stored_in_parts_is_put_together(tmp_path: Path):
    whole = with_tools()
    members = eval_members([whole])
    del members["samples/tools_epoch_1.json"]
    pool, events = whole["events_data"]["messages"], whole["events"]
    pool[0]["content"][0]["text"] = "attachment://0"
    parts = {
        "sample": {name: whole[name] for name in ("id", "epoch", "input", "target", "output", "scores", "store")}
        | {"message_refs": [[0, 3]]},
        "messages/0": pool[:3],
        "messages/3": pool[3:],
        "events/0": events[:2],
        "events/2": events[2:],
        "events/stats": {},
        "attachments/0": ["What is 1+1?"],
        "metadata": {"subject": "sums"},
    }
    members |= {f"samples/tools_epoch_1/{name}.json": json.dumps(part).encode() for name, part in parts.items()}
    folder, report = imported(write_zstd_eval(tmp_path / "log.eval", members))
    shown = conversation(folder, "tools")
    assert report.problems == []
    assert [passage.text for passage in shown.passages[:2]] == ["What is 1+1?\n[image 2×3 png]", "I add."]
    assert shown.case is not None
    assert shown.case.data["metadata"] == {"subject": "sums"}


def test_expected_stands_beside_actual(log_of: Any):
    document, why = read_document(imported(log_of([sample("a", "I", answer="5")]))[0], None)
    assert why == ""
    comparison = document.items[0].comparison
    assert comparison is not None
    assert (comparison.pairs[0].expected, comparison.pairs[0].actual) == ("4", "5")
    assert document.report is not None
    assert [metric.name for metric in document.report.metrics] == ["passed", "match"]


def test_logs_of_version_1_with_one_score_and_no_events(tmp_path: Path):
    old = sample("a")
    score = old.pop("scores")["match"]
    del old["events"]
    path = write_json_log(tmp_path / "log.json", [old | {"score": score}], header([old], version=1))
    folder, report = imported(path)
    assert report.outcomes == {"passed": 1}
    shown = conversation(folder, "a")
    assert [passage.text for passage in shown.passages[:2]] == ["What is a?", "4"]


# What is wrong with a log ---------------------------------------------------------------------------------------------


def test_another_version_is_named(log_of: Any):
    path = log_of([sample("a")], header([sample("a")], version=7))
    with pytest.raises(UsageError, match="is a log of version 7"):
        imported(path)
    assert not (path.parent / "runs").exists()


def test_doubled_samples_and_ids_that_only_look_different_are_all_kept(tmp_path: Path):
    folder, report = imported(write_json_log(tmp_path / "log.json", [sample("1"), sample(1, "I"), sample("1", "I")]))
    assert sorted(slot[0] for slot in RunReader(folder).side.rollouts) == ["1", "1~2", "1~3"]
    assert [problem.where for problem in report.problems] == ["1", "1"]


def test_a_log_that_was_cut_off_gives_what_is_whole(tmp_path: Path):
    samples = [sample(f"s{number}", answer="4" * 50) for number in range(20)]
    members = eval_members(samples)
    path = write_zstd_eval(tmp_path / "log.eval", members)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    _, report = imported(path)
    assert 5 < report.samples < 20
    assert report.missing == 20 - report.samples
    assert "truncated" in report.problems[0].why


def test_a_json_log_that_was_cut_off_gives_what_is_whole(tmp_path: Path):
    path = write_json_log(tmp_path / "log.json", [sample(f"s{number}") for number in range(10)])
    path.write_bytes(path.read_bytes()[:-300])
    _, report = imported(path)
    assert (report.samples, report.missing) == (9, 1)
    assert "truncated" in report.problems[0].why


def test_a_log_in_progress_is_read_from_its_journal(tmp_path: Path):
    members = eval_members([sample("a"), sample("b")])
    members["_journal/summaries/1.json"] = members.pop("summaries.json")
    del members["header.json"]
    folder, report = imported(write_eval(tmp_path / "log.eval", members))
    assert report.samples == 2
    assert folder.manifest().suite == "inspect_ai/sums"


def test_a_sample_that_is_missing_or_damaged_is_told_by_its_summary(tmp_path: Path):
    members = eval_members([sample("a"), sample("b", "I"), sample("c")])
    del members["samples/b_epoch_1.json"]
    members["samples/c_epoch_1.json"] = b"{not json"
    _, report = imported(write_eval(tmp_path / "log.eval", members))
    assert report.outcomes == {"passed": 2, "failed": 1}
    assert len(report.problems) == 2


def test_a_bomb_costs_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_members, "LARGEST_BYTES", 1 << 20)
    members = eval_members([sample("a"), sample("b")]) | {"samples/a_epoch_1.json": b" " * (2 << 20) + b"{}"}
    _, report = imported(write_eval(tmp_path / "log.eval", members))
    assert report.samples == 2
    assert "more than the limit of 1 MB" in report.problems[0].why


def test_a_member_that_holds_more_than_it_says_is_refused(tmp_path: Path):
    path = write_eval(tmp_path / "log.eval", eval_members([sample("a")]))
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("samples/a_epoch_1.json")
    place = data.rindex(entry.filename.encode()) - 46
    data[place + 24 : place + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    _, report = imported(path)
    assert "is larger than declared" in report.problems[0].why


def test_requests_that_name_the_same_messages_again_and_again_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(inspect_log, "_LARGEST_REQUESTS", 10 * 1_000_000)
    whole = sample("a")
    asked = {**whole["events"][0], "input": [], "input_refs": [[0, 10**12]]}
    pool = {"messages": [{"role": "user", "content": "x" * 10_000}] * 90, "calls": []}
    folder, _ = imported(
        write_eval(tmp_path / "log.eval", eval_members([whole | {"events": [asked] * 50, "events_data": pool}]))
    )
    requests = [record for record in JournalReader(folder.journal_path).read_new() if isinstance(record, Asked)]
    assert [record.prefix + len(record.messages) for record in requests] == [90] * 11 + [0] * 39


@pytest.mark.parametrize("place", [0, 0xFFFFFFF0])
def test_a_table_of_contents_that_lies_about_its_place_is_refused(tmp_path: Path, place: int):
    path = write_eval(tmp_path / "log.eval", eval_members([sample("a")]))
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\x05\x06")
    data[end + 16 : end + 20] = place.to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(UsageError, match="not where the table of contents says"):
        imported(path)


def test_members_that_lie_over_one_another_are_refused(tmp_path: Path):
    data = json.dumps({"x": "y" * 5000}).encode()
    path = write_eval(tmp_path / "log.eval", {"header.json": data, "samples/a_epoch_1.json": data}, method=0)
    whole = path.read_bytes()
    start = whole.index(b"PK\x01\x02")
    path.write_bytes(whole[:100] + whole[start:])
    with pytest.raises(UsageError):
        imported(path)


@pytest.mark.parametrize("name", ["../../../evil", "/etc/passwd", "a\x00b", "..", "x" * 5000, "‮evil"])
def test_names_of_samples_are_no_paths(tmp_path: Path, name: str):
    folder, _ = imported(write_json_log(tmp_path / "log.json", [sample(name)]))
    assert {entry.name for entry in tmp_path.iterdir()} == {"log.json", "runs"}
    assert next(iter(RunReader(folder).side.rollouts))[0] == name


def test_links_in_a_folder_are_not_followed(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    write_json_log(outside / "log.json", [sample("a")])
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "log.json").symlink_to(outside / "log.json")
    (inside / "folder").symlink_to(outside)
    with pytest.raises(UsageError, match="no recognized results"):
        find_items(inside)


def test_attachments_in_a_circle_end_and_cannot_swell_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from console.exchange.imports import inspect_log

    monkeypatch.setattr(inspect_log, "_LARGEST_RESOLVED", 10_000)
    attachments = {"a": "attachment://a", "big": "x" * 4000}
    store = {"circle": "attachment://a", "list": ["attachment://big"] * 1000}
    folder, _ = imported(write_json_log(tmp_path / "log.json", [sample("s", attachments=attachments, store=store)]))
    assert folder.journal_path.stat().st_size < 60_000
    assert conversation(folder, "s").source["store"]["circle"] == "attachment://a"


def test_a_stopped_import_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from console.store import staged_run

    monkeypatch.setattr(staged_run, "_FLUSHED_BYTES", 1)
    path = write_eval(tmp_path / "log.eval", eval_members([sample(f"s{number}") for number in range(6)]))
    (item,) = find_items(path)
    counted: list[int] = []

    def stop_at_three(done: int, planned: int | None) -> None:
        counted.append(done)
        if done == 3:
            raise KeyboardInterrupt

    runs = tmp_path / "runs"
    with pytest.raises(KeyboardInterrupt):
        list(item.form.load(path, ImportSettings(runs, progress=lambda path: stop_at_three)))
    assert [entry.name for entry in runs.iterdir()] == [".imports"]
    counted.clear()
    (report,) = item.form.load(path, ImportSettings(runs, progress=lambda path: stop_at_three))
    assert counted == [4, 5, 6]
    assert (report.samples, report.outcomes) == (6, {"passed": 6})
    assert [entry.name for entry in runs.iterdir()] == [report.run]


def test_large_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 7)
    texts = ['say "hi" \\', "[]{}", "é🙂", "x" * 40]
    path = write_json_log(tmp_path / "log.json", [sample(text) for text in texts])
    folder, _ = imported(path)
    assert [slot[0] for slot in RunReader(folder).side.rollouts] == texts


def test_a_sample_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_stream, "PIECE_BYTES", 1000)
    monkeypatch.setattr(json_stream, "LARGEST_BYTES", 5000)
    _, report = imported(
        write_json_log(tmp_path / "log.json", [sample("a"), sample("b", store={"x": "y" * 9000}), sample("c")])
    )
    assert report.samples == 2
    assert [(problem.where, problem.why) for problem in report.problems] == [("sample 2", "is too large")]


def test_a_zip_without_sizes_in_its_headers_is_read_from_its_beginning(tmp_path: Path):
    members = eval_members([sample("a")])
    parts: list[bytes] = []
    for name, data in members.items():
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(data) + packer.flush()
        head = (
            b"PK\x03\x04" + b"\x14\x00\x08\x00\x08\x00" + b"\x00" * 16 + len(name).to_bytes(2, "little") + b"\x00\x00"
        )
        sizes = zlib.crc32(data).to_bytes(4, "little") + len(packed).to_bytes(4, "little")
        parts.append(head + name.encode() + packed + b"PK\x07\x08" + sizes + len(data).to_bytes(4, "little"))
    path = tmp_path / "log.eval"
    path.write_bytes(b"".join(parts))
    assert imported(path)[1].samples == 1


def test_very_many_samples_of_one_id_are_all_kept_without_counting_them_again_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = 0

    class CountingSet(set[tuple[str, int]]):
        def __contains__(self, item: object) -> bool:
            nonlocal looked_up
            looked_up += 1
            return super().__contains__(item)

    monkeypatch.setattr(importing, "set", CountingSet, raising=False)
    folder, report = imported(write_json_log(tmp_path / "log.json", [sample("a") for _ in range(500)]))
    assert report.samples == 500
    assert {case for case, _ in RunReader(folder).side.rollouts} == {"a", *(f"a~{number}" for number in range(2, 501))}
    assert 500 <= looked_up <= 1500
