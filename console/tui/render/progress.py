"""Statistics of a run as text: progress line, state, tokens, cost, endpoints and workers."""

import time
from collections.abc import Iterable, Sequence

from textual.content import Content

from console.core.live import EndpointState, Status, WorkerState, slowed_words
from console.core.looks import latest_look
from console.core.outcome import BLAME_PREFIX
from console.core.run import Manifest, ModelFacts, Tally
from console.core.spending import RoleSpending
from console.core.wait import batch_words, slowed_by
from console.core.weights import weights_warning
from console.insight import number_format
from console.insight.executed_code import Confinement
from console.insight.overview import Overview
from console.insight.rollout import Rollout
from console.insight.run_number import score_basis
from console.insight.warnings import server_warnings
from console.store.runs import STARTING_S
from console.suites.headline import headline_of
from console.tui.render import lines
from console.tui.render.lines import LONGEST_ID, stacked
from console.tui.render.row_cells import not_run_words
from console.tui.sanitize import one_line
from console.tui.symbols import MUTED, SYMBOLS, muted, outcome_counts, state_word

Used = tuple[ModelFacts, RoleSpending]
FAILING = 3
"""Consecutive faults after which an endpoint counts as failing."""
_LONG_PAUSE_S = 5.0
"""Seconds until an endpoint asks again from which its run has no time left; shorter pauses are part of its pace."""
SILENT_S = 60.0
"""Minimum seconds without a change in any conversation before the models count as silent."""


def token_words(overview: Overview) -> str:
    """Return the tokens of all roles, such as `1.91 M in  184 k out`."""
    tally, unsettled = overview.fold.tally, _unsettled(overview)
    sent = tally.input_tokens + sum(spending.input_tokens for _, spending in unsettled)
    written = tally.output_tokens + sum(spending.output_tokens for _, spending in unsettled)
    return f"{number_format.count(sent)} in  {number_format.count(written)} out"


def cost_words(overview: Overview, manifest: Manifest) -> str:
    """Return total cost and cost by role: `$1.15   $0.84 model   $0.31 judge   embedding simulated`."""
    roles = _roles(manifest)
    if all(facts.simulated for facts in roles.values()):
        return "simulated, free"
    parts = [_of_role(role, facts, overview.spending.get(role)) for role, facts in roles.items() if len(roles) > 1]
    total = _sum(overview, manifest)
    return "   ".join(["unknown" if total == _UNKNOWN else total, *(parts if overview.spending else [])])


def short_cost(overview: Overview, manifest: Manifest) -> str:
    """Return the run's cost and the simulated roles: `$1.15, embedding simulated`, or just `simulated`."""
    roles = _roles(manifest)
    simulated = [role for role, facts in roles.items() if facts.simulated]
    if len(simulated) == len(roles):
        return "simulated"
    return ", ".join([_sum(overview, manifest), *([f"{' and '.join(simulated)} simulated"] if simulated else [])])


def _roles(manifest: Manifest) -> dict[str, ModelFacts]:
    return {"model": manifest.model, **manifest.roles}


def _unsettled(overview: Overview) -> list[tuple[str, RoleSpending]]:
    return [pair for roles in overview.fold.unsettled.values() for pair in roles.items()]


def _sum(overview: Overview, manifest: Manifest) -> str:
    """Return the cost of finished and unfinished conversations; a lower bound if part of it is unknown."""
    tally, roles = overview.fold.tally, _roles(manifest)
    unsettled = [(roles[role], spending) for role, spending in _unsettled(overview) if role in roles]
    return _money(unsettled, tally.cost_usd, partial=tally.cost_unknown > 0)


def _of_role(role: str, facts: ModelFacts, used: RoleSpending | None) -> str:
    if facts.simulated:
        return f"{role} simulated"
    if facts.provider == "local":
        return f"{role} local"
    words = _money([(facts, used)] if used else [])
    return f"{role} cost unknown" if words == _UNKNOWN else f"{words} {role}"


