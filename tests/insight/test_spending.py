"""What a run has used: call by call, role by role, and honest about what is not known."""

from console.core.case import Case, Key, Setting
from console.core.chat import Reply, Usage
from console.core.outcome import Outcome, Verdict
from console.core.record import Asked, Embedded, Finished, Opened, Started
from console.core.run import Manifest, ModelFacts
from console.insight.overview import Overview
from console.insight.overview_snapshot import decode_overview, encode_overview
from console.tui.render.progress import cost_words, short_cost, token_words

KEY = Key("q1")
PRICED = ModelFacts("m", price_in=1.0, price_out=10.0)


def manifest(**roles: ModelFacts) -> Manifest:
    return Manifest(id="r", at=1.0, suite="aidan", model=PRICED, setting=Setting(), roles=roles)


def begun() -> Overview:
    overview = Overview()
    overview.apply(Opened(at=1, pid=1))
    overview.apply(Started(at=1, key=KEY, case=Case("q1", "what")))
    return overview


def ask(overview: Overview, role: str, usage: Usage | None, n: int = 1) -> None:
    overview.apply(Asked(at=2, key=KEY, n=n, digest="", reply=Reply("x", usage=usage), role=role))


def embed(overview: Overview, tokens: int | None) -> None:
    overview.apply(Embedded(at=2, key=KEY, n=3, digest="", texts=["x"], vectors=[], tokens=tokens))


def test_tokens_and_cost_move_with_every_call_and_not_twice_at_the_end():
    overview, run = begun(), manifest()
    ask(overview, "model", Usage(1000, 100))
    assert (token_words(overview), short_cost(overview, run)) == ("1,000 in  100 out", "$0.002")
    ask(overview, "model", Usage(1000, 100), n=2)
    assert (token_words(overview), short_cost(overview, run)) == ("2,000 in  200 out", "$0.004")
    verdict = Verdict(Outcome.PASSED)
    overview.apply(Finished(at=3, key=KEY, verdict=verdict, input_tokens=2000, output_tokens=200, cost_usd=0.004))
    assert (token_words(overview), short_cost(overview, run)) == ("2,000 in  200 out", "$0.004")


def test_what_is_simulated_is_said_of_its_role():
    simulated = ModelFacts("sim/x", provider="simulated", simulated=True)
    run = manifest(judge=ModelFacts("j", price_in=2.0, price_out=8.0), embedding=simulated)
    overview = begun()
    ask(overview, "model", Usage(1000, 100))
    ask(overview, "judge", Usage(1000, 0))
    embed(overview, None)
    assert short_cost(overview, run) == "$0.004, embedding simulated"
    assert cost_words(overview, run) == "$0.004   $0.002 model   $0.002 judge   embedding simulated"
    only = Manifest(id="r", at=1.0, suite="aidan", model=simulated, setting=Setting(), roles={"judge": simulated})
    assert (short_cost(overview, only), cost_words(overview, only)) == ("simulated", "simulated, free")


def test_an_embedding_costs_what_its_provider_counted_and_is_unknown_without():
    run = manifest(embedding=ModelFacts("e", price_in=100.0))
    overview = begun()
    embed(overview, 20)
    assert cost_words(overview, run) == "$0.002   $0.00 model   $0.002 embedding"
    embed(overview, None)
    assert cost_words(overview, run) == "≥$0.002   $0.00 model   ≥$0.002 embedding"
    local = manifest(embedding=ModelFacts("local/minilm", provider="local"))
    assert cost_words(overview, local) == "$0.00   $0.00 model   embedding local"


def test_an_unknown_cost_is_said_once_beside_the_word_cost():
    overview, run = begun(), Manifest(id="r", at=1.0, suite="aidan", model=ModelFacts("m"), setting=Setting())
    ask(overview, "model", Usage(1000, 100))
    assert (short_cost(overview, run), cost_words(overview, run)) == ("cost unknown", "unknown")


def test_the_providers_own_figure_is_not_priced_again():
    overview = begun()
    ask(overview, "model", Usage(1000, 100, cost_usd=0.5))
    assert short_cost(overview, manifest()) == "$0.50"
    ask(overview, "model", None, n=2)
    assert short_cost(overview, manifest()) == "≥$0.50"


def test_it_is_kept_with_a_long_run():
    overview = begun()
    ask(overview, "model", Usage(1000, 100))
    assert short_cost(decode_overview(encode_overview(overview)), manifest()) == "$0.002"
