"""Driver of Inspect: plays samples of one task as ordered by the engine; the engine's gateway serves all its models.

Needs inspect_ai and, of this program, only `link`. One evaluation plays everything, so that Inspect starts once;
a sample source adds each sample as the engine asks for it.
"""

import asyncio
import os
import tempfile
from typing import Any

from link import Link, versions

ROLLOUT = "x-console-rollout"
"""Header that names the rollout of a call."""
_UNLIMITED = 10_000
"""Maximum number of concurrent samples and calls: no limit, as the engine starts them."""


def versions_of(opening: dict[str, Any]) -> dict[str, str]:
    """Return the versions of Inspect and of the package of a registered task."""
    task = opening["task"]
    return versions("inspect_ai", *([task.split("/")[0]] if "/" in task and ".py" not in task else []))


def load(opening: dict[str, Any]) -> Any:
    """Return the task named by the engine."""
    from inspect_ai._eval.loader import load_tasks

    tasks = load_tasks([opening["task"]], opening["args"])
    if len(tasks) != 1:
        raise ValueError(f"{opening['task']!r} contains {len(tasks)} tasks; add @NAME to select one")
    return tasks[0]


def numbered(samples: Any) -> list[Any]:
    """Return the samples, with the ids that Inspect would give them."""
    samples = list(samples)
    for number, sample in enumerate(samples, 1):
        if sample.id is None:
            sample.id = number
    return samples


def describe(sample: Any) -> dict[str, Any]:
    """Return the fields of a sample that the engine shows."""
    asked = sample.input
    if not isinstance(asked, str):
        asked = "\n".join(str(message.text) for message in asked if message.role in ("system", "user"))
    fields = {"id": str(sample.id), "input": asked[:20_000], "target": sample.target}
    return fields | ({"choices": sample.choices} if sample.choices else {})


def list_cases(link: Link) -> None:
    """Send the list of samples and exit."""
    register_models(EngineSource(link))
    os.environ["INSPECT_EVAL_MODEL"] = "console/model"  # for tasks that request their model on creation
    task = load(link.opening)
    cases = [describe(sample) for sample in numbered(task.dataset)]
    versions_now = versions_of(link.opening)
    link.say("cases", name=task.name, cases=cases, versions=versions_now, repeats=task.epochs or 1)


def send_versions(link: Link) -> None:
    """Send the versions and exit."""
    link.say("versions", versions=versions_of(link.opening))


class EngineSource:
    """Samples by id, and a queue of the engine's orders."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.samples: dict[str, Any] = {}
        self.tokens: dict[tuple[str, int], str] = {}

    def finished(self, sample: Any) -> None:
        """Report a sample's result to the engine."""
        from inspect_ai.scorer import value_to_float

        token = self.tokens.pop((str(sample.id), sample.epoch), None)
        if token is None:
            return
        number_of = value_to_float()
        scores: dict[str, Any] = {}
        for name, score in (sample.scores or {}).items():
            value = score.value
            parts = value if isinstance(value, dict) else {"": value}
            numbers = {
                part: number_of(part_value)
                for part, part_value in parts.items()
                if not isinstance(part_value, (dict, list))
            }
            scores[name] = {"value": value, "numbers": numbers, "answer": score.answer, "why": score.explanation}
        self.link.say(
            "finished",
            token=token,
            scores=scores,
            answer=sample.output.completion if sample.output else "",
            error=sample.error.message if sample.error else "",
            limit=sample.limit.type if sample.limit else "",
            replies=[reply_of(message) for message in sample.messages if message.role == "assistant"],
        )


def reply_of(message: Any) -> dict[str, Any]:
    """Return a reply as a chat message, by which the engine recognizes the calls of the transcript."""
    calls = [
        {"id": call.id, "function": {"name": call.function, "arguments": call.arguments}}
        for call in message.tool_calls or ()
    ]
    return {"content": message.text, "tool_calls": calls}


