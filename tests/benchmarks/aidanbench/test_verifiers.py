"""The verifiers layout: written from a run, read back to the same numbers; foreign files as they really look."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.benchmarks.aidanbench.files.importing import import_results
from console.benchmarks.aidanbench.files.results import export_run, read_results
from console.benchmarks.aidanbench.options import read_options
from console.benchmarks.aidanbench.rules.score import score_loop
from console.core.case import Case, Key, Setting
from console.core.chat import Reply
from console.core.fault import UsageError
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.store.journal import JournalReader, JournalWriter
from console.store.runs import RunFolder, create_run

TURNS: list[dict[str, Any]] = [
    {"answer": "red", "reply": "<answer>red</answer>", "coherence": 80.0, "novelty": 1.0, "accepted": True},
    {
        "answer": "blue",
        "reply": "<answer>blue</answer> \ud83d\ude00 \u001b[2J",
        "coherence": 60.0,
        "novelty": 0.25,
        "accepted": True,
        "nearest": 0,
        "similarity": 0.75,
    },
    {
        "answer": "red!",
        "reply": "red!",
        "coherence": 75.0,
        "novelty": 0.01,
        "accepted": False,
        "reason": "low_embedding_novelty",
        "nearest": 0,
        "similarity": 0.99,
    },
]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "runs", {"thresholds": {"coherence_score": 20}})


def write_run(runs: Path, changes: dict[str, Any]) -> RunFolder:
    options = read_options(changes)
    settled = {**options.values, "thresholds": options.thresholds._asdict()}
    manifest = Manifest(
        id="run",
        at=1_700_000_000.0,
        suite="aidan-starter",
        model=ModelFacts(name="m", model_id="org/model", params={"temperature": 0.7}),
        setting=Setting(options=settled),
        rollouts=2,
        cases=4,
    )
    folder = create_run(runs, manifest)
    journal = JournalWriter(folder.journal_path)
    journal.append(Opened(at=1.0, pid=1))
    for case_id in ("a-1", "b-1"):
        for rollout in (1, 0):
            key = Key(case_id, rollout)
            case = Case(case_id, "a", {"question": f"Why {case_id}?"}, title=f"Why {case_id}?")
            journal.append(Started(at=1.0, key=key, case=case))
            play(journal, key)
            verdict = score_loop(TURNS, options)
            if key == Key("b-1", 1):
                verdict = Verdict(Outcome.BROKEN, reason="server")
            journal.append(Finished(at=2.0, key=key, verdict=verdict, output=TURNS))
    journal.close()
    return folder


def play(journal: JournalWriter, key: Key) -> None:
    """Journal a growing chat of three turns."""
    for turn in range(3):
        new = [{"role": "user", "content": f"ask {turn}"}]
        if turn:
            new.insert(0, {"role": "assistant", "content": TURNS[turn - 1]["reply"]})
        journal.append(
            Asked(
                at=1.0,
                key=key,
                n=3 * turn + 1,
                digest="d",
                reply=Reply(content=TURNS[turn]["reply"]),
                turn=turn,
                prefix=max(0, 2 * turn - 1),
                messages=new,
            )
        )
        journal.append(
            Asked(at=1.0, key=key, n=3 * turn + 2, digest="j", reply=Reply(content="80"), role="judge", turn=turn)
        )


def test_export_has_the_layout_and_names_of_the_tools(run: RunFolder, tmp_path: Path) -> None:
    (folder,) = export_run(run, tmp_path / "out")
    assert folder.parent == tmp_path / "out" / "aidanbench--org--model"
    assert len(folder.name) == 8
    metadata, rows = read_results(folder)
    assert [(row["id"], row["case"], row["rollout"]) for row in rows] == [(0, "a-1", 0), (0, "a-1", 1), (1, "b-1", 0)]
    assert rows[0]["reward"] == rows[0]["aidanbench_score"] == 2
    assert rows[0]["format_reward_func"] == pytest.approx((1.0 + 0.8 + 0.2) / 3)
    assert rows[0]["avg_coherence"] == 70
    assert rows[0]["info"] == {"question": "Why a-1?"}
    assert rows[0]["prompt"] == [{"role": "user", "content": "ask 0"}]
    assert [message["role"] for message in rows[0]["completion"]] == ["assistant", "user"] * 2 + ["assistant"]
    assert rows[0]["completion"][-1]["content"] == "red!"
    assert rows[0]["aidanbench"]["termination_reason"] == "low_embedding_novelty"
    assert (metadata["env"], metadata["model"], metadata["num_examples"]) == ("aidanbench", "org/model", 2)
    assert (metadata["avg_reward"], metadata["avg_sum_embedding_novelty"]) == (2, 1.25)
    assert metadata["left_out"] == [{"case": "b-1", "rollout": 1, "outcome": "broken", "reason": "server"}]


def test_the_score_stays_the_count_whatever_the_reward(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", {"reward_mode": "novelty_sum"})
    row = read_results(export_run(run, tmp_path / "out")[0])[1][0]
    assert (row["reward"], row["aidanbench_score"], row["sum_embedding_novelty"]) == (1.25, 2.0, 1.25)


def test_results_are_found_below_the_folder_that_was_exported_to(run: RunFolder, tmp_path: Path) -> None:
    (folder,) = export_run(run, tmp_path / "out")
    assert read_results(tmp_path / "out") == read_results(folder)
    (other,) = export_run(run, tmp_path / "out")
    with pytest.raises(UsageError, match="contains 2 results") as caught:
        read_results(tmp_path / "out")
    assert str(max(folder, other)) in caught.value.hint


def test_what_was_exported_comes_back_the_same(run: RunFolder, tmp_path: Path) -> None:
    (folder,) = export_run(run, tmp_path / "out")
    back = import_results(folder, tmp_path / "imported")
    manifest = back.manifest()
    assert (manifest.suite, manifest.model.model_id, manifest.rollouts) == ("aidan-starter", "org/model", 2)
    assert manifest.at == run.manifest().at
    assert manifest.setting.options == run.manifest().setting.options
    assert back.summary().state == "completed"

    def ends(of: RunFolder) -> dict[Key, Any]:
        found = (record for record in JournalReader(of.journal_path).read_new() if isinstance(record, Finished))
        return {record.key: (record.verdict, record.output) for record in found if record.verdict.outcome.is_graded}

    assert ends(back) == ends(run)
    (again,) = export_run(back, tmp_path / "again")
    assert read_results(again)[1] == read_results(folder)[1]


def test_files_of_the_tools_hold_averages_only(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    common = {"task": "aidanbench", "format_reward_func": 1.0, "avg_coherence": 80.0, "avg_embedding_novelty": 0.6}
    rows = [
        {"id": 0, "reward": 3.0, "info": {"question": "A?"}, "prompt": chat("A"), "completion": []} | common,
        {"id": 0, "reward": 0.0, "info": {"question": "B?"}, "prompt": chat("B"), "completion": []} | common,
        {"id": 1, "reward": 5.0, "info": {"question": "A?"}, "prompt": chat("A"), "completion": chat("B")} | common,
        {"id": 1, "reward": 2.0, "info": {"question": "B?"}, "prompt": "B", "error": "ModelError", "aidanbench": {}},
    ]
    (folder / "results.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (folder / "metadata.json").write_text(json.dumps({"env_id": "aidanbench", "model": "x/y", "date": "no"}))
    run = import_results(folder / "results.jsonl", tmp_path / "runs")
    records = JournalReader(run.journal_path).read_new()
    ended = {record.key: record.verdict for record in records if isinstance(record, Finished)}
    assert {key: (verdict.outcome, verdict.scores.get("reward")) for key, verdict in ended.items()} == {
        Key("q01", 0): (Outcome.PASSED, 3.0),
        Key("q02", 0): (Outcome.FAILED, 0.0),
        Key("q01", 1): (Outcome.PASSED, 5.0),
        Key("q02", 1): (Outcome.BROKEN, None),
    }
    assert run.manifest().rollouts == 2


def chat(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "<answer>x</answer>"}]


@pytest.mark.parametrize(
    ("results", "metadata", "message"),
    [
        (None, "{}", "cannot be read"),
        ("", "{}", "no result"),
        ('{"reward": 1}\nnot json', "{}", r"results\.jsonl:2"),
        ("[1]", "{}", "must be an object"),
        ('{"reward": "3"}', "{}", "must be a finite number"),
        ('{"reward": 1}', "[", "damaged"),
        ('{"reward": 1}', '{"env": "gsm8k"}', "not of aidanbench"),
        ('{"reward": 1}', '{"env": "aidanbench", "eval_console": {"options": {"x": 1}}}', "unknown option"),
    ],
)
def test_damaged_files_are_refused_with_a_place(
    tmp_path: Path, results: str | None, metadata: str, message: str
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "metadata.json").write_text(metadata)
    if results is not None:
        (folder / "results.jsonl").write_text(results)
    with pytest.raises(UsageError, match=message):
        import_results(folder, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_run_without_graded_loops_is_not_exported(tmp_path: Path) -> None:
    manifest = Manifest(id="empty", at=1.0, suite="s", model=ModelFacts(name=".."), setting=Setting())
    with pytest.raises(UsageError, match="no graded"):
        export_run(create_run(tmp_path / "runs", manifest), tmp_path / "out")
    assert not (tmp_path / "out").exists()
