"""Reading and writing of cave-bench's result files."""
