"""The summary tables of a small tree are, byte by byte, those that the official `bfcl evaluate` made of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from console.__main__ import main
from console.benchmarks.bfcl.files.columns import load_columns
from console.benchmarks.bfcl.files.layout import result_path, write_lines
from console.benchmarks.bfcl.models.profile import profile_of_folder

DATA = Path(__file__).resolve().parents[3] / "data"
pytestmark = pytest.mark.skipif(not (DATA / "bfcl" / "suite.toml").is_file(), reason="official data not pulled")

AREA = {"base": 10, "height": 5}
TEXT, CALL = "[calculate_triangle_area(base=10, height=5)]", {"name": "calculate_triangle_area", "arguments": AREA}
ANSWERS: dict[str, Any] = {
    "gpt-4o-2024-11-20": TEXT,
    "gpt-4o-2024-11-20-FC": [{CALL["name"]: json.dumps(AREA)}],
    "gemini-2.5-flash-FC": [{CALL["name"]: AREA}],
    "Qwen/Qwen3-8B-FC": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
    "MadeAgents/Hammer2.1-7b": json.dumps([CALL]),
}
"""A right answer to the first entry, in the form of each model."""


def write_tree(root: Path) -> None:
    for number, (model, right) in enumerate(ANSWERS.items()):
        results = {
            "simple_python": {"simple_python_0": right, "simple_python_1": right},
            "irrelevance": {f"irrelevance_{n}": "No." if n < number else right for n in range(3)},
            "live_irrelevance": {"live_irrelevance_0-0-0": "No." if number > 3 else right},
            "live_relevance": {"live_relevance_0-0-0": right},
        }
        for category, outputs in results.items():
            lines = [
                {
                    "id": entry,
                    "result": output,
                    "input_token_count": 10_000 * (number + at + 1),
                    "output_token_count": 250 * at,
                    "latency": 0.5 + at * 2.345 + number,
                }
                for at, (entry, output) in enumerate(outputs.items())
            ]
            write_lines(result_path(root / "result", model, category), lines, ascii_only=True)


OVERALL = (
    "1,10.42%,Hammer2.1-7b (FC),https://huggingface.co/MadeAgents/Hammer2.1-7b,0.0,5.84,1.85,8.49"
    ",N/A,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,100.00%,100.00%,N/A,N/A,MadeAgents,cc-by-nc-4.0",
    "2,5.42%,Qwen3-8B (FC),https://huggingface.co/Qwen/Qwen3-8B,0.0,4.84,1.85,7.49"
    ",N/A,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,100.00%,50.00%,N/A,N/A,Qwen,apache-2.0",
    "3,3.75%,Gemini-2.5-Flash (FC),https://deepmind.google/technologies/gemini/flash/,0.08,3.84,1.85,6.49"
    ",N/A,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,100.00%,33.33%,N/A,N/A,Google,Proprietary",
    "4,2.08%,GPT-4o-2024-11-20 (FC),https://openai.com/index/hello-gpt-4o/,0.46,2.84,1.85,5.49"
    ",N/A,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,100.00%,16.67%,N/A,N/A,OpenAI,Proprietary",
    "5,0.42%,GPT-4o-2024-11-20 (Prompt),https://openai.com/index/hello-gpt-4o/,0.29,1.84,1.85,4.49"
    ",N/A,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,0.00%,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,100.00%,0.00%,N/A,N/A,OpenAI,Proprietary",
)
EVEN: dict[str, tuple[str, ...]] = {
    "non_live": (
        "Qwen3-8B (FC),4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,100.00%",
        "Hammer2.1-7b (FC),4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,100.00%",
        "GPT-4o-2024-11-20 (Prompt),4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,0.00%",
        "Gemini-2.5-Flash (FC),4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,66.67%",
        "GPT-4o-2024-11-20 (FC),4.17%,N/A,N/A,50.00%,N/A,N/A,N/A,N/A,N/A,33.33%",
    ),
    "live": (
        "Qwen3-8B (FC),0.00%,N/A,N/A,N/A,N/A,N/A,0.00%,100.00%",
        "Hammer2.1-7b (FC),0.00%,N/A,N/A,N/A,N/A,N/A,100.00%,100.00%",
        "GPT-4o-2024-11-20 (Prompt),0.00%,N/A,N/A,N/A,N/A,N/A,0.00%,100.00%",
        "Gemini-2.5-Flash (FC),0.00%,N/A,N/A,N/A,N/A,N/A,0.00%,100.00%",
        "GPT-4o-2024-11-20 (FC),0.00%,N/A,N/A,N/A,N/A,N/A,0.00%,100.00%",
    ),
    "multi_turn": (
        "Qwen3-8B (FC),0.00%,N/A,N/A,N/A,N/A",
        "Hammer2.1-7b (FC),0.00%,N/A,N/A,N/A,N/A",
        "GPT-4o-2024-11-20 (Prompt),0.00%,N/A,N/A,N/A,N/A",
        "Gemini-2.5-Flash (FC),0.00%,N/A,N/A,N/A,N/A",
        "GPT-4o-2024-11-20 (FC),0.00%,N/A,N/A,N/A,N/A",
    ),
}
"""Rows of models that are even, without their rank."""


def test_the_tables_are_those_of_the_official_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_tree(tmp_path)
    monkeypatch.setenv("BFCL_PROJECT_ROOT", str(tmp_path))
    assert main(["bfcl", "evaluate", "--partial-eval", "--data", str(DATA), "--models", "/dev/null"]) == 0
    headings = load_columns(DATA / "bfcl" / "bfcl_eval" / "constants" / "column_headers.py").headings
    overall = (tmp_path / "score" / "data_overall.csv").read_bytes().decode()
    assert overall == "\n".join([",".join(headings["overall"]), *OVERALL])
    listed = [
        profile.display_name
        for folder in (tmp_path / "result").iterdir()
        if (profile := profile_of_folder(folder.name))
    ]
    for table, rows in EVEN.items():
        lines = (tmp_path / "score" / f"data_{table}.csv").read_bytes().decode().split("\n")
        assert lines[0] == ",".join(headings[table])
        assert [line.partition(",")[0] for line in lines[1:]] == ["1", "2", "3", "4", "5"]
        assert sorted(line.partition(",")[2] for line in lines[1:]) == sorted(rows)
        assert [line.split(",")[1] for line in lines[1:]] == listed  # even models stand as their folders are listed
