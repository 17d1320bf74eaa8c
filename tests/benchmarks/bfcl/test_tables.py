"""The official summary tables: aggregation, shown values, order, and folders that do not belong there."""

import json

import pytest

from console.benchmarks.bfcl.files.columns import load_columns
from console.benchmarks.bfcl.files.layout import score_path
from console.benchmarks.bfcl.files.leaderboard_tables import Spending, write_tables
from console.benchmarks.bfcl.leaderboard import BFCL_LEADERBOARD
from console.benchmarks.bfcl.rules.aggregate import latency_figures
from console.benchmarks.bfcl.rules.categories import ALL, SCORING
from console.core.case import Key, Setting
from console.core.chat import Reply
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Finished
from console.core.run import Manifest, ModelFacts
from console.exchange.leaderboard_measures import measures_of
from console.store.journal import JournalWriter
from console.store.runs import create_run

ENTRIES = dict.fromkeys(ALL, 10) | {"live_simple": 258, "live_multiple": 1053, "live_parallel": 16}


def write_header(root, model, category, accuracy, total):
    path = score_path(root, model, category)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {"accuracy": accuracy, "correct_count": round(accuracy * total), "total_count": total}
    path.write_text(json.dumps(header) + "\n")


def table(root, name):
    text = (root / f"data_{name}.csv").read_text()
    assert not text.endswith("\n")
    rows = [line.split(",") for line in text.split("\n")]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def write(root, spending=None, prices=None):
    return write_tables(root, load_columns(None), ENTRIES, spending or {}, prices or {})


def test_a_complete_model_is_aggregated_by_the_official_formula(tmp_path):
    for category in SCORING:
        write_header(tmp_path, "m", category, 0.5, 10)
    for category, accuracy in {
        "simple_java": 0.2,
        "live_simple": 1.0,
        "memory_kv": 0.0,
        "live_irrelevance": 1.0,
    }.items():
        write_header(tmp_path, "m", category, accuracy, 30 if category == "live_simple" else 10)
    standings, unread_files = write(tmp_path)
    row = table(tmp_path, "overall")[0]
    simple = (0.5 + 0.2 + 0.5) / 3
    non_live = (simple + 0.5 * 3) / 4
    live = (30 * 1.0 + 3 * 10 * 0.5) / 60
    agentic = (0.5 + (0.0 + 0.5 + 0.5) / 3) / 2
    overall = (10 * non_live + 10 * live + 10 * 0.75 + 30 * 0.5 + 40 * agentic) / 100
    assert standings["m"].overall.value == pytest.approx(overall)
    assert row["overall"] == f"{overall:.2%}"
    assert row["non_live"] == f"{non_live:.2%}"
    assert row["live"] == "75.00%"
    assert row["memory"] == "33.33%"
    assert unread_files == []


def test_missing_categories_count_as_nothing_and_show_so(tmp_path):
    write_header(tmp_path, "m", "live_simple", 0.25, 258)
    write(tmp_path)
    row = table(tmp_path, "live")[0]
    weight = 258 / (258 + 1053 + 16 + 10)
    assert row["overall"] == f"{0.25 * weight:.2%}"
    assert row["ast"] == "N/A"
    assert row["live_simple"] == "25.00%"
    assert row["live_relevance"] == "N/A"
    assert table(tmp_path, "multi_turn")[0]["overall"] == "0.00%"


def test_the_better_model_stands_first(tmp_path):
    for model, accuracy in (("a", 0.1), ("b", 0.9), ("c", 0.5)):
        write_header(tmp_path, model, "multiple", accuracy, 200)
    write(tmp_path)
    assert [(row["rank"], row["model"]) for row in table(tmp_path, "overall")] == [("1", "b"), ("2", "c"), ("3", "a")]


def test_cost_and_latency_are_of_the_results_evaluated_now(tmp_path):
    for model in ("a", "b", "c"):
        write_header(tmp_path, model, "multiple", 0.5, 200)
    spending = {name: Spending() for name in "ab"}
    lines = [{"input_token_count": 1_000_000, "output_token_count": 500_000, "latency": second} for second in (1, 2, 9)]
    spending["a"].add([*lines, {"latency": 0}, {"latency": [[3.0], [None, True]]}])
    spending["b"].add(lines[:1])
    write(tmp_path, spending, {"a": (1.0, 2.0)})
    rows = {row["model"]: row for row in table(tmp_path, "overall")}
    assert rows["a"]["cost_usd"] == "6.0"
    assert rows["a"]["latency_mean_s"] == "3.75"
    assert rows["a"]["latency_stdev_s"] == "3.59"
    assert rows["a"]["latency_p95_s"] == "8.1"
    assert (rows["b"]["cost_usd"], rows["b"]["latency_stdev_s"]) == ("N/A", "0.0")
    assert rows["c"]["latency_mean_s"] == "N/A"


