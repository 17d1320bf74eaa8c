"""Names, collections and order of BFCL v4 categories.

As in the official code, categories are classified by substrings of the name (`live`, `multi_turn`, `memory`, `java` …),
which works for entry ids as well.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from console.core.fault import UsageError
from console.core.suggestion import suggest

if TYPE_CHECKING:
    from console.suites.call_matching.checker import CallRule

NON_LIVE = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
)
LIVE = (
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
MULTI_TURN = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
BACKENDS = ("kv", "vector", "rec_sum")
MEMORY = tuple(f"memory_{backend}" for backend in BACKENDS)
SCENARIOS = ("student", "customer", "finance", "healthcare", "notetaker")
WEB_SEARCH = ("web_search_base", "web_search_no_snippet")
AGENTIC = (*MEMORY, *WEB_SEARCH)
FORMAT_SENSITIVITY = "format_sensitivity"
SINGLE_TURN = (*NON_LIVE, *LIVE)
SCORING = (*SINGLE_TURN, *MULTI_TURN, *AGENTIC)
ALL = (*SCORING, FORMAT_SENSITIVITY)

COLLECTIONS: dict[str, tuple[str, ...]] = {
    "all": ALL,
    "all_scoring": SCORING,
    "multi_turn": MULTI_TURN,
    "single_turn": SINGLE_TURN,
    "live": LIVE,
    "non_live": NON_LIVE,
    "non_python": ("simple_java", "simple_javascript"),
    "python": ("simple_python", "irrelevance", "parallel", "multiple", "parallel_multiple", *LIVE),
    "memory": MEMORY,
    "web_search": WEB_SEARCH,
    "agentic": AGENTIC,
}
"""Categories by collection, in official order."""


def resolve(names: Iterable[str]) -> list[str]:
    """Return the union of collections and categories, sorted alphabetically as in the official code.

    Raises:
        UsageError: unknown name; suggests one.
    """
    categories: set[str] = set()
    for name in names:
        if name in COLLECTIONS:
            categories.update(COLLECTIONS[name])
        elif name in ALL:
            categories.add(name)
        else:
            hint = suggest(name, [*ALL, *COLLECTIONS], f"Known categories: {', '.join(ALL)}.")
            raise UsageError(f"unknown BFCL category {name!r}", hint=hint)
    return sorted(categories)


def category_of(entry_id: str) -> str:
    """Return the category of an entry id; those of memory prerequisites end in `_prereq`."""
    return entry_id.partition(":")[0].rpartition("_")[0]


def group_of(name: str) -> str:
    """Return the result group of a category or entry id: `non_live`, `live`, `multi_turn` and so on."""
    if FORMAT_SENSITIVITY in name:
        return FORMAT_SENSITIVITY
    if "live" in name:
        return "live"
    if is_multi_turn(name):
        return "multi_turn"
    return "agentic" if is_agentic(name) else "non_live"


def is_multi_turn(name: str) -> bool:
    """Return whether a category or id is a conversation with simulators."""
    return "multi_turn" in name


def is_agentic(name: str) -> bool:
    """Return whether a category or id belongs to memory or web search."""
    return is_memory(name) or "web_search" in name


def is_memory(name: str) -> bool:
    """Return whether a category or id belongs to memory, including prerequisites."""
    return "memory" in name


def is_prerequisite(name: str) -> bool:
    """Return whether an id is a memory prerequisite, which is played but not scored."""
    return "prereq" in name


def is_relevance(name: str) -> bool:
    """Return whether only the presence of a call is judged (relevance and irrelevance)."""
    return "relevance" in name


def is_single_turn(name: str) -> bool:
    """Return whether entries have a single reply."""
    return not is_multi_turn(name) and not is_agentic(name)


def language_of(name: str) -> str:
    """Return the language of a category's calls: `java`, `javascript` or `python`."""
    if "javascript" in name:
        return "javascript"
    return "java" if "java" in name else "python"


def call_rule_of(name: str) -> "CallRule":
    """Return the rule for the calls of a category or entry id."""
    from console.suites.call_matching.checker import CallRule  # not for leaderboards, which Home needs at its start

    kind = "parallel" if "parallel" in name else "multiple" if "multiple" in name else "simple"
    return CallRule(kind, language_of(name))


def backend_of(name: str) -> str:
    """Return the memory backend of a memory category or id."""
    return next(backend for backend in BACKENDS if f"memory_{backend}" in name)


def parts_of(category: str) -> tuple[str, ...]:
    """Return the category, and that of its prerequisites if it has any."""
    return (category, f"{category}_prereq") if is_memory(category) else (category,)


def running_index(entry_id: str) -> int:
    """Return the index in an entry id, which orders its category."""
    number = entry_id.partition(":")[0].rpartition("_")[2].partition("-")[0]
    return int(number) if number.isdecimal() else 0


def sort_key(entry_id: str) -> tuple[int, str, int]:
    """Return the official sort key of entries: priority, category, index."""
    category = category_of(entry_id)
    return (priority(category), category, running_index(entry_id))


def priority(category: str) -> int:
    """Return the official priority of a category's kind."""
    if is_prerequisite(category):
        return 0
    if "web_search" in category:
        return 1
    if is_multi_turn(category):
        return 3
    return 4 if is_memory(category) else 2
