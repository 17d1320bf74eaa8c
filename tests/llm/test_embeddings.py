"""Vectors come in the order of the texts, exact to float32, in batches; bad ones are faults."""

import base64
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server.faults import FAULTS
from server.vectors import vector

from console.config.model import ModelConfig
from console.core.fault import Fault, FaultKind
from console.llm.embedding.vectors import BATCH, VectorReader, tokens_of
from console.llm.servers.model_list import served_models


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
        {
            "data": [
                {"index": 0, "embedding": [1.0]},
                {"index": 0, "embedding": [1.0]},
                {"index": 1, "embedding": [1.0]},
            ]
        },
        {"data": [{"index": True, "embedding": [1.0]}, {"index": True, "embedding": [1.0]}]},
        {"data": [{"index": -1, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
    ],
)
def test_bad_vectors_are_faults(answer):
    with pytest.raises(Fault) as caught:
        VectorReader().read(answer, 2)
    assert caught.value.kind is FaultKind.BAD_ANSWER


def packed(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


NO_VECTORS = [
    *(["1.0", "2.0"], ["a"], [True, False], [1.0, True], [None], [[1.0]], [{}], [1.0, "2"], {}, {"0": 1.0}, "text", ""),
    *([float("nan"), 1.0], [float("inf")], [-float("inf"), 1.0], [10**400], [1e200, 1e200], [], None, True, 1.0),
    *(packed(float("nan")), packed(1.0, float("inf")), packed(1.0)[:-2], packed(1.0)[:4], "żółć", "AAAA AAAA"),
]


@pytest.mark.parametrize("vector", NO_VECTORS, ids=repr)
async def test_only_finite_numbers_are_a_vector(connect, seen, monkeypatch, vector):
    """Through a real server, so that what JSON makes of the values (`NaN`, `1e400`) is tried too."""
    rows = [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": vector}]
    monkeypatch.setitem(FAULTS, "no_vector", lambda exchange: exchange.answer_json({"data": rows}))
    with pytest.raises(Fault) as caught:
        await connect(model_id="fault:no_vector").embed(["x", "y"], seen)
    assert caught.value.kind is FaultKind.BAD_ANSWER
    assert "vector" in caught.value.message


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=12))
def test_any_value_is_a_vector_of_numbers_or_a_fault(value):
    try:
        [vector] = VectorReader().read({"data": [{"embedding": value}]}, 1)
    except Fault as fault:
        outcome: object = fault.kind
    else:
        outcome = vector and all(type(number) is float and math.isfinite(number) for number in vector)
    assert outcome in (True, FaultKind.BAD_ANSWER)


def test_vectors_of_one_model_are_of_one_length_in_all_requests():
    reader = VectorReader()
    assert reader.read({"data": [{"embedding": [1, 2.5]}]}, 1) == [[1.0, 2.5]]
    with pytest.raises(Fault, match="differ in length: 2, 3"):
        reader.read({"data": [{"embedding": [1, 2, 3]}]}, 1)
    assert reader.read({"data": [{"embedding": packed(1, 2)}]}, 1) == [[1.0, 2.0]]


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
