"""Run the test server as a process: `python tests/server --port 0`. The first line on stdout says where it is.

`--script FILE` answers from JSON lines `{"contains": "in the last message", "content": …, "calls": [[name, {…}]]}`;
other fields are those of `Scripted`. GET /v1/counts gives the counters.
"""

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from server.openai_server import OpenAIServer, Scripted, last_text, say_ok  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--itl-ms", type=float, default=0.0, help="time between two stream events; 0: at once")
    parser.add_argument("--tokens", type=int, default=0, help="answer with this many words instead")
    parser.add_argument("--limit-rps", type=float, default=0.0)
    parser.add_argument("--models", default="test-model")
    parser.add_argument("--script", type=Path)
    options = parser.parse_args()
    script = _read(options.script) if options.script else []

    def answer(request: dict[str, Any]) -> Scripted:
        text = last_text(request)
        found = next((one for contains, one in script if contains in text), None)
        if found is None:
            found = Scripted("word " * options.tokens, chunk=5) if options.tokens else say_ok(request)
        found.latency_s = found.latency_s or options.latency_ms / 1000
        found.itl_s = found.itl_s or options.itl_ms / 1000
        return found

    server = OpenAIServer(
        answer, models=tuple(options.models.split(",")), limit_rps=options.limit_rps, keep=False, port=options.port
    )

    def announce(port: int) -> None:
        print(json.dumps({"port": port, "base_url": f"http://127.0.0.1:{port}/v1"}), flush=True)

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        try:
            await server.serve(announce)
        except asyncio.CancelledError:
            return

    asyncio.run(run())


def _read(path: Path) -> list[tuple[str, Scripted]]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return [(row.pop("contains"), Scripted(**row)) for row in rows]


if __name__ == "__main__":
    main()
