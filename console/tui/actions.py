"""`ACTIONS`: the table of all user actions, from which bindings, key line, help and command palette are built.

Ids are stable, because users remap keys by them; an action's method is `action_` + its id with `_` for `.`, on the
first responder that has it (see `key_dispatch`). Key grammar: a number is a screen, a letter a verb, a capital its
reverse or the same for everything shown (except `B`, `H` and `S`, screens without a number), `/` filters, `:` opens the
palette, escape goes back one step, `?` lists the available actions.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol, runtime_checkable

import msgspec

from console.exchange.exports.formats import own_exports


class Action(msgspec.Struct, frozen=True):
    """One user action."""

    id: str
    keys: tuple[str, ...]
    """Default keys, by Textual's names; empty for actions only in the palette."""
    title: str
    """`Area: verb`, as the palette shows it."""
    meaning: str
    """Short description for help."""
    where: str
    """`all`, a screen (a name of `navigation.SCREENS`, or `label`), or a kind of widget (`rows`, `text`, `line`)."""
    group: str
    """Heading in help."""
    footer: str = ""
    """Word in the key line; empty to omit the action there."""
    priority: int = 50
    """Priority in the key line; when it is too narrow, actions with the lowest priority are dropped first."""
    pair: str = ""
    """Id of the opposite action; both share one entry in key line and help."""
    menu: str = ""
    """Id of the menu it belongs to; its key is pressed after the menu's."""
    opens_menu: bool = False
    palette: bool = True
    of_graders: bool = False
    """True if it measures graders or answer keys; hidden until there is a judge or a second run."""

    @property
    def method(self) -> str:
        """Name of the action method without its `action_` prefix."""
        return self.id.replace(".", "_")


def _move(id: str, keys: tuple[str, ...], meaning: str, where: str, pair: str = "") -> Action:
    return Action(id, keys, f"Move: {meaning}", meaning, where, "MOVE", pair=pair, palette=False)


def _copy(letter: str, part: str, meaning: str, where: str) -> Action:
    return Action(f"copy.{part}", (letter,), f"Copy: {meaning}", meaning, where, "COPY", menu="copy")


EXPORTS_RUNS = ("home", "review")
"""Screens whose export menu writes a run, in any format; the menu of Compare writes the comparison."""


EXPORTS_FIRST = ("csv", "html", "site")
"""Formats that the export menu of a run shows at once; the others are shown on request."""


def export_action(letter: str, format_name: str, meaning: str, where: str) -> Action:
    """Return the entry of an export menu for one format."""
    id = f"export.{format_name.replace('-', '_')}"
    return Action(id, (letter,), f"Export: {meaning}", meaning, where, "EXPORT", menu="export")


def _exports(where: str) -> tuple[Action, ...]:
    opener = Action("export", ("E",), "Export: menu", "export …", where, "EXPORT", "export", 42, opens_menu=True,
                    palette=False)  # fmt: skip
    formats = sorted(own_exports().values(), key=lambda each: each.name not in EXPORTS_FIRST)
    return (opener, *(export_action(each.letter, each.name, each.title, where) for each in formats))


def _steps(where: str, area: str, noun: str, group: str) -> tuple[Action, ...]:
    following, previous, both = f"next {noun}", f"previous {noun}", f"next/previous {noun}"
    return (
        Action("fail.next", ("n",), f"{area}: {following}", both, where, group, following, 90, pair="fail.prev"),
        Action("fail.prev", ("N",), f"{area}: {previous}", previous, where, group, pair="fail.next"),
    )


_SORT_LETTERS = (
    ("t", "time"), ("c", "cost"), ("k", "tokens"), ("n", "turns"), ("i", "id"), ("r", "repeats"),
)  # fmt: skip
"""Columns by which lists are sorted."""


def _sorts(
    where: str, area: str, group: str, *others: tuple[str, str], none: str, priority: int = 37
) -> tuple[Action, ...]:
    """Return a list's sort menu: the usual columns, `others`, and `none` for the list's own order."""
    columns = [(letter, name) for letter, name in _SORT_LETTERS if letter not in {key for key, _ in others}]
    return (
        Action("sort", ("s",), f"{area}: sort", "sort by …", where, group, "sort", priority, opens_menu=True),
        *(
            Action(f"sort.{name}", (letter,), f"Sort: by {name}", f"by {name}", where, group, menu="sort")
            for letter, name in (*columns, *others)
        ),
        Action("sort.reverse", ("s",), f"{area}: reverse the order", "reverse the order", where, group, menu="sort"),
        Action("sort.none", ("o",), f"Sort: {none}", none, where, group, menu="sort"),
    )


def _branch(letter: str, change: str, meaning: str) -> Action:
    return Action(f"branch.{change}", (letter,), f"Case: {meaning}", meaning, "review", "THIS CASE", menu="branch")


