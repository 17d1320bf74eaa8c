"""AidanBench: a question is repeated until an answer is incoherent or too similar to an earlier one."""
