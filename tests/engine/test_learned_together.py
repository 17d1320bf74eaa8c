"""Engines of one machine that ask one endpoint without limits: what it takes is learnt once, for all of them.

The same in virtual time: tests/llm/test_storm.py.
"""

from pathlib import Path

import pytest
from server.openai_server import OpenAIServer, Scripted, say_ok
from support.ray_runs import Playing, check_once, home_of, records, until

from console.core.record import Closed

pytestmark = pytest.mark.slow
HIGHEST = 256
"""So many calls at once are reached where nothing is refused and nobody has set a limit."""


class Endpoint:
    """Takes so many calls at once, and refuses all others."""

    def __init__(self, at_once: int, latency_s: float) -> None:
        self.at_once, self.latency_s = at_once, latency_s
        self.server = OpenAIServer(self._answer)
        self.most = self.refused = self.asked = 0
        """Calls at once, refused ones too; how many were refused, of how many."""

    def _answer(self, request: dict[str, object]) -> Scripted:
        in_flight = self.server.in_flight + 1
        self.most = max(self.most, in_flight)
        self.asked += 1
        is_refused = in_flight > self.at_once
        self.refused += is_refused
        scripted = Scripted(fault="r429") if is_refused else say_ok(request)
        scripted.latency_s = self.latency_s
        return scripted


def play(home: Path, endpoint: Endpoint, engines: int, *, repeats: int, concurrency: int) -> None:
    """Have so many detached engines ask one endpoint side by side, until all have ended."""
    options = ("-s", "bfcl-starter", "--category", "simple_python", "-r", str(repeats), "-c", str(concurrency))
    with endpoint.server, home_of(home, endpoint.server.base_url):
        folders = []
        for _ in range(engines):
            engine = Playing(home, "run", "-m", "served", *options, "--detach")
            folders.append(engine.folder)
            assert engine.wait()[0] == 0, engine.said
        for folder in folders:
            until(lambda folder=folder: any(isinstance(r, Closed) for r in records(folder)), "a run did not end")
            check_once(folder, 10 * repeats)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVED_KEY", "sk-served-0123456789")


def test_two_engines_reach_no_more_than_one_where_nothing_is_refused(tmp_path: Path) -> None:
    endpoint = Endpoint(1000, 1.0)
    play(tmp_path, endpoint, 2, repeats=70, concurrency=250)
    assert 32 < endpoint.most <= HIGHEST


def test_two_engines_settle_where_one_would_at_an_endpoint_that_takes_few_at_once(tmp_path: Path) -> None:
    alone, together = Endpoint(8, 0.1), Endpoint(8, 0.1)
    play(tmp_path / "alone", alone, 1, repeats=16, concurrency=40)
    play(tmp_path / "together", together, 2, repeats=8, concurrency=20)
    assert together.most <= alone.most + 2
    assert together.refused <= 1.5 * alone.refused, "as many calls, and hardly more of them in vain"