def register_models(engine: EngineSource) -> None:
    """Register `console/ROLE`, the engine's models; the engine does the waiting, retrying and rate limiting."""
    from inspect_ai.log._samples import sample_active
    from inspect_ai.model import modelapi
    from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

    gateway = engine.link.opening.get("gateway", "http://127.0.0.1:9")

    @modelapi("console")
    class ConsoleAPI(OpenAICompatibleAPI):
        def __init__(self, model_name: str, config: Any, **settings: Any) -> None:
            address = {"base_url": f"{gateway}/r/{model_name}/v1", "api_key": "none", "client_timeout": 1e7}
            super().__init__(model_name, config=config, service="console", **{**settings, **address})

        def request_headers(self, config: Any) -> dict[str, str]:
            active = sample_active()
            token = engine.tokens.get((str(active.sample.id), active.epoch), "") if active else ""
            return {**super().request_headers(config), ROLLOUT: token}

        async def count_tokens(self, *args: Any, **kwargs: Any) -> int:
            return len(str(args or kwargs)) // 4  # the default implementation downloads a file

        async def count_text_tokens(self, text: str) -> int:
            return len(text) // 4

        def max_connections(self) -> int:
            return _UNLIMITED


def sample_source(engine: EngineSource) -> Any:
    """Return a source that adds samples as the engine orders them; Inspect asks for more only while none is playing."""
    from inspect_ai import SampleSource, enqueue_sample

    class Source(SampleSource):
        feeding: asyncio.Task[None] | None = None

        async def next_samples(self) -> list[Any]:
            if self.feeding is None:
                self.added = asyncio.Event()
                orders: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
                loop = asyncio.get_running_loop()
                self.feeding = asyncio.create_task(self.feed(orders))
                engine.link.follow(lambda order: loop.call_soon_threadsafe(orders.put_nowait, order))
            self.added.clear()
            await self.added.wait()
            return []

        async def feed(self, orders: asyncio.Queue[dict[str, Any]]) -> None:
            while True:
                order = await orders.get()
                if order["do"] != "start":
                    continue  # a canceled sample is held at its next call
                sample = engine.samples.get(order["id"])
                if sample is None:
                    words = "the task no longer has this sample"
                    engine.link.say("finished", token=order["token"], scores={}, error=words)
                    continue
                engine.tokens[order["id"], order["epoch"]] = order["token"]
                enqueue_sample(sample.model_copy(deep=True), epoch=order["epoch"])
                self.added.set()

        async def sample_complete(self, sample: Any) -> None:
            engine.finished(sample)

    return Source()


def play(link: Link) -> None:
    """Play samples until the engine disconnects."""
    import inspect_ai

    engine = EngineSource(link)
    register_models(engine)
    source = sample_source(engine)

    @inspect_ai.task(name="console")
    def console() -> Any:  # loaded by Inspect, as tasks may request their models on creation
        made = load(link.opening)
        engine.samples = {str(sample.id): sample for sample in numbered(made.dataset)}
        return inspect_ai.task_with(made, dataset=source)

    logs = inspect_ai.eval(
        console,
        model="console/model",
        model_roles={name: f"console/{role}" for name, role in link.opening["roles"].items()},
        display="none",
        log_dir=tempfile.mkdtemp(prefix="eval-console-inspect-"),
        log_realtime=False,
        log_samples=True,
        fail_on_error=False,
        max_samples=_UNLIMITED,
        epochs=1,
    )
    error = next((log.error.message for log in logs if log.error), "the evaluation ended unexpectedly")
    link.say("failed", message=error)


def main() -> None:
    """Carry out the request in the first message."""
    link = Link()
    try:
        {"list": list_cases, "versions": send_versions, "play": play}[link.opening["do"]](link)
    except Exception as error:
        link.say("failed", message=f"{type(error).__name__}: {error}")
        raise
    os._exit(0)


if __name__ == "__main__":
    main()