_UNKNOWN = "cost unknown"


def _money(used: Iterable[Used], cost_usd: float = 0.0, *, partial: bool = False) -> str:
    for facts, spending in used:
        cost_usd += spending.cost_usd(facts) or 0.0
        partial |= spending.is_partial(facts)
    return _UNKNOWN if partial and not cost_usd else number_format.money(cost_usd, at_least=partial)


def outcome_words(
    tally: Tally, *, with_setup: bool = True, explains_setup: bool = True, with_zeros: bool = True
) -> Content:
    """Return the counts of outcomes, `✓ 96  ✗ 21  ! 0  ? 0`, of cases not run and, if requested, of setup.

    Without zeros, an outcome that did not occur is left out, except that passes are always counted.
    """
    cells = [
        Content.styled(f"{mark} {number_format.count(count)}", style if count else MUTED)
        for place, (mark, count, style) in enumerate(outcome_counts(tally))
        if count or with_zeros or not place
    ]
    cells += not_run_words(tally)
    if tally.setup_done and with_setup:
        note = " (not graded)" if explains_setup else ""
        cells.append(muted(f"{SYMBOLS.setup} {number_format.setup_words(tally)}{note}"))
    return Content("  " if with_zeros else " ").join(cells)


def rollouts_left(overview: Overview, manifest: Manifest) -> int:
    """Return the number of planned rollouts that have not ended."""
    tally = overview.fold.tally
    return max(manifest.cases - tally.done - tally.setup_done, 0)


def time_left(seconds_per_rollout: float, left: int) -> str:
    """Return the estimated time for this many rollouts; empty if there are none or the pace is unknown."""
    return number_format.about(seconds_per_rollout * left or None)


def _setup_begun(overview: Overview, manifest: Manifest) -> list[Rollout]:
    if not manifest.setup:
        return []
    slots = ((case, rollout) for case in overview.fold.ungraded for rollout in range(manifest.rollouts))
    return [rollout for slot in slots if (rollout := overview.rollouts.get(slot)) is not None]


def _setup_left(overview: Overview, manifest: Manifest) -> int:
    """Return the number of setup rollouts that have not ended."""
    return manifest.setup - sum(rollout.outcome is not None for rollout in _setup_begun(overview, manifest))


def begun_words(overview: Overview, manifest: Manifest) -> str:
    """Return the number of rollouts begun: `12`, or `4 + 8 setup` with setup cases."""
    setup = len(_setup_begun(overview, manifest))
    return number_format.with_setup(number_format.count(len(overview.rollouts) - setup), setup)


def progress_line(
    overview: Overview,
    manifest: Manifest,
    *,
    live: bool,
    now: float,
    width: int,
    average: Content,
    short_average: Content | None = None,
    trend: str = "",
) -> Content:
    """Return the progress line; the score stays before notes, which are shortened, and parts at the right are dropped.

    Args:
        overview: what the run has played.
        manifest: the run's plan.
        live: True while the run is played.
        now: time of the run or its replay.
        width: cells of the line.
        average: the score.
        short_average: the score where there is no room for all of `average`.
        trend: bars of the tokens per second.
    """
    tally, left = overview.fold.tally, rollouts_left(overview, manifest)
    parts = [outcome_words(tally)]
    if left:
        setup = _setup_left(overview, manifest)
        words = number_format.with_setup(number_format.count(left - setup), setup)
        parts.append(Content.styled(f"{words} left", "$live" if live else "$undecided"))
    notes = [lost_words(overview.status), _waits(overview)] if live else []
    notes = [note for note in (*notes, *_warnings(overview, manifest)) if note]
    speeds: list[Content] = []
    if live:
        is_stuck = _is_stuck(overview, now)
        pace = None if is_stuck else overview.pace.tokens_per_s()
        eta = "–" if is_stuck else time_left(overview.fold.seconds_per_rollout(now), left)
        speeds.append(Content(f"ETA {eta}" if eta else ""))
        speeds.append(muted(f"≈{number_format.count(pace)} tok/s{trend and ' '}{trend}" if pace else ""))
        speeds.append(_at_once(overview))
    tokens = muted(token_words(overview))
    if _cells_of([*parts, *notes, average, *speeds, tokens]) >= width:
        parts[0] = outcome_words(tally, explains_setup=False)
    if _cells_of([*parts, *notes, average, *speeds]) >= width:
        average = short_average or average
    if _cells_of([*parts, *notes, average]) >= width:
        parts[0] = outcome_words(tally, with_setup=False)  # the score matters more
    parts += [*_shortened(notes, width - _cells_of([*parts, average]) - 1), average, *speeds]
    if overview.confinement is not None and not overview.confinement.missing:
        parts.append(confinement_words(overview.confinement))
    parts.append(tokens)
    line = Content(" ")
    for part in [part for part in parts if part]:
        longer = line.append(part) if len(line) == 1 else line.append(_BETWEEN_PARTS).append(part)
        if longer.cell_length > width:
            break
        line = longer
    return line