def _regrade(where: str, group: str) -> Action:
    meaning = "grade the run again"
    return Action("branch.regrade", ("g",), f"Run: {meaning}", meaning, where, group, menu="branch", of_graders=True)


def _tag(letter: str, tag: str, meaning: str) -> Action:
    return Action(f"tag.{tag}", (letter,), f"Tag: {meaning}", meaning, "review", "TRIAGE", menu="tag")


def _label(letter: str, part: str, meaning: str) -> Action:
    return Action(f"label.{part}", (letter,), f"Labels: {meaning}", meaning, "review", "TRIAGE", menu="label")


def _erratum(letter: str, part: str, meaning: str) -> Action:
    return Action(f"erratum.{part}", (letter,), f"Key: {meaning}", meaning, "grid", "CASES", menu="erratum")


_ALL = (
    Action("go.home", ("1",), "Go: Home", "Home", "all", "EVERYWHERE"),
    Action("go.live", ("2",), "Go: Live", "Live", "all", "EVERYWHERE"),
    Action("go.review", ("3",), "Go: Review", "Review", "all", "EVERYWHERE"),
    Action("go.compare", ("4",), "Go: Compare", "Compare", "all", "EVERYWHERE"),
    Action("go.library", ("5",), "Go: Library", "Library", "all", "EVERYWHERE"),
    Action("go.grid", (), "Go: Grid", "grid of several runs", "all", "EVERYWHERE"),
    Action("go.board", ("B",), "Go: Leaderboard", "Leaderboard", "all", "EVERYWHERE"),
    Action("go.trends", ("H",), "Go: Trends", "trends of each model", "all", "EVERYWHERE"),
    Action("go.search", ("S",), "Go: Search", "search all runs", "all", "EVERYWHERE"),
    Action("run.new", ("L",), "Run: new", "new run", "all", "EVERYWHERE", "new run", 70),
    Action("palette", (":", "ctrl+p"), "Commands", "all commands", "all", "EVERYWHERE", palette=False),
    Action("jump", ("ctrl+t",), "Go: a run or a case", "find a run or case", "all", "EVERYWHERE"),
    Action("help", ("?",), "Help", "this help", "all", "EVERYWHERE"),
    Action("back", ("escape",), "Back", "one step back", "all", "MOVE", palette=False),
    Action("view.zoom", ("z",), "View: zoom pane", "zoom this pane", "all", "MOVE"),
    Action("messages", (), "Messages", "past messages", "all", "EVERYWHERE"),
    Action("theme.next", (), "Theme: next", "next theme", "all", "EVERYWHERE"),
    Action("notice.toggle", (), "Settings: bell when a run is done", "bell when done", "all", "EVERYWHERE"),
    Action("leave", ("q",), "Leave", "back; at Home quit", "all", "EVERYWHERE", palette=False),
    Action("quit", ("ctrl+q",), "Quit", "quit", "all", "EVERYWHERE"),
)


def _moves(where: str, first: str, last: str) -> tuple[Action, ...]:
    return (
        _move("cursor.down", ("j", "down"), "down, up", where, "cursor.up"),
        _move("cursor.up", ("k", "up"), "up", where, "cursor.down"),
        _move("cursor.first", ("g", "home"), first, where, "cursor.last"),
        _move("cursor.last", ("G", "end"), last, where, "cursor.first"),
        _move("half.down", ("ctrl+d",), "half a page down, up", where, "half.up"),
        _move("half.up", ("ctrl+u",), "half a page up", where, "half.down"),
        _move("page.down", ("pagedown",), "a page down, up", where, "page.up"),
        _move("page.up", ("pageup",), "a page up", where, "page.down"),
    )


_ROWS = (
    *_moves("rows", "first, last", "last"),
    Action("open", ("enter",), "Open", "open", "rows", "MOVE", "open", 95, palette=False),
    Action("select", ("space",), "Select", "select", "rows", "MOVE", palette=False),
)

_LINE = (
    Action("line.keep", ("enter",), "Line: keep", "keep what is typed", "line", "TYPING", "keep", 95, palette=False),
    Action("line.clear", ("escape",), "Line: clear", "clear it", "line", "TYPING", "clear", 90, palette=False),
)

_TEXT = (
    *_moves("text", "first, last line", "last line; follow"),
    Action("thread", ("enter",), "Text: open a thread", "open, close a thread", "text", "MOVE", palette=False),
)

_PANES = tuple(
    action
    for where in ("home", "launch", "live", "library", "trends")
    for action in (
        _move("pane.next", ("tab", "l", "right"), "next, previous pane", where, "pane.prev"),
        _move("pane.prev", ("shift+tab", "h", "left"), "previous pane", where, "pane.next"),
    )
)


