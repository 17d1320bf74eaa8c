"""What a run needs besides a model is looked for before anything is asked and paid."""

import shutil
from pathlib import Path

import pytest

from console.benchmarks.bfcl.conversation.memory import embedding
from console.config.paths import WorkspacePaths
from console.core.fault import UsageError
from console.core.run import Selection
from console.engine.plan import Plan, PreparedRun, prepare

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"


def planned(folder: Path, category: str, **options: str) -> PreparedRun:
    """A run of a dataset of one's own: the starter, but with the official embedding and without recorded answers."""
    data = folder / "data"
    if not data.exists():
        shutil.copytree(STARTER, data / "mine")
        lines = (STARTER / "suite.toml").read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith(("embedding", "web"))]
        (data / "mine" / "suite.toml").write_text("\n".join(kept), encoding="utf-8")
    selection, paths = Selection(categories=(category,)), WorkspacePaths(data=data, runs=folder / "runs")
    return prepare(Plan("sim/careful", "mine", selection, options=options, paths=paths))


def test_the_vector_memory_needs_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "find_weights", lambda _: None)
    with pytest.raises(UsageError) as caught:
        planned(tmp_path, "memory_vector")
    assert "MiniLM" in caught.value.message
    assert "eval-console pull minilm" in caught.value.hint
    assert planned(tmp_path, "memory_kv").cases, "other backends do not need them"
    assert not (tmp_path / "runs").exists()


def test_weights_are_found_beside_the_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    monkeypatch.setattr(embedding, "find_weights", lambda data: looked.append(data) or data)
    assert planned(tmp_path, "memory_vector").cases
    assert looked == [tmp_path / "data"]


def test_web_search_needs_a_key_or_recorded_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    with pytest.raises(UsageError) as caught:
        planned(tmp_path, "web_search_base")
    assert caught.value.where == "SERPAPI_API_KEY"
    assert "web_recorded" in caught.value.hint
    monkeypatch.setenv("SERPAPI_API_KEY", "k" * 20)
    assert planned(tmp_path, "web_search_base").cases


def test_recorded_answers_are_looked_for_here_and_in_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = planned(tmp_path, "web_search_base", web_recorded="web_recorded.json")
    in_dataset = tmp_path / "data" / "mine" / "web_recorded.json"
    assert inside.manifest.setting.options == {"web_recorded": str(in_dataset)}
    (tmp_path / "own.json").write_text('{"searches": [], "pages": {}}', encoding="utf-8")
    here = planned(tmp_path, "web_search_base", web_recorded="own.json")
    assert here.manifest.setting.options == {"web_recorded": str(tmp_path / "own.json")}
    (tmp_path / "own.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="are invalid"):
        planned(tmp_path, "web_search_base", web_recorded="own.json")
    with pytest.raises(UsageError) as caught:
        planned(tmp_path, "web_search_base", web_recorded="nowhere/x.json")
    assert caught.value.where == "--option web_recorded"
    assert str(tmp_path / "nowhere") in caught.value.message
    assert str(in_dataset.parent / "nowhere") in caught.value.message
