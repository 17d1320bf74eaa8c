"""Driver of verifiers: plays rollouts of one environment as ordered by the engine.

Needs verifiers (the API of 0.1: `load_environment`, `run_rollout`), and, of this program, only `link`. Each rollout has
a client with its own address; calls of other clients, such as those of judges, are identified by a header that is added
to all requests to the gateway during the rollout.
"""

import asyncio
import contextlib
import importlib
import json
import os
from contextvars import ContextVar
from typing import Any

from link import Link, versions

ROLLOUT = "x-console-rollout"
TOKEN: ContextVar[str] = ContextVar("token", default="")
"""Token of the rollout that the current task plays."""


def versions_of(opening: dict[str, Any]) -> dict[str, str]:
    """Return the versions of verifiers and of the environment's package."""
    return versions("verifiers", opening["environment"].split("/")[-1])


def load(opening: dict[str, Any]) -> Any:
    """Load the environment; `{ROLE}` in its arguments is the address of the model that plays a role."""
    import verifiers

    text = json.dumps(opening["args"])
    for role in ("model", "judge", "user", "embedding"):
        address = f"{opening.get('gateway', 'http://127.0.0.1:9')}/r/{role}/v1"
        text = text.replace("{" + role + "}", address)
    return verifiers.load_environment(opening["environment"], **json.loads(text))


def rows_of(environment: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of the evaluation by id."""
    return {str(row["example_id"]): row for row in environment.get_eval_dataset().to_list()}


def describe(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that the engine shows."""
    prompt = row.get("prompt") or row.get("question") or ""
    if not isinstance(prompt, str):
        prompt = "\n".join(str(message.get("content", "")) for message in prompt)
    return {"id": name, "input": prompt[:20_000], "target": row.get("answer", "")}


def list_cases(link: Link) -> None:
    """Send the list of rows and exit."""
    cases = [describe(name, row) for name, row in rows_of(load(link.opening)).items()]
    link.say("cases", name=link.opening["environment"], cases=cases, versions=versions_of(link.opening))


def mark_calls(gateway: str) -> None:
    """Add the rollout's token to all calls that go to the gateway."""

    def marked(send: Any) -> Any:
        def wrapper(self: Any, request: Any, **options: Any) -> Any:
            if str(request.url).startswith(gateway):
                request.headers[ROLLOUT] = TOKEN.get()
            return send(self, request, **options)

        return wrapper

    for name in ("httpx", "httpx2"):  # the client of openai is built on one of them
        with contextlib.suppress(ImportError):
            library = importlib.import_module(name)
            for client in (library.Client, library.AsyncClient):
                client.send = marked(client.send)


async def play(link: Link) -> None:
    """Play rollouts until the engine disconnects."""
    gateway = link.opening["gateway"]
    os.environ.update(CONSOLE_KEY="none", OPENAI_API_KEY="none", OPENAI_BASE_URL=f"{gateway}/r/judge/v1")
    mark_calls(gateway)
    environment = load(link.opening)
    rows = rows_of(environment)
    playing: dict[str, asyncio.Task[None]] = {}
    loop, orders = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()
    link.follow(lambda order: loop.call_soon_threadsafe(orders.put_nowait, order))
    while True:
        order = await orders.get()
        token = order["token"]
        if order["do"] == "start":
            playing[token] = asyncio.create_task(play_row(link, environment, rows.get(order["id"]), token))
            playing[token].add_done_callback(lambda task, token=token: playing.pop(token, None))
        elif token in playing:
            playing[token].cancel()


async def play_row(link: Link, environment: Any, row: dict[str, Any] | None, token: str) -> None:
    """Play one rollout and report its result to the engine."""
    from verifiers.types import ClientConfig

    TOKEN.set(token)
    base = f"{link.opening['gateway']}/c/{token}/v1"
    client = ClientConfig(api_base_url=base, api_key_var="CONSOLE_KEY", timeout=1e7, max_retries=0)
    try:
        if row is None:
            raise LookupError("the environment no longer has this row")
        link.say("finished", token=token, **result_of(await environment.run_rollout(row, client, "console", {})))
    except Exception as error:
        link.say("finished", token=token, error=f"{type(error).__name__}: {error}")


def result_of(output: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, scores and error of a rollout."""
    numbers = {"reward": output.get("reward"), **(output.get("metrics") or {})}
    scores = {name: {"value": value, "numbers": {"": value}} for name, value in numbers.items()}
    completion = output.get("completion") or ""
    replies: list[dict[str, Any]] = []
    if not isinstance(completion, str):
        replies = [reply_of(message) for message in completion if message.get("role") == "assistant"]
        completion = str(replies[-1]["content"] or "") if replies else ""
    error = output.get("error")
    return {
        "scores": scores,
        "answer": completion,
        "error": json.dumps(error, default=str)[:2000] if error else "",
        "replies": replies,
    }


def reply_of(message: Any) -> dict[str, Any]:
    """Return a reply as a chat message, by which the engine recognizes the calls of the transcript."""
    made = [json.loads(call) if isinstance(call, str) else call for call in message.get("tool_calls") or ()]
    calls = [{"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}} for call in made]
    return {"content": message.get("content"), "tool_calls": calls}


def main() -> None:
    """Carry out the request in the first message."""
    link = Link()
    try:
        if link.opening["do"] == "versions":
            link.say("versions", versions=versions_of(link.opening))
        elif link.opening["do"] == "list":
            list_cases(link)
        else:
            asyncio.run(play(link))
    except Exception as error:
        link.say("failed", message=f"{type(error).__name__}: {error}")
        raise
    os._exit(0)


if __name__ == "__main__":
    main()
