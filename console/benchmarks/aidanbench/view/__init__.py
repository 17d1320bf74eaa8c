"""What only AidanBench shows."""
