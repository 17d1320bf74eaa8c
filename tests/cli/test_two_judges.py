"""Two judges of one run: both grade, the first decides, and how far they agree is said."""


def test_two_judges_grade_the_same_answers_and_one_decides(console, tmp_path):
    play = ("run", "-m", "sim/careful", "-s", "aidan-starter", "-n", "2", "--option", "max_turns=3", "--yes", "--quiet")
    runs = ("--runs", str(tmp_path / "runs"))
    assert console(*play, "--judge", "sim/judge", "--judge", "sim/careful", "--name", "two", *runs).code == 0
    assert "sim/judge and sim/careful: agree in " in console("show", "two", *runs).out
    judging = console("export", "two", "--format", "json", *runs).data["judging"]
    assert (judging["judge"], judging["second_judge"]) == ("sim/judge", "sim/careful")
    assert judging["agreement"]["pairs"] == 6
    third = console(*play, *["--judge", "sim/judge"] * 3, *runs)
    assert (third.code, "at most two judges" in third.err) == (2, True)
