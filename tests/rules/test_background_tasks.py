"""Tasks are started where their failures are reported; see `console.engine.background`."""

import ast

from rules.package import MODULES
from rules.trees import tree_of

HOME = "console.engine.background"
AWAITED = {
    "console.benchmarks.bfcl.request_check": "it races the task with a question, and awaits both",
    "console.benchmarks.harness.driver.inspect_driver": "a program of its own, in another environment",
    "console.benchmarks.harness.driver.verifiers_driver": "a program of its own, in another environment",
    "console.benchmarks.harness.driver_process": "it awaits them when it ends the driver",
    "console.benchmarks.harness.play": "who made a call awaits its task",
    "console.engine.engine_loop": "it turns the loop until they end, and names those that do not",
    "console.engine.role_warnings": "it awaits the task beside a change of the run",
    "console.llm.balancer": "it awaits the first of several",
    "console.llm.servers.drift": "it awaits all questions, and what is left of them when one failed",
}
"""Modules that start tasks and await them themselves."""


def starts_tasks(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("create_task", "ensure_future") for node in ast.walk(tree)
    )


def test_tasks_are_started_in_one_place_or_awaited_where_they_start() -> None:
    starting = {name for name, path in MODULES.items() if starts_tasks(tree_of(path))}
    assert starting == {HOME, *AWAITED}
