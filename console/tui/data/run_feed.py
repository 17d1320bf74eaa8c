"""`RunFeed`: follows one run through its journal, and through the engine's socket for data not yet on disk.

A thread reads and decodes the journal in chunks; the app's loop applies them for a few milliseconds at a time, to stay
responsive with large runs. Conversations are built on demand, and the 64 most recently used are cached. `RunFeeds`
holds one feed per open run.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from console.core.case import Key, Slot
from console.core.fault import UsageError, os_errors_as
from console.core.live import AnyFrame, Began, Command, Delta, Deltas, Status
from console.core.record import AnyRecord, Asked, Finished
from console.core.run import Manifest
from console.core.source import IN_PLACE
from console.engine.attach import EngineLink
from console.engine.background import start_task
from console.insight.conversation import Conversation
from console.insight.overview import Overview
from console.insight.overview_snapshot import decode_overview, encode_overview, layout
from console.store.journal_index import SAVED_FROM_BYTES, JournalIndex
from console.store.runs import STARTING_S, RunFolder

PIECE_BYTES = 128 << 10
"""Journal bytes decoded at a time; small, so that other threads need not wait long."""
PIECES_AHEAD = 4
"""Maximum number of decoded chunks waiting to be applied."""
MOST_FRAMES = 2_000
"""Number of frames waiting for the journal to be read above which streamed text is dropped."""
LIVE_POLL_S = 0.02
START_POLL_S = 0.1
IDLE_POLL_S = 1.0
PREFETCH_BYTES = 512 << 10
"""Maximum journal bytes of a conversation to prefetch."""
BEGINNING = 2
"""Number of initial deltas of a reply for which its row is redrawn immediately."""
KEPT = 64
"""Maximum number of cached conversations."""


@dataclass(slots=True)
class Changes:
    """Changes since the last pump."""

    slots: set[Slot] = field(default_factory=set[Slot])
    """Rollouts whose row changed."""
    keys: set[Key] = field(default_factory=set[Key])
    """Conversations with new text or records."""
    status: bool = False
    """True if the engine sent a status, connected or disconnected."""
    records: int = 0
    """Number of records applied."""
    settled: bool = False
    """True if the journal has been read to its end for the first time."""
    begun: set[Slot] = field(default_factory=set[Slot])
    """Rollouts whose reply has just begun."""
    rewound: bool = False
    """True if everything was reset to the beginning, so that all must be redrawn."""

    def merge(self, later: "Changes") -> None:
        """Add later changes to these."""
        self.slots |= later.slots
        self.keys |= later.keys
        self.status |= later.status
        self.records += later.records
        self.settled |= later.settled
        self.begun |= later.begun
        self.rewound |= later.rewound

    def __bool__(self) -> bool:
        return bool(self.slots or self.keys or self.status or self.records or self.settled or self.rewound)


Subscriber = Callable[[Changes], None]


class FirstTokenWakeup:
    """Wakes the journal thread, and then the drawing task, as soon as a reply begins.

    A reply's first frame arrives in the loop, but can be applied only once the journal has been read up to its arrival.
    """

    def __init__(self) -> None:
        self._expected: set[Key] = set()
        self._ready: set[Key] = set()
        """Conversations awaited when the last read started; their frames can be applied after it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._must_read = threading.Event()
        self._can_draw = asyncio.Event()

    def start(self) -> None:
        """Use the running loop."""
        self._loop = asyncio.get_running_loop()

    # In the loop -----------------------------------------------------------------------------------------------------

    def expect(self, keys: Iterable[Key]) -> None:
        """Have the journal read immediately, because a reply has begun in these conversations."""
        self._expected.update(keys)
        self._must_read.set()

    def clear(self) -> None:
        """Forget the expected replies, after all frames have been applied."""
        self._expected.clear()
        self._ready = set()

    async def wait(self, seconds: float, awaited: Callable[[Key], bool]) -> None:
        """Wait until a reply for which `awaited` is true can be drawn, or for at most `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    await self._can_draw.wait()
                    self._can_draw.clear()
                    if any(map(awaited, self._ready)):
                        return

    # In the thread ---------------------------------------------------------------------------------------------------

    def begin_read(self) -> None:
        """Record which replies can be drawn after the read that begins now."""
        self._ready = self._expected.copy()

    def pause(self, seconds: float) -> None:
        """Wake the drawing task if a reply can be drawn, then wait for `expect` or for at most `seconds`."""
        if self._ready and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the app has ended meanwhile
                self._loop.call_soon_threadsafe(self._can_draw.set)
        self._must_read.wait(seconds)
        self._must_read.clear()

    def stop(self) -> None:
        """Wake the thread so that it can end."""
        self._must_read.set()


class RunFeed:
    """Follows one run; call `pump` often, from the loop it was started in."""

    def __init__(self, folder: RunFolder) -> None:
        """Read the manifest; the journal is read after `start`.

        Raises:
            UsageError: the folder is not a run.
        """
        self.folder = folder
        self.manifest: Manifest = folder.manifest()
        self.overview = Overview()
        self.is_read = False
        """True if the journal has been read to its end once."""
        self.is_live = folder.is_live
        self._seen_live = self.is_live
        self._is_deleted = False
        self.problem: UsageError | None = None
        """Reason why the journal cannot be read any further now; what was read stays."""
        self._index = JournalIndex(folder.journal_path)
        self._pieces: deque[list[AnyRecord]] = deque()
        self._room = threading.Semaphore(PIECES_AHEAD)
        self._stop = threading.Event()
        self.wakeup = FirstTokenWakeup()
        """Wakes the drawing task as soon as a reply begins."""
        self._read_until = -1.0
        self._recalled: Overview | None = None
        self._kept_at = 0
        """Journal offset at which the overview was last saved or restored."""
        self._reading = threading.Lock()
        self._thread: threading.Thread | None = None
        self._frames: deque[tuple[float, AnyFrame]] = deque()
        self._link: EngineLink | None = None
        self._skips_text = False
        """True while the journal is read more slowly than it grows, so that the engine sends only its state."""
        self._attaching: asyncio.Task[None] | None = None
        self._kept: OrderedDict[Key, Conversation] = OrderedDict()
        self._flights: dict[tuple[Key, int], tuple[Began, list[Delta]]] = {}
        self._subscribers: list[Subscriber] = []

    # Life ------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start reading and connecting to an engine."""
        self.wakeup.start()
        self._thread = threading.Thread(target=self._follow, name="journal", daemon=True)
        self._thread.start()
        self._attaching = start_task(self._attach(), "attach")

    def close(self) -> None:
        """Stop reading and disconnect; the run itself continues."""
        self._stop.set()
        self.wakeup.stop()
        self._room.release()
        if self._attaching is not None:
            self._attaching.cancel()
        if self._link is not None:
            self._link.close()
            self._link = None

    @property
    def is_attached(self) -> bool:
        """True if an engine is connected."""
        return self._link is not None

    @property
    def is_busy(self) -> bool:
        """True if changes may arrive at any moment."""
        return self.is_live or self.is_starting or not self.is_read or bool(self._pieces)

    @property
    def is_starting(self) -> bool:
        """True if the run was just launched and its engine has not opened the journal yet."""
        return not self.overview.fold.sessions and time.time() - self.manifest.at < STARTING_S

    @property
    def has_more(self) -> bool:
        """True if decoded records are waiting to be applied."""
        return bool(self._pieces)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber` with the changes of every pump."""
        self._subscribers.append(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self._subscribers.remove(subscriber)

    @property
    def damages(self) -> int:
        """Number of unreadable journal lines."""
        return len(self._index.damages)

    @property
    def remote(self) -> bool:
        """True if the terminal is remote, so that fewer frames should be drawn."""
        return bool(os.environ.get("SSH_CONNECTION"))

    def now(self) -> float:
        """Return the feed's current time, in seconds since the epoch."""
        return time.time()

    def send(self, command: Command) -> bool:
        """Send a command to the engine; return False if none is connected."""
        if self._link is None:
            return False
        self._link.send(command)
        return True

    # Reading, in a thread --------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        self._recall()
        while not self._stop.is_set():
            self._room.acquire()
            if self._stop.is_set():
                return
            live = self.folder.is_live
            self.wakeup.begin_read()
            begun = time.monotonic()
            if self._read_piece():
                continue
            self._room.release()
            self._is_deleted = self._index.offset > 0 and not self.folder.has_journal
            self.is_live, self._read_until = live, begun
            self._keep_if_over()
            self.wakeup.pause(LIVE_POLL_S if live else START_POLL_S if self.is_starting else IDLE_POLL_S)

    def _read_piece(self) -> bool:
        """Read on in the journal; return False at its end, or while something else is in its place."""
        with self._reading:
            try:
                piece, self.problem = self._index.read_new(PIECE_BYTES), None
            except UsageError as error:
                self.problem = error
                return False
            if piece:
                self._pieces.append(piece)
            return bool(piece)

    def _recall(self) -> None:
        """Restore a saved overview, to avoid reading a long journal."""
        with self._reading:
            self._recalled = self._index.restore_saved(
                self.folder.index_path, layout(), decode_overview, live=self.folder.is_live
            )
            self._kept_at = self._index.offset

    def _keep_if_over(self) -> None:
        """Save the overview of an ended run with a long journal, once all of it has been applied."""
        end = self._index.offset
        if not self.is_live and self.is_read and not self._pieces and end >= SAVED_FROM_BYTES and end != self._kept_at:
            self._index.save(self.folder.index_path, layout(), encode_overview(self.overview))
            self._kept_at = end

    async def _attach(self) -> None:
        """Stay connected while an engine plays the run."""
        while True:
            self._link = await EngineLink.connect(self.folder.path) if self.is_live else None
            if self._link is None:
                await asyncio.sleep(0.2 if self.is_live or self.is_starting else IDLE_POLL_S)
                continue
            with contextlib.suppress(OSError):
                async for frame in self._link.frames():
                    self._receive(frame)
                    if isinstance(frame, Deltas) and frame.begins:
                        self.wakeup.expect(item.key for item in frame.items)
            self._link.close()
            self._link = None
            self._frames.append((time.monotonic(), Status("closed", 0)))
            await asyncio.sleep(0.2)

    def _receive(self, frame: AnyFrame) -> None:
        """Queue a frame until the journal has been read up to now; of states only the last of several matters."""
        if isinstance(frame, Status) and self._frames and isinstance(self._frames[-1][1], Status):
            self._frames.pop()
        self._frames.append((time.monotonic(), frame))
        if len(self._frames) > MOST_FRAMES and self.send(Command("state_only")):
            self._skips_text = True
            states = [waiting for waiting in self._frames if isinstance(waiting[1], Status)]
            self._frames = deque(states[-1:])

    def _catch_up(self) -> None:
        """Connect again once the journal has been read, for the text of the calls in flight."""
        if self._skips_text and self._link is not None:
            self._skips_text = False
            self._link.close()

    # Applying, in the app's loop -------------------------------------------------------------------------------------

    def pump(self, budget_s: float = 0.012) -> Changes:
        """Apply what has arrived, for at most about `budget_s` seconds, and return the changes."""
        changes = Changes()
        until = time.perf_counter() + budget_s
        read_until = self._read_until
        if self._recalled is not None:
            self.overview, self._recalled = self._recalled, None
            changes.rewound = True
        while self._pieces and time.perf_counter() < until:
            self._apply_some(self._pieces[0], until, changes)
            if not self._pieces[0]:
                self._pieces.popleft()
                self._room.release()
        if not self._pieces:
            # Records first: a frame waits until the journal has been read up to its arrival.
            while self._frames and self._frames[0][0] <= read_until:
                self._apply_frame(self._frames.popleft()[1], changes)
            if not self._frames:
                self.wakeup.clear()
                self._catch_up()
            if read_until > 0 and not self.is_read:
                self.is_read = changes.settled = True
        changes.status |= self._seen_live != self.is_live or self.overview.is_deleted != self._is_deleted
        self._seen_live, self.overview.is_deleted = self.is_live, self._is_deleted
        return self._handed_on(changes)

    def _handed_on(self, changes: Changes) -> Changes:
        """Notify all subscribers of the changes, if any, and return them."""
        changes.slots = self.overview.pop_changes()
        if changes:
            for subscriber in list(self._subscribers):
                subscriber(changes)
        return changes

    def _apply_some(self, piece: list[AnyRecord], until: float, changes: Changes) -> None:
        done = 0
        for record in piece:
            self._apply(record, changes)
            done += 1
            if done % 32 == 0 and time.perf_counter() >= until:
                break
        changes.records += done
        del piece[:done]

    def _apply(self, record: AnyRecord, changes: Changes) -> None:
        self.overview.apply(record)
        key = getattr(record, "key", None)
        if key is None:
            return
        if isinstance(record, Asked):
            self._flights.pop((key, record.n), None)
        elif isinstance(record, Finished):
            for flight in [flight for flight in self._flights if flight[0] == key]:
                del self._flights[flight]
        conversation = self._kept.get(key)
        if conversation is not None:
            conversation.apply(record)
            changes.keys.add(key)

    def _apply_frame(self, frame: AnyFrame, changes: Changes) -> None:
        self.overview.apply_frame(frame)
        match frame:
            case Status():
                self._apply_status(frame, changes)
            case Began():
                if not self._is_over(frame.key):  # a resent call starts over
                    self._flights[frame.key, frame.n] = frame, []
                if (conversation := self._kept.get(frame.key)) is not None:
                    conversation.begin(frame)
                    changes.keys.add(frame.key)
            case Deltas():
                for delta in frame.items:
                    self._apply_delta(delta, changes)

    def _apply_status(self, frame: Status, changes: Changes) -> None:
        changes.status = True
        if frame.state == "closed":
            self.overview.disconnect()
            self._flights.clear()
        for activity in frame.activities:
            if (conversation := self._kept.get(activity.key)) is not None:
                conversation.act(activity)
                changes.keys.add(activity.key)

    def _apply_delta(self, delta: Delta, changes: Changes) -> None:
        if (flight := self._flights.get((delta.key, delta.n))) is not None:
            flight[1].append(delta)
            if len(flight[1]) <= BEGINNING:
                changes.begun.add(delta.key.slot)
        if (conversation := self._kept.get(delta.key)) is not None:
            conversation.extend(delta)
            changes.keys.add(delta.key)

    def _is_over(self, key: Key) -> bool:
        rollout = self.overview.rollout(key)
        return rollout is not None and rollout.key == key and rollout.outcome is not None

    # Conversations ---------------------------------------------------------------------------------------------------

    def is_kept(self, key: Key) -> bool:
        """Return whether a conversation is cached."""
        return key in self._kept

    def conversation(self, key: Key) -> Conversation:
        """Return a conversation as known so far, from the cache or the journal.

        Raises:
            UsageError: the journal is gone.
        """
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = self._fold(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return kept

    def _fold(self, key: Key) -> Conversation:
        conversation = Conversation(key, self.folder.read_file)
        with self._reading:
            with os_errors_as("the journal cannot be read", where=self.folder.name):
                records = self._index.read(key)
            waiting = self._waiting(key)
        for record in self._whole(records[: len(records) - waiting]):
            conversation.apply(record)
        for (owner, _), (began, deltas) in self._flights.items():
            if owner == key:
                conversation.begin(began)
                for delta in deltas:
                    conversation.extend(delta)
        rollout = self.overview.rollout(key)
        if rollout is not None and rollout.is_running:
            conversation.state, conversation.why = rollout.state, rollout.why
        return conversation

    def _whole(self, records: list[AnyRecord]) -> list[AnyRecord]:
        """Return the full records of a conversation; those of a log imported in place come from the log."""
        if IN_PLACE not in self.manifest.setting.extras:
            return records
        from console.exchange.imports.in_place import whole_records  # imported late: few runs need it

        return whole_records(self.manifest, records)

    def _waiting(self, key: Key) -> int:
        """Return the number of records of a conversation that are read but not applied yet."""
        return sum(getattr(record, "key", None) == key for piece in list(self._pieces) for record in piece)

    def keys_of(self, slot: Slot) -> tuple[Key, ...]:
        """Return the attempts at a rollout, oldest first."""
        rollout = self.overview.rollouts.get(slot)
        return tuple(rollout.attempts) if rollout else ()

    def prefetch(self, keys: Sequence[Key]) -> None:
        """Cache small conversations in advance, so that stepping to them is instant."""
        for key in keys:
            if key not in self._kept and 0 < self._index.bytes_of(key) < PREFETCH_BYTES:
                with contextlib.suppress(UsageError):  # reported when the user opens the conversation
                    self.conversation(key)


class RunFeeds:
    """The app's open feeds, one per run, shared by its screens."""

    def __init__(self) -> None:
        self._open: dict[Path, tuple[RunFeed, int]] = {}
        self.places: dict[Path, tuple[str, str]] = {}
        """Order and cursor of each watched run's list, restored on return."""

    def open(self, folder: RunFolder) -> RunFeed:
        """Return a run's started feed; must be called in the app's loop.

        Raises:
            UsageError: the folder is not a run.
        """
        feed, users = self._open.get(folder.path, (None, 0))
        if feed is None:
            feed = RunFeed(folder)
            feed.start()
        self._open[folder.path] = feed, users + 1
        return feed

    def close(self, feed: RunFeed) -> None:
        """Release a feed, which ends with its last user."""
        _, users = self._open.pop(feed.folder.path, (feed, 1))
        if users > 1:
            self._open[feed.folder.path] = feed, users - 1
        else:
            feed.close()
