"""CPU per request of an endpoint alone, beside the openai SDK on aiohttp, that SDK with raw bytes, and bare aiohttp.

`gateway streamed` is the gateway with that endpoint behind it; what asks it is a process of its own, not counted.

    python perf/bench_requests.py [--requests 1000] [--at-once 64] [--latency-ms 0]

Each client runs in a process of its own against the test server in another one; CPU is user and system time of the
client process over the requests, start-up and a warm-up left out. Compare the ratios, not the milliseconds.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = (
    "ours plain",
    "ours streamed",
    "gateway streamed",
    "openai plain",
    "openai streamed",
    "openai raw",
    "aiohttp plain",
    "aiohttp raw",
)
PEERS = {
    "ours plain": "openai plain",
    "ours streamed": "openai streamed",
    "gateway streamed": "ours streamed",
}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}},
    },
}
Ask = Callable[[int], Awaitable[object]]
Close = Callable[[], Awaitable[None]]


def body(number: int, *, stream: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": "m", "messages": messages(number), "tools": [TOOL], "temperature": 0.0}
    return asked | ({"stream": True, "stream_options": {"include_usage": True}} if stream else {})


def messages(number: int) -> list[Any]:
    return [{"role": "user", "content": f"Question {number}: what is the weather like in Berlin?"}]


def ours(base_url: str, *, stream: bool) -> tuple[Ask, Close]:
    from console.config.model import ModelConfig
    from console.core.chat import ChatRequest
    from console.llm.endpoint import Watch
    from console.llm.providers import open_endpoint

    params = {} if stream else {"stream": False}
    model = ModelConfig(name="m", model_id="m", base_url=base_url, temperature=0.0, params=params)
    endpoint, watch = open_endpoint(model), Watch()
    return lambda number: endpoint.ask(ChatRequest(messages(number), [TOOL]), watch), endpoint.aclose


def gateway(base_url: str) -> tuple[Ask, Close]:
    from console.config.model import ModelConfig
    from console.core.chat import ChatRequest, Reply
    from console.llm.endpoint import Watch
    from console.llm.gateway.dialect import GatewayCall
    from console.llm.gateway.server import Answers, Gateway
    from console.llm.providers import open_endpoint

    endpoint, watch, server = (
        open_endpoint(ModelConfig(name="m", model_id="m", base_url=base_url)),
        Watch(),
        Gateway(),
    )
    clients: list[asyncio.subprocess.Process] = []
    waiting: dict[int, asyncio.Future[None]] = {}

    async def answer(role: str, call: GatewayCall) -> Reply:
        del role
        return await endpoint.ask(ChatRequest(call.messages, call.tools, call.params), watch)

    async def embed(role: str, texts: list[str]) -> list[list[float]]:
        del role, texts
        return []

    async def hear() -> None:
        assert clients[0].stdout is not None
        async for line in clients[0].stdout:
            waiting.pop(int(line)).set_result(None)

    async def ask(number: int) -> object:
        if not clients:
            await server.open()
            url = f"{server.url}/c/{server.admit(Answers(answer, embed, ('model',)))}/v1"
            command = (sys.executable, __file__, "--forward", "--base-url", url)
            pipe = asyncio.subprocess.PIPE
            clients.append(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe))
            waiting[-1] = asyncio.ensure_future(hear())
        assert clients[0].stdin is not None
        waiting[number] = asyncio.get_running_loop().create_future()
        clients[0].stdin.write(b"%d\n" % number)
        await waiting[number]
        return None

    async def close() -> None:
        clients[0].kill()
        await clients[0].wait()
        await server.aclose()
        await endpoint.aclose()

    return ask, close


async def forward(base_url: str) -> None:
    """Ask for each number on standard input, and write it when it is answered."""
    ask, close = bare(base_url, stream=False)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def one(number: int) -> None:
        await ask(number)
        print(number, flush=True)

    async with asyncio.TaskGroup() as group:
        async for line in lines:
            group.create_task(one(int(line)))
    await close()


def sdk(base_url: str, *, stream: bool, raw: bool) -> tuple[Ask, Close]:
    import openai

    client = openai.AsyncOpenAI(
        base_url=base_url, api_key="none", max_retries=0, http_client=openai.DefaultAioHttpClient()
    )

    async def whole(number: int) -> object:
        return await client.chat.completions.create(**body(number, stream=False))

    async def chunks(number: int) -> object:
        return [chunk async for chunk in await client.chat.completions.create(**body(number, stream=True))]

    async def bytes_only(number: int) -> object:
        async with client.chat.completions.with_streaming_response.create(**body(number, stream=True)) as response:
            return parsed(b"".join([piece async for piece in response.iter_bytes()]))

    return (bytes_only if raw else chunks if stream else whole), client.close


def bare(base_url: str, *, stream: bool) -> tuple[Ask, Close]:
    import aiohttp

    session: list[aiohttp.ClientSession] = []

    async def ask(number: int) -> object:
        if not session:
            session.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        data = json.dumps(body(number, stream=stream)).encode()
        headers = {"content-type": "application/json", "authorization": "Bearer none"}
        async with session[0].post(f"{base_url}/chat/completions", data=data, headers=headers) as response:
            answer = await response.read()
        return parsed(answer) if stream else json.loads(answer)

    async def close() -> None:
        await session[0].close()

    return ask, close


def parsed(answer: bytes) -> list[Any]:
    return [json.loads(event[6:]) for event in answer.split(b"\n\n") if event.startswith(b"data: {")]


def make(client: str, base_url: str) -> tuple[Ask, Close]:
    kind, form = client.split()
    if kind == "ours":
        return ours(base_url, stream=form == "streamed")
    if kind == "gateway":
        return gateway(base_url)
    if kind == "openai":
        return sdk(base_url, stream=form == "streamed", raw=form == "raw")
    return bare(base_url, stream=form == "raw")


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def measure(client: str, base_url: str, requests: int, at_once: int) -> dict[str, float]:
    ask, close = make(client, base_url)

    async def rounds(count: int) -> None:
        numbers = iter(range(count))

        async def worker() -> None:
            for number in numbers:
                await ask(number)

        await asyncio.gather(*(worker() for _ in range(at_once)))

    await ask(0)
    ready_s = cpu_s()
    await rounds(2 * at_once)
    cpu, wall = cpu_s(), time.perf_counter()
    await rounds(requests)
    cpu, wall = cpu_s() - cpu, time.perf_counter() - wall
    await close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_ms": 1000 * cpu / requests, "rate": requests / wall, "ready_s": ready_s, "mb": memory}


def in_own_process(client: str, options: argparse.Namespace) -> dict[str, float]:
    """Start a fresh server and a fresh client, so that nobody pays for another."""
    command = [sys.executable, str(ROOT / "tests" / "server"), "--latency-ms", str(options.latency_ms)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        base_url = json.loads(server.stdout.readline())["base_url"]
        again = [sys.executable, __file__, "--client", client, "--base-url", base_url]
        again += ["--requests", str(options.requests), "--at-once", str(options.at_once)]
        done = subprocess.run(again, capture_output=True, text=True, check=True, cwd=ROOT)
        import urllib.request

        counts = json.load(urllib.request.urlopen(f"{base_url}/counts"))
        return json.loads(done.stdout) | {"connections": counts["connections"] - 1}
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    parser.add_argument("--forward", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.forward:
        asyncio.run(forward(options.base_url))
        return
    if options.client:
        sys.path.insert(0, str(ROOT))
        print(json.dumps(asyncio.run(measure(options.client, options.base_url, options.requests, options.at_once))))
        return
    print(f"{options.requests} requests, {options.at_once} at once, {options.latency_ms:g} ms latency")
    heads = f"{'CPU ms/request':>15}{'requests/s':>12}{'connections':>13}{'CPU s to first':>16}{'MB':>6}{'of peer':>9}"
    print(f"{'client':17}{heads}")
    found = {client: in_own_process(client, options) for client in CLIENTS}
    for client, one in found.items():
        peer = PEERS.get(client)
        ratio = f"{one['cpu_ms'] / found[peer]['cpu_ms']:.2f}" if peer else ""
        print(
            f"{client:17}{one['cpu_ms']:15.2f}{one['rate']:12.0f}{one['connections']:13.0f}"
            f"{one['ready_s']:16.2f}{one['mb']:6.0f}{ratio:>9}"
        )


if __name__ == "__main__":
    # This file's own folder holds a `requests`, which is also the name of a library.
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT / "benchmarks"]
    main()