def _cells_of(parts: Iterable[Content]) -> int:
    return Content(_BETWEEN_PARTS).join([part for part in parts if part]).cell_length


def _shortened(notes: Iterable[Content], room: int) -> list[Content]:
    """Return the notes, or their first clauses, that fit into the room beside other parts."""
    fitting: list[Content] = []
    for note in notes:
        left = room - len(_BETWEEN_PARTS)
        if short := note if note.cell_length <= left else lines.first_parts(note, left):
            fitting.append(short)
            room = left - short.cell_length
    return fitting


_BETWEEN_PARTS = "   "


def look_words_of(overview: Overview, manifest: Manifest, *, with_categories: bool = True) -> Content:
    """Return the score of a live run: that of its newest look, with its basis."""
    headline = headline_of(overview.fold.scores, manifest.headline)
    look = latest_look(overview.fold.looks)
    return Content.styled(number_format.look_score(look, headline, with_categories=with_categories), "bold")


def is_stalled(status: Status | None, seconds: float, finished: int, now: float) -> bool:
    """Return whether no request is being answered at present.

    The run is paused or waits for batches, an endpoint fails or is paused for long, or no conversation has advanced
    for twice as long as one usually takes.

    Args:
        status: the engine's status.
        seconds: time spent on the run until now.
        finished: number of rollouts that have ended.
        now: current time in seconds since the epoch.
    """
    if status is None:
        return False
    silent_s = now - max((activity.since or now for activity in status.activities), default=now)
    usual_s = (seconds - silent_s) * status.concurrency / finished if finished else 0.0
    return (
        status.state != "running"
        or silent_s > max(SILENT_S, 2 * usual_s)
        or any(
            endpoint.faults_in_a_row >= FAILING
            or endpoint.is_batched
            or (endpoint.paused_until or 0.0) > now + _LONG_PAUSE_S
            for endpoint in status.endpoints
        )
    )


def _is_stuck(overview: Overview, now: float) -> bool:
    fold = overview.fold
    is_silent = is_stalled(overview.status, fold.seconds_until(now), fold.tally.finished, now)
    return is_silent or overview.failing.is_total


def confinement_words(level: Confinement) -> Content:
    """Return a short description of the sandbox for the model's code, naming missing protections."""
    if level.missing:
        return one_line(f"sandbox open: {', '.join(level.missing)}", 60, "bold $undecided")
    return muted(f"sandbox {SYMBOLS.passed}")