def test_foreign_folders_and_files_are_passed_over_and_named(tmp_path):
    write_header(tmp_path, "m", "multiple", 0.5, 200)
    (tmp_path / "notes").mkdir()
    write_header(tmp_path, "old", "simple", 0.5, 400)
    (tmp_path / "m" / "non_live" / "BFCL_v4_parallel_score.json").write_text('{"accuracy": "much"}\n')
    standings, unread_files = write(tmp_path)
    assert list(standings) == ["m"]
    assert [text for text in unread_files if "notes" in text]
    assert [text for text in unread_files if "simple" in text]
    assert [text for text in unread_files if "accuracy" in text]


def test_headings_come_from_the_release_when_it_is_there(tmp_path):
    module = tmp_path / "column_headers.py"
    module.write_text("COLUMNS_LIVE = ['one', 'two']\nprint('run')\n")
    assert not load_columns(module).official
    assert load_columns(tmp_path / "absent.py").headings["live"][0] == "rank"


def test_a_comma_in_a_name_does_not_make_a_column(tmp_path):
    write_header(tmp_path, "a,b", "multiple", 0.5, 200)
    write(tmp_path)
    assert table(tmp_path, "overall")[0]["model"] == "a b"


def test_latencies_and_the_spread_over_formats_come_from_journals(tmp_path):
    folder = create_run(tmp_path, Manifest("r", 1.0, "bfcl", ModelFacts("m"), Setting(), cases=4))
    writer = JournalWriter(folder.journal_path)
    entries = [("a", 1, 1.0), ("a", 1, 2.0), ("b", 1, 3.0), ("b", 0, 4.0)]
    for number, (config, right, seconds) in enumerate(entries):
        key = Key(f"format_sensitivity_{number}:{config}:simple_python_{number}")
        reply = Reply("x", latency_s=seconds)
        writer.append(Asked(at=1.0, key=key, n=number, digest="", reply=reply))
        outcome = Outcome.PASSED if right else Outcome.FAILED
        writer.append(Finished(at=2.0, key=key, verdict=Verdict(outcome)))
    writer.append(
        Asked(at=3.0, key=Key("memory_kv_prereq_0-student-0"), n=9, digest="", reply=Reply("", latency_s=99.0))
    )
    writer.close()
    found = measures_of(BFCL_LEADERBOARD, [folder])
    assert (found["latency_mean_s"], found["latency_stdev_s"]) == (2.5, 1.29)
    assert (found["format_max_delta"], found["format_stdev"]) == (50.0, 35.36)


def test_the_percentile_is_rounded_as_officially():
    # numpy.percentile(…, 95) rounded by numpy, of bfcl-eval's tables; Python's own rounding gives 8.63
    latencies = [8.635, 8.635, 0.5]
    assert latency_figures(latencies) == (5.92, 4.7, 8.64)
    assert latency_figures([1.0, 2.0]) == (1.5, 0.71, 1.95)
    assert latency_figures([4]) == (4, 0.0, 4.0)


def test_a_model_of_the_registry_is_shown_as_its_row_says(tmp_path):
    for model in ("gpt-4o-2024-11-20", "gpt-4o-2024-11-20-FC", "Qwen_Qwen3-8B-FC", "mine"):
        write_header(tmp_path, model, "multiple", 0.5, 200)
    spending = {name: Spending() for name in ("mine", "gpt-4o-2024-11-20-FC", "Qwen_Qwen3-8B-FC")}
    for name in spending:
        spending[name].add([{"input_token_count": 1_000_000, "output_token_count": 1_000_000, "latency": 36_000.0}] * 2)
    write(tmp_path, spending, {"gpt-4o-2024-11-20-FC": (99.0, 99.0)})
    rows = {row["model"]: row for row in table(tmp_path, "overall")}
    assert list(rows)[:3] == ["mine", "GPT-4o-2024-11-20 (FC)", "Qwen3-8B (FC)"]  # even ones in the order evaluated
    native = rows["GPT-4o-2024-11-20 (FC)"]
    assert native["link"] == "https://openai.com/index/hello-gpt-4o/"
    assert (native["organization"], native["licence"]) == ("OpenAI", "Proprietary")
    assert native["cost_usd"] == "25.0"  # the registry's price, not that of models.toml
    assert rows["Qwen3-8B (FC)"]["cost_usd"] == "4.78"  # 20 hours of rented hardware that answers 100 at once
    assert rows["GPT-4o-2024-11-20 (Prompt)"]["cost_usd"] == "N/A"
    assert (rows["mine"]["cost_usd"], rows["mine"]["link"], rows["mine"]["licence"]) == ("N/A", "", "")
