"""Failures in the shell: one row a case, however often it was played."""


def test_a_case_that_was_played_several_times_has_one_row_in_each_group(console):
    command = ("run", "-m", "sim/hasty", "-s", "dialogue-starter", "-n", 6, "-r", 4, "--json", "--quiet")
    run = console(*command).data["run"]
    by_reason, by_repeats = console("failures", run).out, console("failures", run, "--by", "repeats").out
    assert " of 4  " in by_reason
    assert " r2  " not in by_reason + by_repeats
    assert any(marks in by_repeats for marks in ("PF", "FP", "FFFF"))
    assert " r2  " in console("failures", run, "--diff").out  # each answer has its own difference


def test_cases_are_grouped_by_the_functions_that_any_answer_called(console):
    command = ("run", "-m", "sim/hasty", "-s", "bfcl-starter/memory_kv", "--json", "--quiet")
    run = console(*command).data["run"]
    assert "archival_memory" in console("failures", run, "--by", "function").out
