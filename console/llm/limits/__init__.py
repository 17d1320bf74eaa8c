"""Rate limits and concurrency, shared by the processes that ask one endpoint."""
