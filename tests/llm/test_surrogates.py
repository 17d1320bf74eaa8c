"""Lone surrogates never leave the room; split ones become the character they were."""

from hypothesis import given
from hypothesis import strategies as st

from console.llm.wires.surrogates import SurrogateJoiner, repair_surrogates

ANY = st.text(
    alphabet=st.one_of(st.characters(), st.characters(categories=["Cs"]), st.sampled_from("😀a")), max_size=40
)


@given(ANY)
def test_mended_text_is_valid_unicode(text):
    repaired, replaced = repair_surrogates(text)
    repaired.encode("utf-8")
    assert replaced == (repaired != text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore"))


@given(st.lists(ANY, max_size=8))
def test_deltas_give_what_the_whole_gives(deltas):
    mender = SurrogateJoiner()
    text = "".join(mender.feed(delta) for delta in deltas) + mender.end()
    whole, replaced = repair_surrogates("".join(deltas))
    assert text == whole
    assert mender.replaced == replaced


@given(st.text(max_size=40))
def test_halves_of_one_character_are_joined(text):
    units = text.encode("utf-16-le", "surrogatepass")
    halves = [chr(int.from_bytes(units[at : at + 2], "little")) for at in range(0, len(units), 2)]
    mender = SurrogateJoiner()
    assert "".join(mender.feed(half) for half in halves) + mender.end() == text
    assert not mender.replaced