def _repeats(where: str) -> tuple[Action, ...]:
    return (
        _move("pane.next", ("tab",), "next, previous pane", where, "pane.prev"),
        _move("pane.prev", ("shift+tab",), "previous pane", where, "pane.next"),
        _move("repeats.show", ("right", "l"), "show, hide repeats", where, "repeats.hide"),
        _move("repeats.hide", ("left", "h"), "hide repeats", where, "repeats.show"),
    )


def _organize(letter: str, part: str, meaning: str) -> Action:
    return Action(f"organize.{part}", (letter,), f"Run: {meaning}", meaning, "home", "RUNS", menu="organize")


_HOME = (
    Action("run.resume", ("r",), "Run: resume", "resume this run", "home", "RUNS", "resume", 60),
    Action("find", ("/",), "Runs: filter", "filter by words", "home", "RUNS", "filter", 55),
    Action("filter.clear", ("F",), "Runs: show all", "show all", "home", "RUNS"),
    *_sorts("home", "Runs", "RUNS", ("n", "calls"), ("w", "score"), ("m", "model"), ("u", "suite"),
            none="newest first", priority=50),
    Action("run.review", ("v",), "Run: review", "review its failures", "home", "RUNS", "review", 45),
    Action("run.failed", ("a",), "Run: re-run its failed cases", "re-run failed cases", "home", "RUNS",
           "re-run failed", 28),
    Action("queue.earlier", ("[", "K"), "Queue: earlier", "queue: earlier, later", "home", "QUEUE", "queue", 58,
           pair="queue.later"),
    Action("queue.later", ("]", "J"), "Queue: later", "later in the queue", "home", "QUEUE", pair="queue.earlier"),
    Action("queue.go", (), "Queue: continue", "continue the queue", "home", "QUEUE"),
    Action("fold", ("x",), "Runs: fold branches", "fold, open branches", "home", "RUNS", "branches", 57),
    Action("run.delete", ("D",), "Run: delete", "dequeue / delete", "home", "RUNS", "delete", 26),
    Action("reload", ("ctrl+r",), "Home: refresh", "read everything again", "home", "RUNS"),
    Action("import", ("i",), "Runs: import logs", "import logs", "home", "RUNS"),
    Action("mark", ("m",), "Run: mark for compare", "mark; two compare", "home", "RUNS", "mark", 40),
    Action("organize", ("o",), "Run: organize", "organize …", "home", "RUNS", opens_menu=True, palette=False),
    _organize("n", "name", "rename"),
    _organize("t", "note", "note"),
    _organize("p", "pin", "pin, unpin"),
    _organize("a", "archive", "archive, unarchive"),
    _organize("s", "archived", "archived, or others"),
    Action("branch", ("A",), "Run: replay", "replay …", "home", "RUNS", opens_menu=True, palette=False,
           of_graders=True),
    _regrade("home", "RUNS"),
    *_exports("home"),
    Action("models.add", ("plus",), "Models: add a model", "add a model", "home", "MODELS", "add a model", 31),
    Action("models.check", ("t",), "Models: check an endpoint", "check an endpoint", "home", "MODELS"),
    Action("models.edit", ("e",), "Models: edit models.toml", "edit models.toml", "home", "MODELS",
           "edit models.toml", 30),
    Action("copy", ("y",), "Copy: menu", "copy …", "home", "COPY", opens_menu=True, palette=False),
    _copy("i", "id", "name of this run", "home"),
    _copy("c", "command", "its shell command", "home"),
    _copy("l", "link", "its path", "home"),
)  # fmt: skip

_LAUNCH = (
    Action("launch.start", ("enter",), "New run: start", "start", "launch", "NEW RUN", "start", 95),
    Action("launch.edit", ("space",), "New run: select", "select, or edit field", "launch", "NEW RUN", "select", 90),
    Action("launch.fold", ("x",), "New run: open a suite", "open, close", "launch", "NEW RUN",
           "open", 88, palette=False),
    Action("find", ("/",), "New run: filter", "filter both lists", "launch", "NEW RUN",
           "filter", 60),
    Action("launch.empty", ("ctrl+l",), "New run: empty the form", "empty the form", "launch", "NEW RUN"),
    Action("filter.clear", ("F",), "New run: show all", "show all", "launch", "NEW RUN"),
    Action("launch.try", ("t",), "New run: try 3 cases", "try 3 cases", "launch", "NEW RUN",
           "try 3 cases", 85),
    Action("launch.review", ("v",), "New run: see the trial", "see the trial", "launch", "NEW RUN",
           "see trial", 87),
    Action("preset.load", ("p",), "Preset: load", "load a preset", "launch", "PRESETS", "load preset", 65),
    Action("preset.save", ("w",), "Preset: save", "save as a preset", "launch", "PRESETS", "save preset", 64),
    Action("launch.check", ("r",), "New run: refresh keys", "refresh keys", "launch", "NEW RUN",
           "refresh", 40),
    Action("copy", ("y",), "Copy: menu", "copy its command", "launch", "COPY", "copy command", 50, opens_menu=True,
           palette=False),
    _copy("c", "command", "shell command", "launch"),
)  # fmt: skip

