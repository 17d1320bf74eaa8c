"""Result files of cave-bench, written and read."""
