"""Names of BFCL v4 categories, the collections they form, and the order in which entries are played and listed.

Classification follows the official rule, which looks for parts of the name (`live`, `multi_turn`, `memory`, `java` …),
so that it holds for entry ids as well as for categories.
"""

from collections.abc import Iterable

from console.core.fault import UsageError
from console.core.suggestion import nearest
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
"""By name, in the official order."""


def resolve(names: Iterable[str]) -> list[str]:
    """Return the union of the named collections and categories, sorted alphabetically as the official tool does.

    Raises:
        UsageError: a name that is neither; names the nearest.
    """
    categories: set[str] = set()
    for name in names:
        if name in COLLECTIONS:
            categories.update(COLLECTIONS[name])
        elif name in ALL:
            categories.add(name)
        else:
            close = nearest(name, [*ALL, *COLLECTIONS])
            hint = f"Did you mean {close}?" if close else f"Known categories: {', '.join(ALL)}."
            raise UsageError(f"no BFCL category is called {name!r}", hint=hint)
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
    """Whether a category or id belongs to the simulator conversations."""
    return "multi_turn" in name


def is_agentic(name: str) -> bool:
    """Whether a category or id belongs to memory or web search."""
    return is_memory(name) or "web_search" in name


def is_memory(name: str) -> bool:
    """Whether a category or id belongs to memory, prerequisites included."""
    return "memory" in name


def is_prerequisite(name: str) -> bool:
    """Whether an id is a memory prerequisite: played, never scored."""
    return "prereq" in name


def is_relevance(name: str) -> bool:
    """Whether only the presence of a call is judged (relevance and irrelevance)."""
    return "relevance" in name


def is_single_turn(name: str) -> bool:
    """Whether one reply is all there is."""
    return not is_multi_turn(name) and not is_agentic(name)


def language_of(name: str) -> str:
    """Return the language of a category's calls: `java`, `javascript` or `python`."""
    if "javascript" in name:
        return "javascript"
    return "java" if "java" in name else "python"


def call_rule_of(name: str) -> CallRule:
    """Return how the calls of a category, or of the id of a varied entry, are checked."""
    kind = "parallel" if "parallel" in name else "multiple" if "multiple" in name else "simple"
    return CallRule(kind, language_of(name))


def backend_of(name: str) -> str:
    """Return the memory backend of a memory category or id."""
    return next(backend for backend in BACKENDS if f"memory_{backend}" in name)


def parts_of(category: str) -> tuple[str, ...]:
    """Return the category, and the one in the ids of what its entries build on where there is such a thing."""
    return (category, f"{category}_prereq") if is_memory(category) else (category,)


def running_index(entry_id: str) -> int:
    """Return the number by which the entries of a category are ordered."""
    number = entry_id.partition(":")[0].rpartition("_")[2].partition("-")[0]
    return int(number) if number.isdecimal() else 0


def sort_key(entry_id: str) -> tuple[int, str, int]:
    """Return the official order of entries: priority of the kind, category, running index."""
    category = category_of(entry_id)
    return (priority(category), category, running_index(entry_id))


def priority(category: str) -> int:
    """Return the place of a category's kind in the official order."""
    if is_prerequisite(category):
        return 0
    if "web_search" in category:
        return 1
    if is_multi_turn(category):
        return 3
    return 4 if is_memory(category) else 2