_LIVE = (
    Action("follow", ("space",), "Live: pin or follow", "pin, or follow", "live", "WATCH",
           "pin/follow", 85),
    Action("run.pause", ("p",), "Run: pause, resume, replay", "pause, resume, replay", "live", "STEER", "pause", 80),
    Action("run.faster", ("+", "="), "Run: more at once", "more, fewer at once", "live", "STEER", "at once", 70,
           pair="run.slower"),
    Action("run.slower", ("-",), "Run: fewer at once", "one fewer at once", "live", "STEER", pair="run.faster"),
    Action("run.next", ("]",), "Run: next", "next, previous run", "live", "WATCH", "next run", 66, pair="run.prev"),
    Action("run.prev", ("[",), "Run: previous", "previous run", "live", "WATCH", pair="run.next"),
    Action("runs.ended", ("E",), "Live: ended runs", "hide ended runs", "live", "WATCH"),
    Action("replay.back", ("<",), "Replay: back", "back, forward", "live", "REPLAY", "back", 68,
           pair="replay.forward"),
    Action("replay.forward", (">",), "Replay: forward", "forward in a replay", "live", "REPLAY", pair="replay.back"),
    Action("replay.first", ("{",), "Replay: to the start", "its start, its end", "live", "REPLAY", "start", 62,
           pair="replay.last"),
    Action("replay.last", ("}",), "Replay: to the end", "end of a replay", "live", "REPLAY", pair="replay.first"),
    Action("case.stop", ("ctrl+k",), "Case: stop one", "stop this one", "live", "STEER", "stop one", 45),
    Action("case.retry", ("r",), "Case: retry", "retry; resume the run", "live", "STEER", "retry", 40),
    Action("run.stop", ("ctrl+x",), "Run: stop", "stop the run", "live", "STEER", "stop run", 75),
    Action("order", ("o",), "Live: order", "order of the list", "live", "WATCH", "order", 50),
    Action("wall", ("w",), "Live: wall", "wall of conversations", "live", "WATCH", "wall", 58),
    Action("pin", ("m",), "Live: pin to the wall", "pin to the wall", "live", "WATCH", "pin", 42),
    Action("problems", ("i",), "Live: problems", "problems and waits", "live", "WATCH", "problems", 55),
    Action("workers", ("W",), "Live: workers", "list the workers", "live", "WATCH"),
    Action("find", ("/",), "Live: find", "find in the text", "live", "WATCH"),
    Action("fold", ("x",), "View: fold", "fold, or open a block", "live", "WATCH"),
    Action("run.review", ("v",), "Run: review", "review it so far", "live", "WATCH", "review", 60),
    Action("copy", ("y",), "Copy: menu", "copy …", "live", "COPY", opens_menu=True, palette=False),
    _copy("i", "id", "case id", "live"),
    _copy("a", "actual", "the answer", "live"),
    _copy("c", "command", "its shell command", "live"),
)  # fmt: skip

