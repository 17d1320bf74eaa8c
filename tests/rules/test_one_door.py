"""The terminal is written by one module per front end, `cli/output.py` and the app's driver, and by nothing else."""

import ast
from collections.abc import Iterator

import pytest
from rules.package import MODULES
from rules.trees import tree_of

DOOR = "console.cli.output"
ALLOWED = {
    "console.__main__: sys.stderr": "on Windows nothing else can be imported",
    "console.benchmarks.harness.driver.program_driver: os.write": "a pipe, with the case that a program reads",
    "console.store.journal: os.write": "the journal's own file",
    "console.engine.watchdog: os.write": "a pipe, and the one sentence of a process that outlives the engine",
    "console.llm.gateway.server: logging": "it drops what aiohttp would log about clients that break off",
    "console.llm.litellm_client: logging": "it silences what that library would log",
    "console.sandbox.macos.process: os.execv": "the worker, whose output is a socket to its keeper",
    "console.tui.editor: subprocess.run": "the reader's own pager or editor has the terminal",
    "console.tui.picture_page: sys.__stdout__": "pictures of textual-image, while the app is suspended",
}
"""What the rule finds and what is right all the same, with the reason."""
_ASKED = {"isatty", "fileno", "encoding"}
"""What may be asked of a standard stream; nothing is written by that."""
_WRITERS = {
    "os.write", "os.writev", "os.system", "sys.excepthook", "sys.displayhook", "sys.unraisablehook",
    "logging", "pprint", "warnings.warn", "traceback.print_exc", "traceback.print_exception", "traceback.print_stack",
    "faulthandler", "curses",
}  # fmt: skip
_STARTERS = {"subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call",
             "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell", "os.spawnv", "os.execv"}  # fmt: skip


def findings(tree: ast.AST) -> Iterator[str]:
    asked = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _ASKED}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("print", "breakpoint"):
            yield node.id
        elif isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if name.strip("_").replace("__", "") in ("sys.stdout", "sys.stderr") and id(node) not in asked:
                yield name
            if name in _WRITERS:
                yield name
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from (f"sys.{name.name}" for name in node.names if name.name.strip("_") in ("stdout", "stderr"))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            yield from (name for name in names if name in _WRITERS)
        elif isinstance(node, ast.Constant) and node.value in ("/dev/tty", "/dev/stdout", "/dev/stderr"):
            yield node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _STARTERS and not _is_piped(node):
            yield ast.unparse(node.func)


def _is_piped(call: ast.Call) -> bool:
    """Whether a started program has not our terminal to write to."""
    named = {keyword.arg for keyword in call.keywords}
    return "capture_output" in named or {"stdout", "stderr"} <= named


def test_only_the_door_writes_to_the_terminal_and_every_exception_is_needed() -> None:
    writers = {f"{name}: {text}" for name, path in MODULES.items() if name != DOOR for text in findings(tree_of(path))}
    assert writers == set(ALLOWED)


@pytest.mark.parametrize(
    "bad",
    [
        "print(x)",
        "def pull(say=print): pass",
        "sys.stdout.write(x)",
        "sys.stderr.buffer.write(x)",
        "sys.__stdout__.write(x)",
        "write = sys.stdout",
        "from sys import stderr",
        "os.write(1, x)",
        "import logging",
        "warnings.warn(x)",
        "traceback.print_exc()",
        "open('/dev/tty', 'w')",
        "subprocess.run([name])",
        "subprocess.Popen(line, stdout=log)",
        "os.system(line)",
    ],
)
def test_the_rule_finds_what_it_forbids(bad: str) -> None:
    assert list(findings(ast.parse(bad)))


@pytest.mark.parametrize(
    "good", ["sys.stdout.isatty()", "sys.stdout.encoding or ''", "subprocess.run(x, capture_output=True)"]
)
def test_the_rule_leaves_questions_alone(good: str) -> None:
    assert not list(findings(ast.parse(good)))


def test_verbs_write_by_the_methods_that_clean() -> None:
    """No verb has an `Output` of its own kind, or reaches for what is below it."""
    for name, path in MODULES.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module == DOOR:
                assert not [imported.name for imported in node.names if imported.name.startswith("_")], name
            if isinstance(node, ast.ClassDef):
                assert "Output" not in [ast.unparse(base) for base in node.bases], name
