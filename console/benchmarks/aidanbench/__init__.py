"""AidanBench: one question asked again and again until an answer is incoherent or too much like an earlier one."""
