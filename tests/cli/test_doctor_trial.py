"""`doctor --try`: what a person sees of a model that refuses parameters, and that the printed entry plays."""

from pathlib import Path

from server.openai_server import OpenAIServer, Scripted


def test_the_printed_entry_can_be_put_into_the_file(console, home: Path) -> None:
    with OpenAIServer(lambda request: Scripted(fault="newer_model")) as server:
        models = home / "models.toml"
        models.write_text(f'[new]\nmodel_id = "m"\nbase_url = "{server.base_url}"\nmax_tokens = 9\ntemperature = 0.3\n')
        halted = console("run", "-m", "new", "-s", "bfcl-starter", "-n", 4, "--category", "simple_python")
        assert halted.code == 3
        assert 'Write omit = ["temperature"] into [new] of models.toml.' in halted.err
        tried = console("doctor", "--try", "new")
        assert tried.code == 0
        assert "! results of two calls: differs: the answer has 0 of the two" in tried.out
        assert "✓ new with tools: answers, with 1 call" in tried.out
        models.write_text(tried.out[tried.out.index("[new]") :])
        data = console("doctor", "--try", "new", "--json").data
        assert data["entry"] == models.read_text().strip()
        assert [it["state"] for it in data["findings"] if it["area"] == "trial"] == ["good", "good"]
        before = server.counts["chat"]
        played = console("run", "-m", "new", "-s", "bfcl-starter", "-n", 4, "--category", "simple_python", "--json")
        assert server.counts["chat"] - before == 4
        assert played.data["summary"]["tally"]["failed"] == 4


def test_a_model_that_is_not_there(console, home: Path) -> None:
    ended = console("doctor", "--try", "nobody")
    assert ended.code == 2
    assert "no model is named 'nobody'" in ended.err


def test_a_simulated_model_needs_no_other_entry(console, home: Path) -> None:
    ended = console("doctor", "--try", "sim/careful", "--json")
    assert ended.code == 0
    assert all(finding["state"] == "good" for finding in ended.data["findings"])
