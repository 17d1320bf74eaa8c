"""Reports a run's status to watchers and executes their commands."""

import time
from collections.abc import Sequence

from console.core.case import Case, Key
from console.core.live import Command, Status
from console.core.record import Steered
from console.core.tally import has_grade
from console.engine.early_end import EarlyEnd
from console.engine.player import Player
from console.engine.queue import Job, JobQueue
from console.engine.run_host import RunHost

MAX_CONCURRENCY = 512


class RunControl:
    """The status and commands of one run."""

    queue: JobQueue

    def __init__(self, host: RunHost, player: Player, early_end: EarlyEnd, cases: Sequence[Case]) -> None:
        """Start with the concurrency of the plan; `queue` is needed before a case can be retried."""
        self.concurrency = host.manifest.concurrency
        self.retried: set[Key] = set()
        """Attempts that watchers asked for; only the journal has what the attempts before them left."""
        self._host, self._player, self._early_end, self._cases = host, player, early_end, cases

    def status(self) -> Status:
        host = self._host
        why = host.ending[1] if host.ending else ""
        waits = "" if host.running else self._early_end.waiting_words
        return Status(
            state=self._shown_state(),
            concurrency=self.concurrency,
            activities=host.running.activities,
            endpoints=list(self._player.endpoint_states()),
            workers=list(self._player.worker_states()),
            message=host.provider_pause.why or host.journal.why or why or host.role_warnings.text or waits,
        )

    def _shown_state(self) -> str:
        if not self._host.manual_pause or self._host.phase != "running":
            return self._host.phase
        return "paused" if self._host.running.all_wait else "pausing"

    def execute(self, command: Command) -> None:
        host = self._host
        match command.do:
            case "pause" | "resume":
                host.manual_pause.set(on=command.do == "pause")
            case "stop":
                host.manual_pause.set(on=False)
                host.end("stopped")
            case "kill":
                host.manual_pause.set(on=False)
                host.cancel()
            case "concurrency":
                self.concurrency = max(1, min(MAX_CONCURRENCY, command.value))
            case "retry_now":
                host.provider_pause.end()
                self._player.retry_now()
                host.retry_line.retry_now()
            case "stop_case" if command.key is not None:
                host.running.cancel(command.key)
            case "retry_case" if self._retry_case(command.key):
                pass
            case _:
                return
        host.append(Steered(at=time.time(), what=command.do, value=str(command.value or command.key or "")))
        host.changed.set()

    def _retry_case(self, key: Key | None) -> bool:
        """Queue another attempt at a rollout that ended without a grade; return False for any other."""
        finished = self._host.fold.latest.get(key.slot) if key is not None else None
        if finished is None or has_grade(finished) or self._host.ending:
            return False
        slot = finished.key.slot
        case = next((case for case in self._cases if case.id == slot[0]), None)
        if case is None or slot in self._host.fold.unfinished or slot in self.queue.slots:
            return False
        self.retried.add(next_key := Key(*slot, finished.key.attempt + 1))
        self.queue.add(Job(case, next_key))
        return True