_REVIEW = (
    *_repeats("review"),
    *_steps("review", "Review", "failure", "FAILURES"),
    Action("group.next", ("]", "J"), "Review: next reason", "next, previous reason", "review", "FAILURES",
           "next reason", 60, pair="group.prev"),
    Action("group.prev", ("[", "K"), "Review: previous reason", "previous reason", "review", "FAILURES",
           pair="group.next"),
    Action("turn.prev", ("<",), "Review: previous turn", "previous, next turn", "review", "THIS CASE",
           pair="turn.next"),
    Action("turn.next", (">",), "Review: next turn", "next turn", "review", "THIS CASE", pair="turn.prev"),
    Action("find", ("/",), "Review: search", "search, or filter", "review", "FAILURES", "search", 40),
    Action("filter", ("f",), "Review: filter", "filter …", "review", "FAILURES", "filter", 65, opens_menu=True),
    Action("filter.fail", ("f",), "Filter: only failed", "only failed", "review", "FAILURES", menu="filter"),
    Action("filter.all", ("a",), "Filter: everything", "everything", "review", "FAILURES", menu="filter"),
    Action("filter.broken", ("b",), "Filter: only broken", "only broken", "review", "FAILURES", menu="filter"),
    Action("filter.untagged", ("u",), "Filter: only untagged", "only untagged", "review", "FAILURES", menu="filter"),
    Action("filter.unseen", ("n",), "Filter: not reviewed yet", "not reviewed yet", "review", "FAILURES",
           menu="filter"),
    Action("filter.disputed", ("d",), "Filter: only disputed", "only disputed", "review", "FAILURES", menu="filter"),
    Action("filter.reason", ("r",), "Filter: this reason", "only this reason", "review", "FAILURES", menu="filter"),
    Action("filter.category", ("c",), "Filter: this category", "only this category", "review", "FAILURES",
           menu="filter"),
    Action("filter.label", ("l",), "Filter: this label", "only this label", "review", "FAILURES", menu="filter"),
    Action("filter.clear", ("F",), "Filter: clear", "clear the filter", "review", "FAILURES"),
    Action("group", ("o",), "Review: group by", "group by …", "review", "FAILURES", "group", 50, opens_menu=True),
    Action("group.reason", ("r",), "Group: by reason", "by reason", "review", "FAILURES", menu="group"),
    Action("group.error", ("e",), "Group: by error type", "by error type", "review", "FAILURES", menu="group"),
    Action("group.parameter", ("p",), "Group: by parameter", "by parameter", "review", "FAILURES", menu="group"),
    Action("group.category", ("c",), "Group: by category", "by category", "review", "FAILURES", menu="group"),
    Action("group.function", ("f",), "Group: by function", "by function", "review", "FAILURES", menu="group"),
    Action("group.tag", ("t",), "Group: by tag", "by tag", "review", "FAILURES", menu="group"),
    Action("group.label", ("l",), "Group: by label", "by a model's label", "review", "FAILURES", menu="group"),
    Action("group.repeats", ("k",), "Group: by repeats", "by repeats of a case", "review", "FAILURES", menu="group"),
    Action("group.blame", ("b",), "Group: by blame", "by whose fault it is", "review", "FAILURES", menu="group"),
    Action("group.none", ("n",), "Group: not at all", "not at all", "review", "FAILURES", menu="group"),
    *_sorts("review", "Review", "FAILURES", none="order of the run"),
    Action("view.next", ("v",), "View: next", "next, previous view", "review", "THIS CASE", "view", 55,
           pair="view.prev"),
    Action("view.prev", ("V",), "View: previous", "previous view", "review", "THIS CASE", pair="view.next"),
    Action("view.talk", ("i",), "View: talk (conversation)", "talk (conversation)", "review", "THIS CASE", "talk", 33),
    Action("view.truth", ("a",), "View: ground truth", "truth (expected)", "review", "THIS CASE", "truth", 34),
    Action("view.tools", ("M",), "View: tools (schemas)", "tools (schemas)", "review", "THIS CASE", "tools", 32),
    Action("view.raw", ("p",), "View: raw request and reply", "raw request and reply", "review", "THIS CASE",
           "raw", 31),
    Action("view.layout", ("d",), "View: side by side or stacked", "side by side, stacked", "review", "THIS CASE"),
    Action("view.wrap", ("w",), "View: wrap", "wrap long lines", "review", "THIS CASE"),
    Action("fold", ("x",), "View: fold", "fold, or open a block", "review", "THIS CASE"),
    Action("open.editor", ("e",), "Case: open in editor", "open in $PAGER", "review", "THIS CASE"),
    Action("pictures", ("P",), "Case: show pictures", "show its pictures", "review", "THIS CASE"),
    Action("open.files", (), "Case: open pictures and files", "open pictures, files", "review", "THIS CASE"),
    Action("tag", ("t",), "Tag: menu", "tag, then next", "review", "TRIAGE", "tag", 80, opens_menu=True),
    _tag("m", "model", "model at fault"),
    _tag("g", "grader", "grader at fault"),
    _tag("d", "data", "data wrong"),
    _tag("p", "prompt", "prompt or format"),
    _tag("f", "flaky", "flaky"),
    _tag("?", "unsure", "unsure"),
    _tag("0", "none", "remove the tag"),
    Action("tag.shown", ("T",), "Tag: all shown", "tag all shown", "review", "TRIAGE",
           "tag all shown", 35),
    Action("review.done", ("space",), "Review: mark as reviewed", "reviewed, then next", "review", "TRIAGE",
           "reviewed", 62),
    Action("note.add", ("c",), "Note: comment", "comment", "review", "TRIAGE", "comment", 45),
    Action("dispute", ("D",), "Note: dispute the ground truth", "dispute ground truth", "review",
           "TRIAGE", "dispute", 38),
    Action("label", ("X",), "Labels: menu", "labels …", "review", "TRIAGE", opens_menu=True, palette=False),
    _label("a", "ask", "ask a model"),
    Action("label.blind", ("l",), "Labels: label yourself, blind", "label yourself, blind", "review", "TRIAGE",
           menu="label", of_graders=True),
    _label("s", "stop", "stop asking"),
    _label("u", "undo", "take labels back"),
    Action("undo", ("u",), "Note: undo", "undo", "review", "TRIAGE"),
    Action("branch", ("A",), "Case: branch", "branch, try, …", "review", "THIS CASE", "branch", 47,
           opens_menu=True, palette=False),
    _branch("h", "here", "go on from here"),
    _branch("d", "decide", "which step decided it"),
    _branch("b", "list", "open a branch"),
    _branch("t", "try", "try a change on these"),
    _regrade("review", "THIS CASE"),
    Action("keep", ("b",), "Case: keep in a suite of your own", "keep in your suite", "review", "THIS CASE",
           "keep", 46),
    Action("history", ("I",), "Case: history in all runs", "history in all runs", "review", "THIS CASE", "history", 29),
    Action("mark", ("m",), "Run: mark for compare", "mark; two compare", "review", "THIS CASE", "mark", 30),
    Action("run.again", ("r",), "Case: re-run", "re-run this case", "review", "THIS CASE", "re-run", 48),
    Action("run.again.shown", ("R",), "Run: re-run those shown", "re-run those shown", "review", "FAILURES"),
    *_exports("review"),
    Action("copy", ("y",), "Copy: menu", "copy …", "review", "COPY", "copy", 58, opens_menu=True, palette=False),
    _copy("i", "id", "case id", "review"),
    _copy("a", "actual", "the answer", "review"),
    _copy("e", "expected", "what was expected", "review"),
    _copy("p", "prompt", "prompt", "review"),
    _copy("m", "message", "grader's message", "review"),
    _copy("j", "json", "raw JSON", "review"),
    _copy("c", "command", "its shell command", "review"),
)  # fmt: skip


