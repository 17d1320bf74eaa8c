"""Token counts, credible and not."""

from server.faults.registry import FAULTS, TEXT, both, fault
from server.http1 import Exchange

FAULTS |= {
    "usage_missing": lambda e: both(e, {"content": TEXT}),
    "usage_negative": lambda e: both(e, {"content": TEXT}, usage={"prompt_tokens": -5, "completion_tokens": 3}),
    "usage_zero": lambda e: both(e, {"content": TEXT}, usage={"prompt_tokens": 0, "completion_tokens": 0}),
    "usage_absurd": lambda e: both(e, {"content": TEXT}, usage={"prompt_tokens": 10**12, "completion_tokens": "many"}),
}


@fault
def usage_full(e: Exchange) -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 12},
        "cost": 0.00125,
    }
    both(e, {"content": TEXT}, usage=usage)
