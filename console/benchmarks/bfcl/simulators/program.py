"""The worker program that hosts the simulators of a dataset, for live conversations and checks.

    setup       {"folder": dataset folder, "simulators": folder below it, "modules": {class name: module}}
    begin       {"key", "entry"}              new instances for a conversation
    execute     {"key", "calls": [text, …]}   results, in order
    state       {"key"}                       public attributes by class
    end         {"key"}
    trace       {"entry", "turns"}            stored state by class, before the first turn and after each
    spent       {}                            processor seconds of this worker
    checks      {"items": [{"entry", "turns", "truth"}, …], "recorded", "whole"}   findings of `turn_check` in
                order; passed ones are complete only with `whole`

Modules are imported lazily, from the dataset folder only. They receive model output only as parsed literals.
"""

import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from console.benchmarks.bfcl.simulators.state import STATELESS, Simulators, public_state, stored_state
from console.benchmarks.bfcl.simulators.turn_check import check_turns

Operation = Callable[[dict[str, Any]], Any]


class _Classes(Mapping[str, Callable[[], Any]]):
    """Simulator classes by name, imported lazily."""

    def __init__(self, package: str, modules: dict[str, str]) -> None:
        self._package = package
        self._modules = modules

    def __getitem__(self, name: str) -> Callable[[], Any]:
        module = importlib.import_module(f"{self._package}.{self._modules[name]}")
        return getattr(module, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


class SimulatorServer:
    """The conversations and checks of one worker."""

    def __init__(self, classes: Mapping[str, Callable[[], Any]]) -> None:
        """Create a server that has no conversations yet."""
        self._classes = classes
        self._by_conversation: dict[str, Simulators] = {}

    def begin(self, arguments: dict[str, Any]) -> None:
        """Create new instances under a key."""
        self._by_conversation[arguments["key"]] = Simulators(self._classes, arguments["entry"], "model")

    def execute(self, arguments: dict[str, Any]) -> list[str]:
        """Execute calls of a conversation."""
        return self._by_conversation[arguments["key"]].execute(arguments["calls"])

    def state(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the public state of a conversation's instances, by class."""
        instances = self._by_conversation[arguments["key"]].instances
        return {name: public_state(instance) for name, instance in instances.items()}

    def trace(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """Execute a conversation and return the stored states before and after each turn."""
        simulators = Simulators(self._classes, arguments["entry"], "model")
        states = [_stored(simulators)]
        for steps in arguments["turns"]:
            for calls in steps:
                simulators.execute(calls)
            states.append(_stored(simulators))
        return states

    def end(self, arguments: dict[str, Any]) -> None:
        """Drop a conversation."""
        self._by_conversation.pop(arguments["key"], None)

    def checks(self, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """Check conversations against ground truth; findings of passed ones are empty unless `whole` is set."""
        return [self._check(item, arguments) for item in arguments["items"]]

    def _check(self, item: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        finding = check_turns(self._classes, item["entry"], item["turns"], item["truth"], recorded=options["recorded"])
        return finding if finding["error_type"] or options["whole"] else {"error_type": None}


def _stored(simulators: Simulators) -> dict[str, Any]:
    return {name: stored_state(instance) for name, instance in simulators.instances.items() if name not in STATELESS}


def start(port: object, setup: dict[str, Any]) -> dict[str, Operation]:
    """Start serving conversations over one dataset."""
    del port
    sys.path.append(setup["folder"])
    package = setup["simulators"].strip("/").replace("/", ".")
    stand = SimulatorServer(_Classes(package, setup["modules"]))
    return {
        "begin": stand.begin,
        "execute": stand.execute,
        "state": stand.state,
        "trace": stand.trace,
        "end": stand.end,
        "checks": stand.checks,
        "spent": lambda _: time.process_time(),
    }