def _answer(key: str, part: str, meaning: str, footer: str = "", pair: str = "") -> Action:
    return Action(f"answer.{part}", (key,), f"Answer: {meaning}", meaning, "label", "THIS ANSWER", footer, pair=pair,
                  palette=False)  # fmt: skip


_LABEL = (
    _answer("p", "passes", "pass", "pass"),
    _answer("f", "fails", "fail", "fail"),
    _answer("u", "unclear", "unclear", "unclear"),
    _answer("1", "grade1", "grade, bad to good", "grade", pair="answer.grade5"),
    *(_answer(str(grade), f"grade{grade}", f"grade {grade}") for grade in (2, 3, 4)),
    _answer("5", "grade5", "grade 5", pair="answer.grade1"),
    _answer("c", "remark", "remark", "remark"),
    _answer("backspace", "back", "one back", "back"),
    _answer("s", "settle", "settle disagreements", "settle"),
    _answer("escape", "end", "end labeling", "end"),
)

_COMPARE = (
    *_repeats("compare"),
    *_steps("compare", "Compare", "change", "CHANGES"),
    Action("find", ("/",), "Compare: search", "search the list", "compare", "CHANGES", "search", 40),
    Action("filter", ("f",), "Compare: filter", "filter …", "compare", "CHANGES", "filter", 85, opens_menu=True),
    Action("filter.changed", ("c",), "Filter: lost and gained", "lost and gained", "compare", "CHANGES",
           menu="filter"),
    Action("filter.lost", ("l",), "Filter: lost", "lost", "compare", "CHANGES", menu="filter"),
    Action("filter.gained", ("g",), "Filter: gained", "gained", "compare", "CHANGES", menu="filter"),
    Action("filter.neither", ("b",), "Filter: both fail", "both fail", "compare", "CHANGES", menu="filter"),
    Action("filter.prompt", ("p",), "Filter: other prompt", "other prompt", "compare", "CHANGES", menu="filter"),
    Action("filter.left", ("o",), "Filter: left out", "left out", "compare", "CHANGES", menu="filter"),
    Action("filter.all", ("a",), "Filter: every case", "every case", "compare", "CHANGES", menu="filter"),
    Action("filter.clear", ("F",), "Filter: clear", "clear the filter", "compare", "CHANGES"),
    *_sorts("compare", "Compare", "CHANGES", none="lost first"),
    Action("compare.swap", ("b",), "Compare: swap A and B", "swap A and B", "compare", "RUNS", "swap A/B", 80),
    Action("compare.pick", ("p",), "Compare: other run", "other run as B", "compare", "RUNS", "other run",
           70),
    Action("open.a", ("a",), "Compare: open A in Review", "open A in Review", "compare", "CHANGES", "open A", 60),
    Action("view.next", ("v",), "View: next", "next view", "compare", "CHANGES",
           "view", 55),
    Action("view.numbers", ("i",), "View: numbers", "numbers by category", "compare", "CHANGES", "numbers", 57),
    Action("lost.again", ("R",), "Compare: re-run the lost", "re-run the lost", "compare", "CHANGES",
           "re-run lost", 52),
    Action("compare.add", ("+",), "Compare: add a run", "add a run", "compare", "RUNS",
           "add run", 35),
    Action("reload", ("ctrl+r",), "Compare: read again", "read both runs again", "compare", "RUNS"),
    Action("export", ("E",), "Export: menu", "export …", "compare", "EXPORT", "export", 50, opens_menu=True,
           palette=False),
    export_action("m", "markdown", "Markdown", "compare"),
    export_action("c", "csv", "CSV", "compare"),
    export_action("j", "json", "JSON", "compare"),
    Action("copy", ("y",), "Copy: menu", "copy …", "compare", "COPY", "copy", 45, opens_menu=True, palette=False),
    _copy("i", "id", "case id", "compare"),
    _copy("m", "message", "how it changed", "compare"),
    _copy("t", "table", "Markdown table", "compare"),
    _copy("c", "command", "shell command", "compare"),
)  # fmt: skip

