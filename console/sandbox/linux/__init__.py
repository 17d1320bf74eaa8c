"""Linux kernel features that confine the calling process, through ctypes; imported inside the worker only."""
