"""Print texts drawn at random for a person to judge: `python -m rules.draw docstrings|messages|docs [N]` in tests/.

The commit hash is the seed, so a draw can be repeated.
"""

import ast
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEAKERS = {"UsageError", "Fault", "SuiteError", "WorkerLost", "BudgetReached", "notify", "info", "warn", "mistake"}
SPOKEN_ARGUMENTS = {"help", "hint", "description", "message", "epilog"}


def text_of(node: ast.AST) -> str:
    """Return a string literal, with the fields of an f-string as written; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (text_of(part) or f"{{{ast.unparse(getattr(part, 'value', part))}}}" for part in node.values)
        return "".join(parts)
    return ""


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield all docstrings, those of attributes included."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and (text := text_of(statement.value)):
                yield statement.lineno, text


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield what users are told: texts of exceptions and notifications, hints, and help of the command line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            spoken = [*node.args] if name in SPEAKERS else []
            spoken += [keyword.value for keyword in node.keywords if keyword.arg in SPOKEN_ARGUMENTS]
            yield from ((part.lineno, text) for part in spoken if " " in (text := text_of(part)))


def sentences() -> Iterator[tuple[Path, int, str]]:
    """Yield the sentences of the documentation, without code and tables."""
    for path in (*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))):
        page = re.sub(r"^(```.*?^```|    .*?|\|.*?|#.*?)$", "", path.read_text("utf-8"), flags=re.M | re.S)
        for sentence in re.split(r"(?<=[.!?])\s+|\n\n+", page):
            if len(sentence.split()) > 3:
                yield path, 0, sentence


def candidates(kind: str) -> Iterator[tuple[Path, int, str]]:
    if kind == "docs":
        yield from sentences()
        return
    find = {"docstrings": docstrings, "messages": messages}[kind]
    for path in sorted((ROOT / "console").rglob("*.py")):
        yield from ((path, line, text) for line, text in find(ast.parse(path.read_text("utf-8"))))


def main(kind: str, number: str = "100") -> None:
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    found = list(candidates(kind))
    print(f"{number} of {len(found)} {kind} at {commit[:12]}")
    for path, line, text in random.Random(commit).sample(found, min(int(number), len(found))):
        print(f"\n{path.relative_to(ROOT)}{f':{line}' if line else ''}\n  {' '.join(text.split())}")


if __name__ == "__main__":
    main(*sys.argv[1:])