def _warnings(overview: Overview, manifest: Manifest) -> list[Content]:
    """Return the warnings about a run's results: a misconfigured or changing server, an open sandbox."""
    warnings: list[Content] = []
    fold = overview.fold
    if not manifest.simulated and server_warnings(fold, fold.tally.passed, fold.tally.failed):
        symptoms = [f"{number_format.count(count)} × {name}" for name, count in fold.written.items()]
        warnings.append(one_line(f"server? {', '.join(symptoms) or 'no call'}", 60, "$undecided"))
    if (servers := len(overview.fold.servers)) > 1:
        warnings.append(Content.styled(f"answered by {servers} servers", "$undecided"))
    if overview.confinement is not None and overview.confinement.missing:
        warnings.append(confinement_words(overview.confinement))
    return warnings


def _at_once(overview: Overview) -> Content:
    status = overview.status
    if status is None or any(endpoint.is_batched for endpoint in status.endpoints):
        return Content.empty()
    return muted(f"{status.concurrency} at once")


def _waits(overview: Overview) -> Content:
    """Return the reason why requests wait or fail."""
    status = overview.status
    for endpoint in status.endpoints if status is not None else ():
        if endpoint.why and not endpoint.is_batched:  # waits for batches are in the line below
            who = f"{status.waiting} wait" if status and status.waiting else f"{endpoint.name} waits"
            return one_line(f"{who}: {endpoint.why}", 46, "$undecided")
        if slowed := slowed_words([endpoint]):
            return Content.styled(slowed, "$undecided")
    return one_line(overview.failing.text, 46, "$undecided")


def state_words(overview: Overview, manifest: Manifest, *, live: bool, now: float, is_wide: bool = True) -> Content:
    """Return the state, duration and cost of a run, for the right end of the top line; shortened unless `is_wide`."""
    starting = not live and is_starting(overview, manifest)
    if live := live or _ends(overview):
        state = overview.state if overview.status is not None else "running"
    else:
        state = "starting" if starting else overview.fold.state(live=False)
    begun = overview.opened_at if live else overview.fold.first_at
    seconds = now - begun if live else overview.fold.seconds
    spent = number_format.duration(max(seconds, 0.0)) if begun else ""
    cost = short_cost(overview, manifest)
    cost = cost if is_wide else cost.replace(_UNKNOWN, "cost ?")
    if state in ("pausing", "paused"):
        sign = SYMBOLS.paused
    else:
        sign = (
            SYMBOLS.running
            if live or starting
            else SYMBOLS.stopped
            if state not in ("completed", "decided")
            else SYMBOLS.passed
        )
    return Content("  ") + stacked(
        [
            state_word(state, sign),
            Content(spent),
            Content.styled(cost, f"italic {MUTED}" if manifest.simulated else ""),
        ]
    )


def _ends(overview: Overview) -> bool:
    """Return whether the last records of an engine that has just ended are still being read."""
    return overview.status is not None and overview.fold.closed is None


def is_starting(overview: Overview, manifest: Manifest) -> bool:
    """Return whether the run was just launched and its engine has not opened the journal yet."""
    return not overview.fold.sessions and time.time() - manifest.at < STARTING_S


def notice_words(overview: Overview, manifest: Manifest, *, live: bool, nothing_live: bool = False) -> Content:
    """Return the reason that a run is stalled or ended early, and the remedy; `nothing_live` concerns all runs."""
    closed, status = overview.fold.closed, overview.status
    if status is not None and status.message:
        return one_line(status.message, 300, "$broken")
    if overview.is_deleted:
        words = "The run's folder or journal was deleted; what is shown exists only in memory."
        return Content.styled(words, "$broken")
    batches = batch_words(list(overview.fold.batches.values()))
    if live or _ends(overview):
        return Content.styled(f"waits for {batches}", MUTED) if batches else Content.empty()
    if closed is not None and closed.reason == "decided":
        left = rollouts_left(overview, manifest) - _setup_left(overview, manifest)
        words = (
            f" · r plays the {number_format.count(left)} left{number_format.not_spent_words(overview.fold.tally, left)}"
        )
        return Content.assemble((closed.message, "bold"), (words, MUTED))
    if closed is not None and closed.message:
        return Content.assemble(one_line(closed.message, 300, "$broken"), (" · r resumes it", MUTED))
    if closed is None and overview.fold.sessions:
        words = "The engine ended without closing this run; nothing is lost. r resumes it"
        words += f", and fetches {batches}." if batches else "."
        return Content.styled(words, "$undecided")
    if nothing_live and overview.fold.last_at:
        ended = time.strftime("%d %b %H:%M", time.localtime(overview.fold.last_at)).lstrip("0")
        words = f"  This one ended {ended} · p replays it · L starts one"
        return Content.assemble(("No run is live.", "bold"), (words, MUTED))
    return Content.empty()


