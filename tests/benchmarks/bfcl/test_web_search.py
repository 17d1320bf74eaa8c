"""Web search: recorded answers, what a model gets to see, and a fetcher that reaches public addresses only."""

import asyncio
import ipaddress
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver

from console.benchmarks.bfcl.conversation.web_search.play import WebSearchExecution
from console.benchmarks.bfcl.conversation.web_search.recorded import read_recorded
from console.benchmarks.bfcl.conversation.web_search.text import markdown, plain_text
from console.benchmarks.bfcl.suite import BfclSuite
from console.core.case import Case, Key, Setting
from console.core.chat import Message, Reply
from console.core.fault import Fault, FaultKind, UsageError
from console.core.outcome import Outcome
from console.core.run import Selection
from console.llm.web.addresses import PinningResolver, RefusedAddress, is_public
from console.llm.web.browsing import NoPage
from console.llm.web.live import Web
from console.suites.catalog import read_entry
from console.suites.selection import select_cases

STARTER = Path(__file__).resolve().parents[3] / "data" / "bfcl-starter"
RECORDED = STARTER / "web_recorded.json"
SHOWN = {"WebSearchAPI": {"show_snippet": True}}
HIDDEN = {"WebSearchAPI": {"show_snippet": False}}

INWARD = (
    "127.0.0.1",
    "127.8.9.10",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "2001:db8::1",
)


@pytest.mark.parametrize("address", INWARD)
def test_inward_addresses_are_not_public(address: str):
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_outward_addresses_are_public(address: str):
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        *(f"http://[{one}]/" if ":" in one else f"http://{one}/" for one in INWARD),
        "http://localhost/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://0177.1/",
        "http://127.0.0.1./",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://\u2460\u2461\u2466.0.0.1/",
        "http://127\u30020\u30020\u30021/",
        "http://example.org@127.0.0.1/",
        "https://user:pass@127.0.0.1:8443/x",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http:///x",
        "gopher://127.0.0.1/",
    ],
)
async def test_the_fetcher_refuses_what_is_not_public(url: str):
    with pytest.raises(NoPage, match="refused"):
        await Web().page(url)


