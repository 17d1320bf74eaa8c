"""Linux kernel features that confine the calling process, by ctypes alone; imported inside the worker only."""