def title_words(manifest: Manifest, width: int) -> Content:
    """Return the model, suite and given name of a run (without a name, its id if wide), and whether it was imported."""
    suite = manifest.suite
    if len(manifest.selection.categories) == 1:
        suite += f"/{manifest.selection.categories[0]}"
    who = Content.assemble(one_line(manifest.model.name, 30, "bold"), (" · ", MUTED), one_line(suite, 40))
    if manifest.model.provider == "imported":
        who = Content.assemble(("imported  ", "$undecided"), who)
    name = manifest.name or (manifest.id if width >= 100 else "")
    return who.append("   ").append(one_line(name, LONGEST_ID if width >= 100 else 16, MUTED)) if name else who


def facts_lines(overview: Overview, manifest: Manifest, *, live: bool, now: float, width: int) -> list[Content]:
    """Return the lines of the `This run` pane, wrapped to `width` cells; a value goes on below its beginning."""
    tally = overview.fold.tally
    facts = [
        _fact("tokens", f"{token_words(overview)}   {number_format.count(tally.calls)} calls"),
        _fact("cost", cost_words(overview, manifest)),
        _fact("retries", number_format.count(tally.retries) + slowed_by(tally.rate_limits)),
    ]
    if live and overview.status is not None:
        facts.append(_fact("ETA", _eta(overview, rollouts_left(overview, manifest), now)))
        # Roles that ask the same server with the same key share one limiter.
        facts += [_endpoint(endpoint) for endpoint in dict.fromkeys(overview.status.endpoints)]
        if overview.status.workers:
            facts.append(_workers(overview.status.workers))
    if overview.confinement is not None:
        facts.append(_fact("sandbox", overview.confinement.text))
    if warning := weights_warning(manifest.weights):
        facts.append(one_line(warning, 300, "$undecided"))
    scores, headline = overview.fold.scores, headline_of(overview.fold.scores, manifest.headline)
    if overview.fold.is_shown_by_look(manifest, live=live):
        if scores:
            unit = manifest.units.get(headline, "")
            words = number_format.look_score(latest_look(overview.fold.looks), headline, unit=unit)
            facts.append(_fact(headline or "passed", words))
        scores = {}  # means over the first finishers would be biased
    elif scores and not headline and tally.rate is not None:
        facts.append(_fact("passed", number_format.with_interval(tally.rate.value, tally.rate.low, tally.rate.high)))
    first = (headline, *manifest.further_headlines)
    means = [name for name in scores if not name.startswith(BLAME_PREFIX)]  # blame is set for failures only
    for name in sorted(means, key=lambda name: first.index(name) if name in first else len(first))[:4]:
        words = f"mean {number_format.number(scores[name], manifest.units.get(name, ''))}"
        facts.append(_fact(name, f"{words} {score_basis(overview.fold, name)}".rstrip()))
    if overview.status is not None and overview.status.message:
        facts.append(one_line(overview.status.message, 300, "$broken"))
    return [line for fact in facts for line in _wrapped(fact, width)]


