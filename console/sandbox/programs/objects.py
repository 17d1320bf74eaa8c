"""Objects of classes from given Python files, with an allow-list of methods; their state stays in the worker.

Setup: `{"files": {module name: path}, "allowed": {class name: [method, …]}}`. Operations: `make` (class, name),
`invoke` (name, method, arguments, keywords), `drop` (name). For simulators that a benchmark supplies as code.
"""

import importlib.util
import sys
from typing import Any

from console.sandbox.serve import Operation, Port


class ObjectStore:
    """The objects of one worker by caller-given name."""

    def __init__(self, classes: dict[str, type], allowed: dict[str, list[str]]) -> None:
        self._classes = classes
        self._allowed = {name: frozenset(methods) for name, methods in allowed.items()}
        self._objects: dict[str, tuple[str, Any]] = {}

    def make(self, arguments: dict[str, Any]) -> None:
        """Create an object of a loaded class under a name."""
        name = arguments["class"]
        self._objects[arguments["name"]] = (name, self._classes[name](**arguments.get("keywords", {})))

    def invoke(self, arguments: dict[str, Any]) -> Any:
        """Call an allowed method of an object.

        Raises:
            PermissionError: the method is not allowed for its class.
        """
        class_name, target = self._objects[arguments["name"]]
        method = arguments["method"]
        if method not in self._allowed.get(class_name, ()):
            raise PermissionError(f"{class_name}.{method} may not be called")
        return getattr(target, method)(*arguments.get("arguments", []), **arguments.get("keywords", {}))

    def drop(self, arguments: dict[str, Any]) -> None:
        self._objects.pop(arguments["name"], None)


def start(port: Port, setup: dict[str, Any]) -> dict[str, Operation]:
    """Load the files in order; later files can import earlier ones by name."""
    del port
    classes: dict[str, type] = {}
    for name, path in setup["files"].items():
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        classes |= {key: value for key, value in vars(module).items() if isinstance(value, type)}
    workspace = ObjectStore(classes, setup["allowed"])
    return {"make": workspace.make, "invoke": workspace.invoke, "drop": workspace.drop}
