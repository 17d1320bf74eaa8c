"""Runs code of a model in the sandbox, with hidden tests, as one journaled effect.

The tests are split here: the sandbox gets them one by one after the code was loaded. The journal has only their digest
and, for each test, name, result, time and the expected and actual values of a failure.
"""

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from console.core.fault import Fault, FaultKind, UsageError, reason_of
from console.core.ready_type import ready_type

RUN_CODE = "run_code"
"""Kind of the effect."""
_PROGRAM = "console.sandbox.programs.tested_code"
_STARTED_S = 60.0


class TestResult(Struct, frozen=True, omit_defaults=True):
    """Result of one test."""

    name: str
    passed: bool
    seconds: float = 0.0
    error: str = ""
    line: int = 0
    """Line of the code at which the error was raised; 0 if it was raised elsewhere."""
    expected: str = ""
    got: str = ""


class CodeResult(Struct, frozen=True, omit_defaults=True):
    """Result of running code."""

    passed: bool
    """True if the code was loaded and all tests passed."""
    tests: list[TestResult] = msgspec.field(default_factory=list[TestResult])
    error: str = ""
    """Error of the code itself, before any test."""
    line: int = 0
    stdout: str = ""
    seconds: float = 0.0


class Performs(Protocol):
    """The part of a stage that runs code."""

    async def perform(self, kind: str, request: Any, action: Any) -> Any:
        """Perform an effect once."""
        ...


async def run_code(
    stage: Performs,
    code: str,
    *,
    tests: str = "",
    files: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 10.0,  # noqa: ASYNC109 - it is that of the code, not of this call
    packages: Path | None = None,
    hidden: Path | None = None,
) -> CodeResult:
    """Run Python code in the sandbox, and then each test.

    Args:
        stage: the stage of the case.
        code: the code; tests can use its names.
        tests: Python source: functions `test_…`, or else the `assert` and call statements at the top level.
        files: texts by relative path, written before the code runs.
        stdin: standard input of the code.
        timeout: seconds for the code, and for each test.
        packages: folder with wheels of pure Python, which the code can import.
        hidden: folder that the code may not read, even inside a readable one.

    Raises:
        UsageError: the tests or file names are wrong.
        Fault: the sandbox failed.
    """
    setup, parts = parse_tests(tests) if tests else ("", [])
    given = dict(files or {})
    for name in given:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise UsageError(f"{name!r} is not a path inside the sandbox's folder", where="files")
    wheels = _wheels_in(packages)
    request: dict[str, Any] = {
        "code": code,
        "stdin": stdin,
        "timeout": timeout,
        "tests": _digest(tests) if tests else "",
    }
    request["files"] = {name: _digest(text) for name, text in given.items()}
    request["packages"] = [wheel.name for wheel in wheels]

    async def action() -> Any:
        loaded = {"code": code, "stdin": stdin, "files": given, "packages": [str(path.resolve()) for path in wheels]}
        run = _Run(loaded, setup, parts, timeout)
        return msgspec.to_builtins(await run.result(wheels, [hidden] if hidden else []))

    return msgspec.convert(await stage.perform(RUN_CODE, request, action), ready_type(CodeResult))


def _wheels_in(folder: Path | None) -> list[Path]:
    return sorted(folder.glob("*.whl")) if folder else []


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class _Run:
    """One run in its own worker."""

    def __init__(self, loaded: dict[str, Any], setup: str, parts: list[tuple[str, str]], timeout: float) -> None:
        self._loaded = {**loaded, "name": "solution"}
        self._setup, self._parts, self._timeout = setup, parts, timeout

    async def result(self, wheels: list[Path], hidden: list[Path]) -> CodeResult:
        from console.sandbox.limits import WorkerLimits
        from console.sandbox.worker import Worker

        limits = WorkerLimits(start_s=_STARTED_S)
        worker = await Worker.start(_PROGRAM, read_only=wheels, hidden=hidden, limits=limits)
        try:
            loaded = await self._call(worker, "load", self._loaded)
            if not loaded.get("error") and self._setup:
                prepared = await self._call(worker, "prepare", {"source": self._setup})
                loaded |= {name: prepared[name] for name in ("error", "line") if prepared.get(name)}
            broken = str(loaded.get("error", ""))
            tests = [await self._test(worker, name, source, broken) for name, source in self._parts]
        finally:
            await worker.kill()
        passed = not broken and all(test.passed for test in tests)
        kept = {name: loaded[name] for name in ("line", "stdout", "seconds") if name in loaded}
        return msgspec.convert({"passed": passed, "error": broken, **kept, "tests": tests}, ready_type(CodeResult))

    async def _test(self, worker: Any, name: str, source: str, broken: str) -> TestResult:
        if broken or worker.is_lost:
            return TestResult(name, False, error="not run, as the code failed" if broken else "not run")
        answer = await self._call(worker, "test", {"source": source})
        answer.pop("stdout", None)
        return msgspec.convert({"name": name, "passed": not answer.get("error"), **answer}, ready_type(TestResult))

    async def _call(self, worker: Any, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call the program; if the code ends its worker or keeps it busy, that is an error of the code."""
        from console.sandbox.exchange import WorkerError, WorkerLost

        try:
            answer = await worker.call(operation, arguments, wall_s=self._timeout)
        except WorkerLost as lost:
            return {"error": lost.message[:500]}
        except WorkerError as error:
            return {"error": str(error)[:500]}
        if not isinstance(answer, dict):
            raise Fault(FaultKind.SANDBOX, "the code forged the result of its run")
        return cast(dict[str, Any], answer)


def parse_tests(source: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the source that defines the tests, and name and source of each.

    Raises:
        UsageError: the source cannot be parsed, or has no tests.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"the tests cannot be parsed: {reason_of(error)}") from None
    functions = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    ]
    parts: list[tuple[str, ast.stmt]] = []
    if functions:
        for node in functions:
            is_async = isinstance(node, ast.AsyncFunctionDef)
            run = f"__import__('asyncio').run({node.name}())" if is_async else f"{node.name}()"
            parts.append((node.name, ast.parse(run).body[0]))
        setup = tree.body
    else:
        statements = [node for node in tree.body if _is_test(node)]
        parts = [(ast.unparse(node)[:200], node) for node in statements]
        setup = [node for node in tree.body if node not in statements]
    if not parts:
        raise UsageError("the tests have no function `test_…`, and no `assert` at the top level")
    rewritten = _Asserts()
    return _source(setup, rewritten), [(name, _source([node], rewritten)) for name, node in parts]


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _source(body: list[ast.stmt], rewritten: "_Asserts") -> str:
    return ast.unparse(ast.fix_missing_locations(rewritten.visit(ast.Module(body=body, type_ignores=[]))))


class _Asserts(ast.NodeTransformer):
    """Rewrites `assert left == right` to report both values, and gives other asserts their source as message."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Return the statements in place of an assert."""
        test = node.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            node.msg = node.msg or ast.Constant(ast.unparse(test)[:200])
            return node
        body = ast.parse(
            "_got = 0\n_expected = 0\nif not (_got == _expected):\n    raise _Mismatch(_got, _expected)"
        ).body
        cast(ast.Assign, body[0]).value, cast(ast.Assign, body[1]).value = test.left, test.comparators[0]
        return body
