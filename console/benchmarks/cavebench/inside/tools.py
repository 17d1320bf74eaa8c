"""Worker program of JSON mode: calls the scenario's tools one at a time with the model's arguments."""

import inspect
import json
from typing import Any

from console.benchmarks.cavebench.inside.scenario import ScenarioModule, load
from console.benchmarks.cavebench.rules.json_values import sendable
from console.benchmarks.cavebench.rules.schema import ToolSchemaError, schema_of
from console.sandbox.serve import Operation, Port


class Toolbox:
    """The operations of JSON mode."""

    def __init__(self, scenario: ScenarioModule, turns: list[dict[str, Any]]) -> None:
        self._scenario = scenario
        self._turns = turns
        self._tools = {tool.__name__: tool for tool in scenario.tools}

    def describe(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return tool schemas, and the module's description and requirements.

        Raises:
            ToolSchemaError: a tool cannot be offered natively.
        """
        del arguments
        return {
            "tools": [schema_of(tool) for tool in self._scenario.tools],
            "description": self._scenario.description,
            "requirements": self._scenario.requirements,
        }

    def invoke(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return the text for the model: strings unchanged, other values as JSON, or an error."""
        try:
            result = self._tools[arguments["tool"]](**_given(arguments))
            if inspect.iscoroutine(result):
                result.close()
                raise TypeError("the tool is asynchronous")
            text = str(result) if isinstance(result, str) else json.dumps(result)
        except KeyError as error:
            text = f"Error: no tool is called {error}" if arguments["tool"] not in self._tools else f"Error: {error}"
        except BaseException as error:
            text = f"Error: {error}"
        return {"text": sendable(text)}

    def validate(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Run the validator of a turn; this mode has no runtime."""
        calls: list[tuple[str, Any, str]] = [
            (call["function"], _given(call), call["call_id"]) for call in arguments["calls"]
        ]
        number: int = arguments["turn"]
        return self._scenario.validate(self._turns[number], str(arguments["response"]), None, calls)


def _given(call: dict[str, Any]) -> Any:
    """Return the arguments of a call as the model wrote them, which may contain values that strict JSON lacks."""
    return json.loads(call["written"]) if "written" in call else call["arguments"]


def start(port: Port, setup: dict[str, Any]) -> dict[str, Operation]:
    """Import the scenario and offer its tools."""
    del port
    scenario = load(setup["root"], setup["module"], setup["beside"])
    scenario.check(setup["turns"])
    box = Toolbox(scenario, setup["turns"])
    return {"describe": box.describe, "invoke": box.invoke, "validate": box.validate}


__all__ = ["ToolSchemaError", "Toolbox", "start"]
