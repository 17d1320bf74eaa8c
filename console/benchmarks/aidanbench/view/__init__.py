"""AidanBench's views."""
