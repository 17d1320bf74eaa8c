"""What holds for all tests: neither made-up examples nor waiting for the app depends on how busy the machine is."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings
from support import idle_wait, json_kinds

RANDOM = bool(os.environ.get("EVAL_CONSOLE_RANDOM"))
"""Draw new examples in every run, as `make soak` does; otherwise each test has its own fixed ones."""

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not RANDOM)
settings.load_profile("busy")
idle_wait.install()
json_kinds.install()


def pytest_collection_finish() -> None:
    """Exempt all collected tests and modules from garbage collection: each run in this process collects once."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what the program remembers, also in processes of tests, out of the state folder of whoever runs them."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