class _Names(AbstractResolver):
    """Names as an attacker's server would answer: public first, then not."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> Any:
        found = self.answers.pop(0)
        return [
            {"hostname": host, "host": one, "port": port, "family": family, "proto": 0, "flags": 0} for one in found
        ]

    async def close(self) -> None:
        pass


async def test_a_name_is_refused_when_any_of_its_addresses_is_inward():
    resolver = PinningResolver(is_public, _Names(["1.1.1.1"], ["1.1.1.1", "10.0.0.1"], ["fe80::1%eth0"]))
    assert [one["host"] for one in await resolver.resolve("a.example", 80)] == ["1.1.1.1"]
    for _ in range(2):
        with pytest.raises(RefusedAddress):
            await resolver.resolve("a.example", 80)


Pages = dict[str, tuple[int, dict[str, str], bytes]]


@pytest.fixture
async def served() -> AsyncIterator[tuple[Pages, str]]:
    """Pages by path, over a plain server on the loopback."""
    pages: Pages = {}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n\r\n")).split(b" ")
        status, headers, body = pages.get(line[1].decode().partition("?")[0], (404, {}, b"nothing here"))
        given = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        writer.write(f"HTTP/1.1 {status} Said\r\n{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield pages, f"http://127.0.0.1:{port}"
    server.close()
    await server.wait_closed()


def _loopback_only(address: Any) -> bool:
    return str(address) == "127.0.0.1"


async def test_pages_are_fetched_and_redirects_judged_one_by_one(served: tuple[Pages, str]):
    pages, base = served
    web = Web(is_allowed=_loopback_only, most_bytes=1000)
    pages["/here"] = (200, {}, "<p>grün</p>".encode())
    pages["/latin"] = (200, {"Content-Type": "text/plain; charset=latin-1"}, "grün".encode("latin-1"))
    pages["/moved"] = (302, {"Location": "/here"}, b"")
    for way, target in {
        "meta": "http://169.254.169.254/latest/",
        "lan": "http://10.0.0.1/",
        "v6": "http://[::1]/",
        "file": "file:///etc/passwd",
    }.items():
        pages[f"/{way}"] = (302, {"Location": target}, b"")
    pages["/round"] = (302, {"Location": "/round"}, b"")
    pages["/large"] = (200, {}, b"x" * 1001)
    pages["/picture"] = (200, {"Content-Type": "image/png"}, b"\x89PNG")
    assert await web.page(f"{base}/here") == "<p>grün</p>"
    assert await web.page(f"{base}/moved") == "<p>grün</p>"
    assert await web.page(f"{base}/latin") == "grün"
    for path in ("meta", "lan", "v6", "file", "large", "picture"):
        with pytest.raises(NoPage, match="refused"):
            await web.page(f"{base}/{path}")
    with pytest.raises(NoPage, match="more than 10 redirects"):
        await web.page(f"{base}/round")
    with pytest.raises(NoPage, match="404"):
        await web.page(f"{base}/nowhere")


async def test_a_busy_search_service_is_asked_five_times_and_the_key_is_never_told(
    served: tuple[Pages, str], monkeypatch: pytest.MonkeyPatch
):
    pages, base = served
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setenv("SERPAPI_API_KEY", "secret-of-the-house")
    web = Web(search_address=f"{base}/search", pause=pause)
    pages["/search"] = (200, {}, json.dumps({"organic_results": [{"title": "t", "link": "l"}]}).encode())
    assert (await web.search("x", "wt-wt"))["organic_results"] == [{"title": "t", "link": "l"}]
    pages["/search"] = (429, {}, b"{}")
    with pytest.raises(Fault) as busy:
        await web.search("x", "wt-wt")
    assert busy.value.kind is FaultKind.RATE_LIMIT
    assert len(waits) == 4
    assert all(first <= wait <= 2 * first for wait, first in zip(waits, (2, 4, 8, 16), strict=True))
    pages["/search"] = (401, {}, b"{}")
    with pytest.raises(Fault) as refused:
        await web.search("x", "wt-wt")
    lost = Web(search_address="http://127.0.0.1:9/search", pause=pause)
    with pytest.raises(Fault) as down:
        await lost.search("x", "wt-wt")
    for fault in (busy.value, refused.value, down.value):
        assert "secret-of-the-house" not in f"{fault.message} {fault.hint}"


async def test_without_a_key_the_search_is_broken_and_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    browsing = WebSearchExecution("web_search_base_0", SHOWN, Web())
    with pytest.raises(Fault) as missing:
        await browsing.execute(["search_engine_query(keywords='x')"])
    assert "SERPAPI_API_KEY" in missing.value.hint


async def test_results_have_snippets_or_not_and_pages_come_in_three_forms():
    web = read_recorded(RECORDED)
    query = "search_engine_query(keywords='ferry from Vestvik', max_results=1)"
    [shown] = await WebSearchExecution("web_search_base_0", SHOWN, web).execute([query])
    [hidden] = await WebSearchExecution("web_search_no_snippet_0", HIDDEN, web).execute([query])
    first = {"title": "Ferries from Vestvik", "href": "https://ferries.example/vestvik"}
    assert hidden == str([first])
    assert shown == str([first | {"body": "The ferry from Vestvik sails twice a day to the island of Skarholm."}])
    browsing = WebSearchExecution("web_search_base_0", SHOWN, web)
    url = "'https://lights.example/skarholm'"
    raw, bare, marked, wrong, nowhere, odd, bad = await browsing.execute(
        [
            f"fetch_url_content(url={url})",
            f"fetch_url_content(url={url}, mode='truncate')",
            f"fetch_url_content(url={url}, mode='markdown')",
            f"fetch_url_content(url={url}, mode='pdf')",
            "fetch_url_content(url='https://nowhere.example/')",
            "fetch_url_content(url='lights.example')",
            "fetch_url_content(address='x')",
        ]
    )
    assert json.loads(raw)["content"].startswith("<!doctype html>")
    assert json.loads(bare)["content"].split("\n")[2:4] == ["The lighthouse of Skarholm was lit in 1887.", "214 steps"]
    assert "**214 steps** lead up" in json.loads(marked)["content"]
    assert "count(1)" not in bare + marked
    assert json.loads(wrong)["error"].endswith("Unsupported mode: pdf")
    assert json.loads(nowhere)["error"].startswith("An error occurred while fetching https://nowhere.example/: 404")
    assert odd == "Error during execution: Invalid URL: lights.example"
    assert "WebSearchAPI.fetch_url_content() got an unexpected keyword argument 'address'" in bad


async def test_other_keywords_find_what_fits_and_unknown_ones_nothing():
    web = read_recorded(RECORDED)
    found = await web.search("who composed an anthem for a town", "wt-wt")
    assert found["organic_results"][0]["link"] == "https://aldermere.example/history"
    assert "error" in await web.search("zzz qqq", "wt-wt")


@pytest.mark.parametrize("text", ["{", "[]", '{"pages": {"a": 1}}', '{"searches": [{}]}', '{"seraches": []}'])
def test_damaged_recordings_are_refused(tmp_path: Path, text: str):
    path = tmp_path / "answers.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="damaged"):
        read_recorded(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_recorded(tmp_path / "none.json")


def test_broken_html_is_read_all_the_same():
    html = "<p>a<b>b</p><script>if (a < b) x()</script><li>c &amp; d<a href='u'>e</a><style>s</style><p>1 < 2"
    assert plain_text(html).split("\n")[:2] == ["a", "b"]
    assert "if (a" not in plain_text(html)
    assert "[e](u)" in markdown(html)
    assert "c & d" in markdown(html)
    assert markdown("<ol><li>x<li>y</ol><pre>  a\n  b</pre><h2>T</h2>") == (
        "  1. x\n  2. y\n\n```\n  a\n  b\n```\n\n## T\n"
    )


class _Scripted:
    """A stage whose model says what it is told, and that performs effects at once."""

    def __init__(self, *replies: str) -> None:
        self.key = Key("x")
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    async def ask(self, messages: Sequence[Message], **_: Any) -> Reply:
        self.asked.append(list(messages))
        return Reply(self.replies.pop(0))

    async def perform(self, kind: str, request: Any, action: Callable[[], Awaitable[Any]]) -> Any:
        del kind, request
        return await action()

    def output_of(self, case_id: str) -> Any:
        raise AssertionError(case_id)


def _case(suite: BfclSuite, case_id: str) -> Case:
    return select_cases(suite, Selection(ids=(case_id,)), Setting())[0]


async def test_a_question_is_looked_up_and_judged_by_its_last_message():
    suite = BfclSuite(read_entry(STARTER))
    case, setting = _case(suite, "web_search_no_snippet_0"), Setting()
    calls = "[search_engine_query(keywords='Skarholm lighthouse steps')]"
    page = "[fetch_url_content(url='https://lights.example/skarholm', mode='truncate')]"
    stage: Any = _Scripted(calls, page, "{'answer': '214', 'context': 'the page says so'}")
    output = await suite.play(case, stage, setting)
    assert output == [[calls, page, "{'answer': '214', 'context': 'the page says so'}"]]
    assert suite.score(case, output, setting).outcome is Outcome.PASSED
    last = stage.asked[-1][-1]
    assert last["role"] == "user"
    assert "214 steps" in str(last.get("content"))
    assert "214" not in str(stage.asked[1])
    endless: Any = _Scripted(*[calls] * 30)
    output = await suite.play(case, endless, setting)
    assert len(output[0]) == 21
    assert suite.score(case, output, setting).reason == "agentic:no_last_message"


async def test_the_option_names_another_recording(tmp_path: Path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"searches": [{"keywords": "q", "results": [{"title": "T", "link": "L"}]}]}))
    suite = BfclSuite(read_entry(STARTER))
    assert [option.name for option in suite.options] == ["web_recorded"]
    stage: Any = _Scripted("[search_engine_query(keywords='q')]", "done")
    await suite.play(_case(suite, "web_search_base_0"), stage, Setting(options={"web_recorded": str(other)}))
    assert "'href': 'L'" in str(stage.asked[-1][-1].get("content"))