_BOARD = (
    Action("column.prev", ("h", "left"), "Leaderboard: columns before", "columns before, after", "board",
           "LEADERBOARD", "columns", 75, pair="column.next"),
    Action("column.next", ("l", "right"), "Leaderboard: columns after", "columns after", "board", "LEADERBOARD",
           pair="column.prev"),
    Action("group.next", ("]", "J"), "Leaderboard: next suite", "next, previous suite", "board", "LEADERBOARD",
           "next suite", 70, pair="group.prev"),
    Action("group.prev", ("[", "K"), "Leaderboard: previous suite", "previous suite", "board", "LEADERBOARD",
           pair="group.next"),
    Action("mark", ("m",), "Run: mark for compare", "mark; two compare", "board",
           "LEADERBOARD", "mark", 60),
    Action("reload", ("ctrl+r",), "Leaderboard: refresh", "read all runs again", "board", "LEADERBOARD"),
)  # fmt: skip

_LIBRARY = (
    Action("find", ("/",), "Library: filter", "filter by words", "library", "LIBRARY", "filter", 60),
    Action("filter.clear", ("F",), "Library: show all", "show all", "library", "LIBRARY"),
    Action("fold", ("x",), "Library: fold", "fold or unfold", "library", "LIBRARY"),
    Action("model.ping", ("p",), "Model: ping", "ping its server", "library", "LIBRARY", "ping", 55),
    Action("entry.edit", ("e",), "Library: edit", "edit its file", "library", "LIBRARY", "edit", 40),
    Action("suite.suspects", ("s",), "Suite: suspect keys", "suspect keys", "library", "LIBRARY", of_graders=True),
    Action("suite.new", ("n",), "Suite: new", "new suite of your own", "library", "LIBRARY", "new suite", 45),
    Action("reload", ("ctrl+r",), "Library: refresh", "read all again", "library", "LIBRARY"),
    Action("copy", ("y",), "Copy: menu", "copy …", "library", "COPY", "copy", 30, opens_menu=True, palette=False),
    _copy("i", "id", "name of this", "library"),
    _copy("c", "command", "shell command", "library"),
    _copy("j", "json", "case as JSON", "library"),
)  # fmt: skip

_GRID = (
    _move("pane.next", ("tab",), "next, previous pane", "grid", "pane.prev"),
    _move("pane.prev", ("shift+tab",), "previous pane", "grid", "pane.next"),
    Action("column.prev", ("h", "left"), "Grid: run before", "run before, after", "grid", "RUNS", "run", 75,
           pair="column.next"),
    Action("column.next", ("l", "right"), "Grid: run after", "run after", "grid", "RUNS", pair="column.prev"),
    Action("fold", ("x",), "Grid: repeats of a case", "show, hide repeats", "grid", "CASES", "repeats", 55),
    Action("find", ("/",), "Grid: filter", "filter by words", "grid", "CASES", "filter", 60),
    Action("filter", ("f",), "Grid: differing, or all", "differing, or all", "grid", "CASES", "differing/all",
           65),
    Action("view.outputs", ("v",), "Grid: answers in cells", "answers, or verdicts", "grid", "CASES", "answers", 62),
    Action("view.suspects", ("s",), "Grid: suspect keys", "suspect keys", "grid", "CASES", "suspect keys", 58),
    Action("erratum", ("X",), "Key: decide", "decide on this key …", "grid", "CASES", opens_menu=True,
           palette=False),
    _erratum("k", "right", "the key is right"),
    _erratum("w", "wrong", "the key is wrong"),
    _erratum("a", "ambiguous", "the case is ambiguous"),
    _erratum("u", "upstream", "write upstream issue"),
    _erratum("i", "import", "add errata of a file"),
    Action("filter.clear", ("F",), "Grid: what differs", "what differs", "grid", "CASES"),
    Action("reload", ("ctrl+r",), "Grid: read again", "read all runs again", "grid", "CASES"),
)  # fmt: skip

_TRENDS = (
    Action("mark", ("m",), "Run: mark for compare", "mark; two compare", "trends", "RUNS", "mark", 60),
    Action("reload", ("ctrl+r",), "Trends: refresh", "read all runs again", "trends", "RUNS"),
)

