"""Vectors come in the order of the texts, exact to float32, in batches; bad ones are faults."""

import math
import struct

import pytest
from server.vectors import vector

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.llm.embeddings import BATCH, read_vectors, tokens_of
from console.llm.model_list import served_models


@pytest.mark.parametrize("model_id", ["e", "e-floats"])
async def test_vectors_are_in_the_order_of_the_texts(connect, seen, server, model_id):
    before = server.counts["embeddings"]
    texts = [f"text number {n}" for n in range(BATCH + 3)]
    vectors = await connect(model_id=model_id).embed(texts, seen)
    assert server.counts["embeddings"] - before == 2
    for text, found in zip(texts, vectors, strict=True):
        assert found == pytest.approx(vector(text), abs=1e-7)


async def test_base64_gives_the_very_float32(connect, seen):
    found = (await connect().embed(["one two three"], seen))[0]
    assert found == list(struct.unpack("<16f", struct.pack("<16f", *vector("one two three"))))


async def test_the_tokens_that_the_provider_counted_are_told(connect, seen):
    await connect().embed(["one two three"], seen)
    assert seen.tokens == 1


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1}, {"prompt_tokens": "9"}, {"prompt_tokens": True}, 7])
def test_an_absurd_count_is_none(usage):
    assert tokens_of({"usage": usage}) is None
    assert tokens_of({"usage": {"prompt_tokens": 9}}) == 9


async def test_no_text_asks_nothing(connect, seen, server):
    before = server.counts["embeddings"]
    assert await connect().embed([], seen) == []
    assert server.counts["embeddings"] == before


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "@@"}, {"index": 1, "embedding": "AAAA"}]},
        {"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [{}]}]},
        {"data": [1, 2]},
    ],
)
def test_bad_vectors_are_faults(answer):
    with pytest.raises(Fault) as caught:
        read_vectors(answer, 2)
    assert caught.value.kind is FaultKind.BAD_ANSWER


def test_numbers_that_are_no_numbers_pass_as_they_are():
    found = read_vectors({"data": [{"embedding": [float("nan"), 1]}]}, 1)
    assert math.isnan(found[0][0])


async def test_a_refused_embedding_is_a_typed_fault(connect, seen):
    with pytest.raises(Fault) as caught:
        await connect(model_id="fault:r401").embed(["x"], seen)
    assert caught.value.kind is FaultKind.AUTH


async def test_the_served_models_are_listed(server):
    model = ModelConfig(name="x", model_id="m", base_url=server.base_url)
    assert await served_models(model) == ["test-model"]


async def test_a_server_without_a_list_is_a_typed_fault(server):
    model = ModelConfig(name="x", model_id="m", base_url=server.base_url.removesuffix("/v1") + "/nowhere")
    with pytest.raises(Fault) as caught:
        await served_models(model)
    assert caught.value.kind is FaultKind.NOT_FOUND
