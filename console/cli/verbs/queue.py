"""List or change the queue of runs. It is stored on disk, and a separate process plays it.

`queue` lists it; `queue cancel RUN` removes a run (and stops one that is playing), `queue up RUN` and `queue down RUN`
move it, `queue go` continues after a failure of the machine or the runner.
"""

import argparse

from console.cli.exitcode import Exit
from console.cli.parser import Arguments
from console.core.fault import UsageError
from console.exchange.json_kind import JsonKind
from console.store.run_queue import RunQueue
from console.store.runs import RunFolder

QUEUE = JsonKind(
    "queue",
    "queue",
    "Waiting runs in order; after the change for `queue cancel`, `up`, `down` and `go`.",
    {"is_playing": "true if a process plays the queue", "queue": "place, run, model, suite, state and cases of each"},
)


class QueueArguments(Arguments):
    do: str
    which: list[str]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("do", nargs="?", choices=("list", "cancel", "up", "down", "go"), default="list", metavar="DO",
                        help="list (default), cancel, up, down, go")  # fmt: skip
    parser.add_argument("which", nargs="*", metavar="RUN", help="names or parts of names; `all` with cancel")


def run(args: QueueArguments) -> int:
    """List or change the queue."""
    root = args.runs_root
    queue = RunQueue(root)
    if args.do == "list":
        return _list(args, queue)
    if args.do == "go":
        return _start(args, queue)
    if not args.which:
        raise UsageError(f"queue {args.do} needs a run", hint="`eval-console queue` lists the waiting runs.")
    everything = args.do == "cancel" and args.which == ["all"]
    names = queue.names()[::-1] if everything else [args.find_run(name).name for name in args.which]
    for name in names:
        _change(args, queue, name)
    return _list(args, queue) if args.json else Exit.OK


def _change(args: QueueArguments, queue: RunQueue, name: str) -> None:
    if args.do == "cancel":
        was_live = RunFolder(queue.root / name).is_live
        if not queue.cancel(name):
            raise UsageError(f"{name} is not in the queue", hint="`eval-console queue` lists the waiting runs.")
        if was_live:
            _stop(queue.root / name)
        args.output.info(f"{name}: " + ("stopping; calls in flight may finish" if was_live else "cancelled"))
    elif not queue.move(name, -1 if args.do == "up" else 1):
        args.output.info(f"{name} cannot be moved further {args.do}")


def _stop(run_path: object) -> None:
    import asyncio
    from pathlib import Path

    from console.core.live import Command
    from console.engine.attach import send_command

    asyncio.run(send_command(Path(str(run_path)), Command("stop")))


def _start(args: QueueArguments, queue: RunQueue) -> int:
    from console.engine.runner import wake

    if wake(queue.root):
        args.output.info(f"the queue continues with {queue.names()[0]}")
    else:
        args.output.info("the queue is running" if queue.entries() else "the queue is empty")
    if args.json:
        _list(args, queue)
    return Exit.OK if queue.entries() else Exit.LOCKED


def _list(args: QueueArguments, queue: RunQueue) -> int:
    rows = [_row(queue, number, entry.run) for number, entry in enumerate(queue.entries(), 1)]
    if args.json:
        args.output.data(QUEUE, {"is_playing": queue.is_playing, "queue": rows})
    elif rows:
        args.output.rows(tuple(rows[0]), [tuple(row.values()) for row in rows], right=frozenset({0, 5}))
        if not queue.is_playing and not queue.is_starting:
            args.output.info("the queue is stopped; `eval-console queue go` continues it")
    else:
        args.output.info("the queue is empty; `eval-console run … --queue` adds runs")
    return Exit.OK


def _row(queue: RunQueue, number: int, name: str) -> dict[str, object]:
    try:
        summary = RunFolder(queue.root / name).summary()
    except UsageError:
        return {"place": number, "run": name, "model": "", "suite": "", "state": "damaged", "of": 0}
    return {
        "place": number,
        "run": name,
        "model": summary.model,
        "suite": summary.suite,
        "state": summary.state,
        "of": summary.planned_cases,
    }
