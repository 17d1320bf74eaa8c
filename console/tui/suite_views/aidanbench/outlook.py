"""Where the scores of a loop stand, and about how many rounds are left at their pace. Pure."""

from textual.content import Content

from console.insight import number_format
from console.insight.rollout import Rollout, Track
from console.tui.render.symbols import MUTED, SYMBOLS, muted, spark
from console.tui.suite_views.aidanbench.loops import NOVELTY, SCORES, rounds_left

TREND_WIDTH = 24
_FAR = 30
"""Rounds beyond which an estimate says nothing."""
_WITHIN = 1.5
"""Rounds that are too few to be counted."""


def trend_lines(rollout: Rollout | None, *, live: bool) -> Content:
    """Return one line for every score of a loop; only one that is being played has an outlook."""
    if rollout is None:
        return Content.empty()
    trends = [
        _line(name, rollout.tracks[name], goes_on=live and rollout.is_running)
        for name in SCORES
        if name in rollout.tracks
    ]
    return Content("\n").join(trends)


def outlook_words(rollout: Rollout) -> Content:
    """Return in a few words which score of a running loop will meet its threshold first, and when; empty if none."""
    scores = [(_left(track), name) for name, track in rollout.tracks.items() if name in SCORES]
    falling = sorted((left, name) for left, name in scores if left is not None)
    if not falling or not rollout.is_running:
        return Content.empty()
    left, name = falling[0]
    when = f"≈{number_format.plural(max(round(left), 1), 'round')} left"
    return Content.styled(f"{name.replace('llm_', 'judge ')} {when}", _urgency(left))


def _left(track: Track) -> float | None:
    """Return how many rounds are left if the score goes on falling as it does; None when nobody can tell."""
    if track.last is None or track.threshold is None or track.last <= track.threshold:
        return None
    left = rounds_left(track.values, track.threshold)
    return None if left is None or left > _FAR else left


def _urgency(left: float) -> str:
    return "$undecided" if left < 3 else MUTED


def _line(name: str, track: Track, *, goes_on: bool) -> Content:
    label = muted(f"{name.replace('llm_', 'judge ')} ".ljust(10))
    values = [value for value in track.values if value is not None]
    top = 100.0 if name not in (NOVELTY, "llm_novelty") else max([1.0, *values])
    drawn = spark(track.values, TREND_WIDTH, top)
    line = label.append_text(drawn.ljust(min(max(len(drawn), 13), TREND_WIDTH)), "$live").append("  ")
    return line.append(_standing(track)).append(_outlook(track) if goes_on else Content.empty())


def _standing(track: Track) -> Content:
    if track.last is None:
        return Content.styled("not known", "$undecided")
    now = number_format.number(track.last)
    if track.threshold is None:
        return Content.styled(now, "bold")
    limit = number_format.number(track.threshold)
    if track.last > track.threshold:
        return Content.assemble((f"{now}", "bold"), (f" > {limit}", MUTED))
    return Content.styled(f"{SYMBOLS.failed} {now} not over {limit}", "bold $fail")


def _outlook(track: Track) -> Content:
    left = _left(track)
    if left is None:
        return Content.empty()
    words = "at the threshold within a round" if left < _WITHIN else f"at this pace about {round(left)} rounds left"
    return Content.styled(f"   {words}", _urgency(left))
