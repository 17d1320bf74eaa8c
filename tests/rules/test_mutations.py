"""A mutation that fits nowhere any more would be found only by an hour of `make soak`."""

import importlib.util

import pytest
from rules.package import ROOT

_SPEC = importlib.util.spec_from_file_location("mutations", ROOT / "perf" / "mutations.py")
assert _SPEC is not None
assert _SPEC.loader is not None
MUTATIONS = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(MUTATIONS)


@pytest.mark.parametrize("mutation", MUTATIONS.MUTATIONS, ids=lambda it: it.name)
def test_a_mutation_has_one_place_and_tests(mutation) -> None:
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutation.tests.split())
