"""Output of a suite's code that is kept: so much of it, and a sentence that there was more."""

from console.core.captured_output import CapturedOutput


def test_a_print_loop_keeps_a_bounded_beginning() -> None:
    captured = CapturedOutput()
    for _ in range(100):
        captured.add("x" * 9_999)
    captured.add("y" * 10_000_000)
    assert captured.text.count("x") <= 100_000
    assert "y" not in captured.text
    assert captured.text.endswith("more was printed and not kept")
    once = CapturedOutput()
    once.add("z" * 10_000_000)
    assert once.text.count("z") == captured.text.count("x")