def _wrapped(fact: Content, width: int) -> list[Content]:
    """Wrap a fact, or a sentence without a name, to `width` cells."""
    start = _VALUE_AT if fact.cell_length > _VALUE_AT and fact.plain[:_VALUE_AT].endswith("  ") else 0
    first, *others = fact[start:].wrap(max(width - start, 1))
    return [fact[:start].append(first), *(Content(" " * start).append(other) for other in others)]


def _eta(overview: Overview, left: int, now: float) -> str:
    if _is_stuck(overview, now):
        return "–, nothing is answered at present"
    words = time_left(overview.fold.seconds_per_rollout(now), left)
    return f"{words}, if the pace holds" if words else "not known yet"


def _fact(name: str, value: str) -> Content:
    return lines.fit(one_line(name, _VALUE_AT - 2, MUTED), _VALUE_AT).append(one_line(value, 200))


_VALUE_AT = 18
"""Column in which the value of a fact begins."""


def _endpoint(state: EndpointState) -> Content:
    if state.is_batched:
        gathered = f"   {state.waiting:,} gathered for the next" if state.waiting else ""
        return _fact(state.name, f"{state.in_flight:,} in batches{gathered}")
    words = f"{state.in_flight} of {state.limit} in flight"
    if state.waiting:
        words += f"   {state.waiting} queued"
    words += slowed_by(state.throttled)
    if state.paused_until and "until" not in state.why:
        words += f"   paused until {time.strftime('%H:%M:%S', time.localtime(state.paused_until))}"
    line = _fact(state.name, words)
    return line.append("  ").append(one_line(state.why, 100, "$undecided")) if state.why else line


def worker_lines(workers: Sequence[WorkerState], *, now: float) -> list[Content]:
    """Return a line for each worker: its name, conversations and calls per second, or why it was lost."""
    lines: list[Content] = []
    for worker in workers:
        name = one_line(worker.name or "new", 34, "bold").pad_right(max(36 - len(worker.name or "new"), 1))
        match worker.state:
            case "lost":
                words = f"lost after {number_format.plural(worker.calls, 'call')}: {worker.why}"
                activity = one_line(words, 200, "$broken")
            case "starting":
                activity = muted("starting")
            case _:
                pace = worker.calls / max(now - worker.since, 1.0)
                at_once = number_format.plural(worker.conversations, "conversation")
                activity = Content(f"{at_once}   {number_format.number(round(pace, 2))} calls/s")
        lines.append(name + activity)
    return lines


def lost_words(status: Status | None) -> Content:
    """Return `1 worker lost`; empty if none is lost."""
    lost = sum(worker.state == "lost" for worker in status.workers) if status is not None else 0
    return Content.styled(f"{number_format.plural(lost, 'worker')} lost", "$broken") if lost else Content.empty()


def _workers(workers: Sequence[WorkerState]) -> Content:
    playing, lost = (sum(worker.state == state for worker in workers) for state in ("playing", "lost"))
    line = _fact("workers", f"{playing} playing   W lists them")
    return line.append("  ").append(Content.styled(f"{lost} lost", "$broken")) if lost else line


def _turn_and_step(rollout: Rollout) -> str:
    """Return `turn 2, step 3`; empty at the very first step."""
    if not rollout.is_running:
        return f"turn {rollout.turn + 1}" if rollout.turn else ""
    return f"turn {rollout.turn + 1}, step {rollout.step + 1}" if rollout.turn or rollout.step else ""


def watched_words(rollout: Rollout | None) -> Content:
    """Return the name and state of the watched conversation, for its title."""
    if rollout is None:
        return Content("")
    name = one_line(str(rollout.key), 80, "bold")
    position = muted(_turn_and_step(rollout))
    if rollout.outcome is not None:
        spent = number_format.duration(rollout.seconds) if rollout.seconds else ""
        return stacked([name, position, one_line(rollout.ending, 60, MUTED), Content(spent)])
    return stacked([name, position, one_line(rollout.why or rollout.state, 60, MUTED)])
