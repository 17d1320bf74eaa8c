"""Every suite of docs/cookbook.md passes right answers, fails wrong ones, and goes on after a kill at any effect."""

import re
from pathlib import Path

import pytest
from docs.test_extending import LIMIT_S, ROOT, blocks, run_blocks, shell

from console.authoring import open_folder_suite
from console.core.outcome import Outcome
from console.suites.suite import Suite
from console.testing import check_suite
from console.testing.case_play import play_case, usual_setting

__all__ = ["shell"]
PAGE = ROOT / "docs" / "cookbook.md"
TEXT = PAGE.read_text(encoding="utf-8")
NAMES = list(dict.fromkeys(re.findall(r"^```\w+ data/([\w-]+)/", TEXT, re.MULTILINE)))


def opened(folder: Path, name: str) -> Suite:
    """Write the files of a suite and open it."""
    for block in blocks(TEXT):
        if block.path.startswith(f"data/{name}/"):
            path = folder / block.path.removeprefix("data/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    return open_folder_suite(folder / name)


@pytest.mark.parametrize("name", NAMES)
async def test_a_suite_of_the_page_tells_right_from_wrong(tmp_path: Path, name: str) -> None:
    suite = opened(tmp_path, name)
    setting = usual_setting(suite)
    for case in suite.cases((), setting):
        right, wrong = [await play_case(suite, case, setting, right=is_right) for is_right in (True, False)]
        assert right.verdict.outcome is Outcome.PASSED, (case.id, right.verdict)
        assert wrong.verdict.outcome is Outcome.FAILED, (case.id, wrong.verdict)
        assert suite.compare(case, wrong.output, wrong.verdict, setting).pairs


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_of_the_page_goes_on_after_a_kill(tmp_path: Path, name: str) -> None:
    check_suite(opened(tmp_path, name), cases=1)


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S)
def test_every_block_of_the_page_works(shell, tmp_path: Path) -> None:
    run_blocks(shell, tmp_path, PAGE)