_SEARCH = (
    Action("find", ("/",), "Search: words", "other words", "search", "SEARCH", "words", 90),
    Action("group.next", ("]", "J"), "Search: next run", "next, previous run", "search", "SEARCH", "next run", 70,
           pair="group.prev"),
    Action("group.prev", ("[", "K"), "Search: previous run", "previous run", "search", "SEARCH",
           pair="group.next"),
    Action("copy", ("y",), "Copy: menu", "copy …", "search", "COPY", "copy", 45, opens_menu=True, palette=False),
    _copy("i", "id", "case id", "search"),
    _copy("c", "command", "its shell command", "search"),
)  # fmt: skip

ACTIONS: tuple[Action, ...] = (
    *_ALL, *_ROWS, *_LINE, *_TEXT, *_PANES, *_HOME, *_LAUNCH, *_LIVE, *_REVIEW, *_LABEL, *_COMPARE, *_BOARD,
    *_LIBRARY, *_GRID, *_TRENDS, *_SEARCH,
)  # fmt: skip

ALIASES: Mapping[str, str] = {
    "run.new": "start launch execute evaluate begin benchmark queue add",
    "run.resume": "continue restart unpause",
    "run.failed": "retry repeat again",
    "run.again": "retry repeat play again",
    "run.again.shown": "retry repeat",
    "run.delete": "remove dequeue cancel trash",
    "run.stop": "cancel abort kill quit end",
    "run.pause": "hold wait",
    "run.faster": "concurrency parallel workers speed",
    "run.slower": "concurrency parallel workers speed",
    "run.review": "failures errors inspect open",
    "queue": "order first last move waiting",
    "queue.go": "start run resume wake",
    "launch.start": "launch run begin queue execute",
    "preset": "settings template configuration",
    "go.home": "overview runs",
    "go.live": "watch monitor running progress",
    "go.review": "failures errors cases inspect results",
    "go.compare": "difference versus two runs",
    "go.library": "models suites datasets benchmarks tasks",
    "go.grid": "compare several runs table matrix outputs",
    "go.board": "ranking scores table results",
    "go.trends": "history chart plot time",
    "go.search": "find grep full text conversations everywhere",
    "history": "case over time all runs models past",
    "keep": "add save regression suite collect own",
    "jump": "open search goto find",
    "help": "keys shortcuts bindings manual ?",
    "messages": "log notifications toasts errors",
    "theme.next": "settings color colour appearance",
    "notice.toggle": "preferences options sound notification alert",
    "quit": "exit close leave",
    "view.zoom": "maximize full screen",
    "organize": "bookkeeping mark star favorite compress hide",
    "models.check": "test try doctor server tool parser template",
    "models.add": "new provider server api key configure",
    "models.edit": "settings configuration api key price add new provider",
    "entry.edit": "settings configuration open file",
    "model.ping": "test check connection",
    "suite.suspects": "wrong ground truth key errata contested",
    "view.suspects": "wrong ground truth key errata contested",
    "erratum": "wrong ground truth key errata contested ambiguous",
    "suite.new": "create own add dataset",
    "import": "load open read inspect promptfoo lm-eval",
    "mark": "select compare versus",
    "reload": "refresh update",
    "export": "save write download share file",
    "export.html": "report",
    "export.site": "html report website",
    "export.eval": "inspect_ai",
    "copy": "clipboard yank",
    "find": "search filter grep /",
    "filter": "show only hide",
    "filter.clear": "clear reset remove",
    "sort": "order column",
    "group": "cluster by",
    "tag": "mark cause blame",
    "note.add": "remark annotate",
    "dispute": "wrong expected report",
    "label": "cluster cause judge llm",
    "branch": "fork try again change",
    "view.numbers": "statistics summary matrix",
    "view.layout": "diff columns",
    "fold": "expand collapse more",
}
"""Additional words by which the palette finds actions, keyed by an action's id or its first part."""


@runtime_checkable
class HasOwnKeys(Protocol):
    """A widget with keys of its own."""

    where: ClassVar[str]
    """Name of the widget in the action table."""


@runtime_checkable
class TakesLetters(Protocol):
    """A widget that takes typed letters, which disables the screen's keys while it has the focus."""

    @property
    def typing_words(self) -> Mapping[str, str] | None:
        """Key line words for its own keys, by action id; None while it takes no letters."""
        ...


class ActionSource(Protocol):
    """A screen as seen by help and palette: its actions and their availability."""

    heading: ClassVar[str]
    """Display name of the screen."""

    def actions_here(self) -> tuple[Action, ...]:
        """Return all actions of the screen and the focused pane."""
        ...

    def key_words(self) -> Mapping[str, str]:
        """Return words of actions that differ from the table now, by action id."""
        ...

    def why_not(self, action: Action) -> str:
        """Return the reason an action is not available now; empty if it is."""
        ...
